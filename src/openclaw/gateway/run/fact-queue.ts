import { resultText } from '@sluice/agent/internal';
import { Backlog } from '@sluice/sdk/stream/internal';
import type { RunFact, SnapshotFact } from './run-fact.js';

/** Facts that may wait, at most. */
const maxFacts = 1_000;

/** Characters of results that may wait, at most. */
const maxChars = 16 * 1024 * 1024;

/**
 * Facts that wait for their reader. While nobody reads, a text that only grows is held once, and of a call's progress
 * the last; what cannot be merged is bounded, and a reader who lets it pile up is told (stream §6.6).
 */
export class FactQueue extends Backlog<RunFact> {
  /** Too much waits: ends the run, whose end is then pushed. */
  onOverflow: (message: string) => void = () => undefined;
  #chars = 0;

  /** Adds one. After an `end` or `close` it is dropped. */
  push(fact: RunFact): void {
    if (this.isClosed) return;
    if (this.waiting.length === 0) this.#chars = 0;
    this.isClosed = fact.kind === 'end';
    if (!this.#merge(fact)) this.waiting.push(fact);
    this.wake();
    if (fact.kind === 'end' || this.waiting.length < 2) return;
    this.#chars += fact.kind === 'tool' ? resultText(fact.result).length : 0;
    if (this.waiting.length > maxFacts || this.#chars > maxChars) {
      const waiting = this.waiting.length;
      this.waiting = [];
      this.onOverflow(`its reader is too slow: ${waiting} events wait`);
    }
  }

  #merge(fact: RunFact): boolean {
    if (fact.kind === 'tool' && fact.phase === 'update')
      return this.#replace(
        fact,
        (one) =>
          one.kind === 'tool' && one.phase === 'update' && one.toolCallId === fact.toolCallId,
        () => fact,
      );
    if (fact.kind !== 'text' && fact.kind !== 'thinking') return false;
    return this.#replace(
      fact,
      (one): one is SnapshotFact =>
        one.kind === fact.kind && !fact.opens && fact.text.startsWith(one.text),
      (one) => (one.kind === fact.kind ? grown(one, fact) : fact),
    );
  }

  /** Puts a fact in the place of the last that it fits, among those since the last that nothing may pass. */
  #replace(fact: RunFact, fits: (one: RunFact) => boolean, by: (one: RunFact) => RunFact): boolean {
    for (let at = this.waiting.length - 1; at >= 0; at--) {
      const one = this.waiting[at];
      if (one === undefined) return false;
      if (fits(one)) {
        this.waiting[at] = by(one);
        return true;
      }
      if (!mayPass(one, fact)) return false;
    }
    return false;
  }
}

/** A text in place of the one that it grew from. How its message began is kept: another may end with the same text. */
function grown(from: SnapshotFact, fact: SnapshotFact): SnapshotFact {
  return from.opens
    ? { ...fact, opens: true, opening: from.opening ?? from.text }
    : { ...fact, opens: false };
}

/** Snapshots of the other kind, and progress, may be passed: what they say does not depend on what came before. */
function mayPass(one: RunFact, fact: RunFact): boolean {
  if (one.kind === 'tool') return one.phase === 'update';
  return (one.kind === 'text' || one.kind === 'thinking') && one.kind !== fact.kind;
}
