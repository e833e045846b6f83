import type { Readable } from 'node:stream';
import type { Clock } from 'sluice';
import type { Judge } from './judge.js';

/** The settings of a proxy, and the parts of the process that it uses. */
export interface McpOptions {
  /** The server: a program with its arguments, or an address of streamable HTTP with the headers that it wants. */
  readonly server:
    | { readonly command: readonly string[] }
    | { readonly url: string; readonly headers?: Readonly<Record<string, string>> };
  /** The port on loopback that clients connect to, 0 for one that is free; stdin and stdout if absent. */
  readonly port?: number;
  /** The token that clients over HTTP give; a new one if absent. */
  readonly token?: string;
  /** The server's name in `mcp__NAME__TOOL`; the one that it gives itself if absent. */
  readonly name?: string;
  /** The tools that are not listed and cannot be called; `*` stands for any text. */
  readonly hide?: readonly string[];
  /** Lets calls and results pass if no guard runs. */
  readonly isOpen?: boolean;
  /** Bytes that a message may have; 16 MiB if absent. */
  readonly maxBytes?: number;
  /** Requests of one end that may be open; 1,000 if absent. */
  readonly maxOpen?: number;
  /** Milliseconds that a request may be open; an hour if absent. */
  readonly requestMs?: number;
  readonly judge: Judge;
  readonly stdin: Readable;
  /** Writes to stdout. Resolves when the text has been handed on. */
  readonly write: (text: string) => Promise<void>;
  /** Tells a person, in a line. */
  readonly warn: (line: string) => void;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly stop: AbortSignal;
}

/** Bytes that a message may have if the settings do not say. */
export const usualBytes = 16 * 1024 * 1024;
