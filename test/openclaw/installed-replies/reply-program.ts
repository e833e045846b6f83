import type { BlockReplyChunking } from '../../../src/agent/reply/emit/reply-options.js';
import type { SessionEvent } from '../../../src/sdk/stream/index.js';

/** How a host has set up its callbacks. */
export interface ReplySetting {
  readonly verboseLevel: 'off' | 'on' | 'full';
  readonly reasoningMode: 'off' | 'on' | 'stream';
  readonly blockReplyBreak: 'text_end' | 'message_end';
  readonly blockReplyChunking?: BlockReplyChunking;
  readonly toolResultFormat: 'markdown' | 'plain';
  readonly enforceFinalTag: boolean;
  /** What kind of function `onBlockReplyFlush` is. */
  readonly flush: 'absent' | 'sync' | 'async';
  /** A host that takes only whole answers has none. */
  readonly hasBlockReply: boolean;
  readonly hasReasoningStream: boolean;
  /** A callback that throws whenever it is called. */
  readonly throwing?: string;
}

/** A session's events, how a host listens, and how fast the events come. */
export interface ReplyProgram {
  readonly events: readonly SessionEvent[];
  readonly setting: ReplySetting;
  /** Each event after all that the one before caused, or all in one tick. */
  readonly feed: 'settled' | 'burst';
}

/** One callback, and what it was called with. */
export type TraceEntry = readonly [name: string, payload?: unknown];

/** What a program made visible, and what is known at its end. */
export interface ReplyTrace {
  readonly calls: readonly TraceEntry[];
  /** For each callback of the real one, which text of the run it came of: a message has one, and what comes late another. */
  readonly texts?: readonly number[];
  readonly end: Readonly<Record<string, unknown>>;
}

/** Lets everything that waits for microtasks, and the async flush, come to its end. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** A value as JSON has it: what is undefined is absent, and the order of keys says nothing. */
export function plain(value: unknown): unknown {
  if (value === undefined) return undefined;
  return JSON.parse(JSON.stringify(value, sortKeys)) as unknown;
}

function sortKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
