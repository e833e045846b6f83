import type { Store } from '@sluice/journal';
import { isPrompt, type TranscriptEntry, type TranscriptSize } from '@sluice/sdk/stream';
import { kernelError } from 'sluice-kernel/internal';

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

/** @throws SluiceError `bad-option` where a bound is no count. */
export function checkHistoryBounds(bounds: HistoryBounds): void {
  for (const key of ['maxMessages', 'maxTokens'] as const) {
    const bound = bounds[key] ?? 0;
    if (bound >= 0) continue; // NaN is not
    const problem = `${bound} is no count: write one from 0 up`;
    throw kernelError('bad-option', { option: `session.history.${key}`, problem });
  }
}
