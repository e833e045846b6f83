import type { Clock } from 'sluice';
import { cursorOf, followJournal, type JournalReader, type TimelineEntry } from 'sluice/host';
import { allKinds } from './search.js';

/** One minute of a host. */
export interface Minute {
  readonly atMs: number;
  /** Messages that have ended. */
  ended: number;
  /** Messages that failed or went to the dead letters, and stages that failed. */
  failed: number;
  /** Stages that a veto ended. */
  cancelled: number;
  /** Milliseconds from the receipt of those messages to their end. */
  totalMs: number;
}

const minuteMs = 60_000;
const minutes = 60;
/** Messages that are under way, whose beginning is kept. */
const openAtMost = 10_000;
/** Records of the last hour that are read at most, the newest. */
const readAtMost = 50_000;

/** The last hour of a host, as its entries tell of it: a figure for each minute. */
export class Figures {
  readonly #minutes = new Map<number, Minute>();
  readonly #began = new Map<string, number>();

  /** Takes the next entry. */
  add(entry: TimelineEntry): void {
    if (entry.kind === 'dispatch') {
      const { status } = entry.outcome;
      if (status === 'cancelled') this.#at(entry.atMs).cancelled++;
      if (status === 'failed') this.#at(entry.atMs).failed++;
    }
    if (entry.kind !== 'update') return;
    const { state, correlationId, atMs, outcome } = entry;
    if (state === 'accepted') {
      if (this.#began.size >= openAtMost) this.#began.clear();
      this.#began.set(correlationId, atMs);
    } else if (state === 'ended' || state === 'dead') {
      const minute = this.#at(atMs);
      minute.ended++;
      if (state === 'dead' || outcome === 'failed') minute.failed++;
      minute.totalMs += atMs - (this.#began.get(correlationId) ?? atMs);
      this.#began.delete(correlationId);
    }
  }

  /** The last 60 minutes, the oldest first. */
  last(nowMs: number): readonly Minute[] {
    const newest = Math.floor(nowMs / minuteMs);
    return Array.from({ length: minutes }, (_, at) => {
      const minute = newest - minutes + 1 + at;
      return this.#minutes.get(minute) ?? emptyMinute(minute);
    });
  }

  #at(ms: number): Minute {
    const at = Math.floor(ms / minuteMs);
    const minute = this.#minutes.get(at) ?? emptyMinute(at);
    if (!this.#minutes.has(at)) this.#minutes.set(at, minute);
    for (const old of this.#minutes.keys()) if (old <= at - minutes) this.#minutes.delete(old); // nobody may look for weeks
    return minute;
  }
}

function emptyMinute(minute: number): Minute {
  return { atMs: minute * minuteMs, ended: 0, failed: 0, cancelled: 0, totalMs: 0 };
}

/** Reads the last hour of a journal, and goes on until the signal aborts. */
export async function followFigures(
  figures: Figures,
  reader: Pick<JournalReader, 'dispatches'>,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  const sinceMs = clock.now() - minutes * minuteMs;
  const [first] = await reader.dispatches({
    ...{ kinds: allKinds, sinceMs, withinLast: readAtMost, limit: 1 },
  });
  const from = first === undefined ? 'now' : cursorOf({ seq: Math.max(0, first.seq - 1) });
  for await (const entry of followJournal(reader, { from, signal, clock, pollMs: 1_000 }))
    figures.add(entry);
}
