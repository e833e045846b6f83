import type { Clock } from 'sluice';
import { cursorOf, followJournal, type JournalReader, type TimelineEntry } from 'sluice/host';
import { allKinds, lastSeq } from './search.js';

/** The messages that ended in one minute, of one agent and one channel. */
export interface Figure {
  /** Minutes before now: 0 to 59. */
  readonly ago: number;
  readonly agentId: string;
  readonly channel: string;
  readonly ended: number;
  /** Those that failed or went to the dead letters, and those that a rule stopped. */
  readonly failed: number;
  readonly cancelled: number;
  /** Those that were answered, and milliseconds from their arrival to their end in all. */
  readonly answered: number;
  readonly answerMs: number;
}

type Counts = { -readonly [K in keyof Omit<Figure, 'ago'>]: Figure[K] };

const minuteMs = 60_000;
const minutes = 60;
/** Messages that are under way, whose beginning is kept. */
const openAtMost = 10_000;
/** Records of the last hour that are read at most, the newest. */
const readAtMost = 50_000;

/** The last hour of a host, as its entries tell of it. */
export class Figures {
  /** By minute, and in it by agent and channel. */
  readonly #minutes = new Map<number, Map<string, Counts>>();
  readonly #began = new Map<string, Pick<TimelineEntry, 'atMs'> & { readonly channel: string }>();

  /** Takes the next entry. */
  add(entry: TimelineEntry): void {
    if (entry.kind !== 'update') return;
    const { state, correlationId, atMs, outcome, channel = 'unknown', agentId = 'none' } = entry;
    if (state === 'accepted') {
      if (this.#began.size >= openAtMost) this.#began.clear();
      this.#began.set(correlationId, { atMs, channel });
    } else if (state === 'ended' || state === 'dead') {
      const began = this.#began.get(correlationId) ?? { atMs, channel };
      this.#began.delete(correlationId);
      const counts = this.#at(atMs, agentId, began.channel);
      counts.ended++;
      if (state === 'dead' || outcome === 'failed') counts.failed++;
      else if (outcome === 'cancelled') counts.cancelled++;
      else if (outcome === 'answered') {
        counts.answered++;
        counts.answerMs += atMs - began.atMs;
      }
    }
  }

  /** The figures of the last 60 minutes. */
  last(nowMs: number): readonly Figure[] {
    const now = Math.floor(nowMs / minuteMs);
    return [...this.#minutes].flatMap(([minute, figures]) =>
      minute <= now - minutes
        ? []
        : [...figures.values()].map((one) => ({ ...one, ago: now - minute })),
    );
  }

  #at(ms: number, agentId: string, channel: string): Counts {
    const at = Math.floor(ms / minuteMs);
    for (const old of this.#minutes.keys()) if (old <= at - minutes) this.#minutes.delete(old); // nobody may look for weeks
    const minute = this.#minutes.get(at) ?? new Map<string, Counts>();
    this.#minutes.set(at, minute);
    const key = JSON.stringify([agentId, channel]);
    const none = { ended: 0, failed: 0, cancelled: 0, answered: 0, answerMs: 0 };
    const counts = minute.get(key) ?? { agentId, channel, ...none };
    minute.set(key, counts);
    return counts;
  }
}

/**
 * Reads the last hour of a journal, and then follows it until the signal aborts.
 *
 * @param onLost hears that the journal could not be followed.
 */
export async function readFigures(
  reader: Pick<JournalReader, 'dispatches'>,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
  onLost: () => void,
): Promise<Figures> {
  const figures = new Figures();
  const sinceMs = clock.now() - minutes * minuteMs;
  const [first] = await reader.dispatches({
    ...{ kinds: allKinds, sinceMs, withinLast: readAtMost, limit: 1 },
  });
  let from = cursorOf({ seq: Math.max(0, (first?.seq ?? (await lastSeq(reader)) + 1) - 1) });
  const read = async (follow: boolean): Promise<void> => {
    const options = { from, follow, signal, clock, pollMs: 1_000 };
    for await (const entry of followJournal(reader, options)) {
      figures.add(entry);
      from = cursorOf(entry);
    }
  };
  await read(false);
  void read(true).catch(onLost);
  return figures;
}
