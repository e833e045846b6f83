import { kernelError } from '../../kernel/index.js';
import { isPrompt, type TranscriptEntry, type TranscriptSize } from '../../stream/index.js';
import type { Store } from './store.js';

/** How much of its session's transcript an agent gets. */
export interface HistoryBounds {
  /** Messages, at most; by default 200. */
  readonly maxMessages?: number;
  /** Tokens, at most, by estimate: one for each four characters of a message's JSON; by default 100 000. */
  readonly maxTokens?: number;
}

/** The part of a transcript that an agent gets. */
export interface History {
  /** Oldest first. */
  readonly history: readonly TranscriptEntry[];
  /** How much of the transcript is before it; absent where nothing is. */
  readonly beforeHistory?: TranscriptSize;
}

/** Messages that are read at once. */
const page = 32;

const charactersPerToken = 4;

/** The sizes of messages that a store in memory gives again and again. It marks objects that others own. */
const sizes = new WeakMap<TranscriptEntry, number>();

function tokensOf(entry: TranscriptEntry): number {
  let tokens = sizes.get(entry);
  if (tokens === undefined) {
    tokens = Math.ceil(JSON.stringify(entry).length / charactersPerToken);
    sizes.set(entry, tokens);
  }
  return tokens;
}

/**
 * Reads the end of a transcript, within the bounds (spec §15.4, §15.5): what it costs depends on these, and not on how
 * long the transcript is.
 *
 * @throws what the store says.
 * @example
 * await readHistory(store, sessionId, { maxMessages: 50 }); // { history: [...], beforeHistory: { messages: 412, prompts: 103 } }
 */
export async function readHistory(
  store: Pick<Store, 'readTranscript' | 'transcriptSize'>,
  sessionId: string,
  { maxMessages = 200, maxTokens = 100_000 }: HistoryBounds = {},
): Promise<History> {
  const newestFirst: TranscriptEntry[] = [];
  let tokens = 0;
  const takes = (entry: TranscriptEntry): boolean => {
    tokens += tokensOf(entry);
    if (tokens > maxTokens) return false;
    newestFirst.push(entry);
    return true;
  };
  for (let isMore = true; isMore; ) {
    const last = Math.min(page, maxMessages - newestFirst.length);
    if (last <= 0) break;
    const some = await store.readTranscript(sessionId, { last, skip: newestFirst.length });
    isMore = some.toReversed().every(takes);
    if (isMore && some.length < last) return { history: newestFirst.reverse() }; // all of it
  }
  const size = await store.transcriptSize(sessionId);
  const within = newestFirst.reverse();
  if (size.messages === within.length) return { history: within };
  const history = within.slice(startOf(within));
  const prompts = size.prompts - history.filter(isPrompt).length;
  return { history, beforeHistory: { messages: size.messages - history.length, prompts } };
}

/** The part that an agent gets of a transcript whose last turn was asked the same message, and was cut off. */
export interface BegunHistory extends History {
  /** The messages that that turn has added, oldest first: with its prompt, and as much of its end as there is room for. */
  readonly begun: readonly TranscriptEntry[];
}

/**
 * Parts a history from what a turn that was cut off has added to the transcript (spec §15.9).
 *
 * @param at the size of the transcript before that turn.
 * @throws what the store says.
 */
export async function partHistory(
  store: Pick<Store, 'readTranscript'>,
  sessionId: string,
  { history: read, beforeHistory: unread = { messages: 0, prompts: 0 } }: History,
  at: TranscriptSize,
): Promise<BegunHistory> {
  const history = read.slice(0, Math.max(0, at.messages - unread.messages));
  const added = read.slice(history.length);
  const missing = unread.messages - at.messages;
  // its prompt is the first that it has added: it is to be known, so that it is not written again
  const first =
    missing > 0
      ? await store.readTranscript(sessionId, { last: 1, skip: added.length + missing - 1 })
      : [];
  const messages = at.messages - history.length;
  const prompts = at.prompts - history.filter(isPrompt).length;
  return {
    history,
    begun: [...first, ...added],
    ...(messages > 0 && { beforeHistory: { messages, prompts } }),
  };
}

/** The beginning of a history that was cut off: with a turn, and else with something that answers no call before it. */
function startOf(within: readonly TranscriptEntry[]): number {
  const prompt = within.findIndex(isPrompt);
  if (prompt >= 0) return prompt;
  const start = within.findIndex(({ role }) => role !== 'toolResult');
  return start < 0 ? within.length : start;
}

/** @throws SluiceError `bad-option` where a bound is no count. */
export function checkHistoryBounds(bounds: HistoryBounds): void {
  for (const key of ['maxMessages', 'maxTokens'] as const) {
    const bound = bounds[key] ?? 0;
    if (bound >= 0) continue; // NaN is not
    const problem = `${bound} is no count: write one from 0 up`;
    throw kernelError('bad-option', { option: `session.history.${key}`, problem });
  }
}
