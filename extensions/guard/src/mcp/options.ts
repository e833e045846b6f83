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
  readonly bounds: Readonly<typeof usualBounds>;
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

/** The bounds of a proxy. */
export const usualBounds = {
  /** Bytes of a message. */
  maxBytes: 16 * 1024 * 1024,
  /** Bytes that a client over HTTP may leave unread. */
  maxUnread: 64 * 1024 * 1024,
  /** Requests of one end that are open, and milliseconds that each may be open. */
  maxOpen: 1_000,
  requestMs: 3_600_000,
  /** Sessions over HTTP, and milliseconds that one lives without a connection. */
  maxSessions: 16,
  idleMs: 600_000,
  /** Messages of a server that wait for a stream of its client. */
  maxWaiting: 100,
};
