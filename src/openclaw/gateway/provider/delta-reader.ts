import { type StreamDelta, unreachedError } from '@sluice/sdk/stream';
import { Backlog } from '@sluice/sdk/stream/internal';
import type { Clock } from 'sluice-kernel';
import type { RunEndFact, RunFact } from '../run/run-fact.js';
import { saidText } from '../run/said-text.js';

/** The longest text of a delta, in UTF-16 code units; of a longer one the end is kept. */
const maxTextLength = 256 * 1024;

/**
 * Makes the deltas of one run: thinking, then content, then one final or error (stream §4.4).
 *
 * @param messages `all`: the messages of the run one after the other, not the last alone.
 */
export function deltaReader(
  clock: Clock,
  messages: 'last' | 'all',
  push: (delta: StreamDelta) => void,
) {
  const said = saidText(messages, (text) => textTail(text, maxTextLength));
  let thinking = '';
  let lastContent = '';
  let thinkingSinceMs: number | undefined;
  let thinkingDurationMs: number | undefined;

  function end(end: RunEndFact): void {
    if (end.how === 'done') {
      const whole = lastContent === '' ? (end.text ?? '') : lastContent;
      const content = textTail(whole, maxTextLength);
      push({ phase: 'final', content, ...thought() });
    } else if (end.how === 'aborted') push({ phase: 'error', error: 'the run was stopped' });
    else
      push(end.reachedAgent ? { phase: 'error', error: end.message } : unreachedError(end.message));
  }

  /** How long it took is known from the first content on, and does not change then. */
  function thought() {
    if (thinkingSinceMs === undefined) return {};
    thinkingDurationMs ??= elapsedMs(thinkingSinceMs);
    return { thinking, thinkingDurationMs };
  }
  const elapsedMs = (sinceMs: number): number => clock.monotonicMs() - sinceMs;

  return {
    take(fact: RunFact): void {
      if (fact.kind === 'thinking') {
        thinkingSinceMs ??= clock.monotonicMs();
        thinking = textTail(fact.text, maxTextLength);
        const thinkingElapsedMs = elapsedMs(thinkingSinceMs);
        push({ phase: 'thinking', thinking, thinkingElapsedMs });
      } else if (fact.kind === 'text') {
        lastContent = said(fact);
        push({ phase: 'content', content: lastContent, ...thought() });
      } else if (fact.kind === 'end') end(fact);
      // tools and compactions are no deltas: seed 003
    },
  };
}

/**
 * The end of a text that is too long. It is never cut within a character.
 *
 * @param maxLength in UTF-16 code units.
 */
function textTail(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const from = text.length - maxLength;
  const isLowHalf = (text.charCodeAt(from) & 0xfc00) === 0xdc00;
  return text.slice(isLowHalf ? from + 1 : from);
}

/**
 * Deltas that wait for their reader: the newest of each phase, so three at most. A snapshot takes the place of the one
 * before it; a `final` or an `error` is the last, and is never dropped (stream §4.5).
 */
export class DeltaQueue extends Backlog<StreamDelta> {
  /** Adds one. After a `final`, an `error` or `close` it is dropped. */
  push(delta: StreamDelta): void {
    if (this.isClosed) return;
    this.waiting = [...this.waiting.filter(({ phase }) => phase !== delta.phase), delta];
    this.isClosed = delta.phase === 'final' || delta.phase === 'error';
    this.wake();
  }
}
