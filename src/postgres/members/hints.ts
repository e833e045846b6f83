import { type Clock, pause, Timer } from 'sluice-kernel/internal';
import type { PostgresConnections } from '../rows/connections.js';
import { partitionOfRow } from '../rows/postgres-tables.js';

/** Milliseconds between two looks for updates that other hosts have taken in. */
const lookMs = 500;

/** Milliseconds after what a hint led to in which the hints that follow are collected. */
const calmMs = 10;

const channel = 'sluice_hints';

/** Work for the host of a partition, or for any host, or a change of the hosts and their partitions. */
type Hint = number | 'all' | 'hosts';

/** Gives a hint of the hosts with a statement. */
export const hintOfHosts = `pg_notify('${channel}', 'hosts')`;

/** A host that hears hints. */
interface Hinted {
  /** The partitions of which it wants to hear. */
  partitions(): readonly number[];
  /** There is work of its partitions. */
  wake(): void;
  /** Goes a step towards its fair share. */
  renew(): Promise<void>;
}

/**
 * Finds the work that other hosts have taken in for the partitions of this one. The truth is a look each 500 ms. A hint (`NOTIFY`) has a
 * host look at once: hints that are lost, late, doubled or many change the time alone.
 */
export class Hints implements Disposable {
  readonly #connections: PostgresConnections;
  readonly #clock: Clock;
  readonly #hinted: Hinted;
  readonly #timer: Timer;
  readonly #over = new AbortController();
  readonly #untold = new Set<Hint>();
  /** All transactions before it had ended at the last look. */
  #seenXid = '0';
  #isOn = false;

  constructor(connections: PostgresConnections, clock: Clock, hinted: Hinted) {
    this.#connections = connections;
    this.#clock = clock;
    this.#hinted = hinted;
    this.#timer = new Timer(clock);
  }

  /** @param isOn gives hints and hears them, besides looking by itself. */
  begin(isOn: boolean): void {
    this.#isOn = isOn;
    this.#lookLater();
    if (isOn) this.#connections.listen?.(channel, (hints) => this.#heard(hints));
    this.give('hosts');
  }

  [Symbol.dispose](): void {
    this.#over.abort();
    this.#timer.clear();
  }

  /** It goes beside the transactions: in one, it would keep those of other hosts waiting for its commit. */
  give(hint: Hint): void {
    if (!this.#isOn || this.#over.signal.aborted) return;
    this.#untold.add(hint);
    this.#report();
  }

  readonly #report = oneAtATime(async () => {
    const hints = [...this.#untold].join();
    this.#untold.clear();
    await this.#connections.query('SELECT pg_notify($1, $2)', [channel, hints]);
  });

  /** @param hints nothing if some may have been lost before. */
  #heard(hints?: string): void {
    if (this.#over.signal.aborted) return;
    if (hints === undefined) this.#look();
    const told = new Set(hints?.split(',') ?? ['hosts']);
    if (told.has('hosts')) this.renewSoon();
    if (told.has('all') || this.#hinted.partitions().some((partition) => told.has(`${partition}`)))
      this.#wake();
  }

  readonly #wake = oneAtATime(async () => {
    this.#hinted.wake();
    await this.#calm();
  });

  /** Goes a step towards the fair share, without waiting for the next renewal. */
  readonly renewSoon = oneAtATime(async () => {
    await this.#hinted.renew();
    await this.#calm();
  });

  #calm(): Promise<boolean> {
    return pause(this.#clock, calmMs, this.#over.signal);
  }

  #lookLater(): void {
    this.#timer.setIdly(lookMs, () => {
      this.#look();
      this.#lookLater();
    });
  }

  /** An update whose transaction ended late is seen by a later look. */
  readonly #look = oneAtATime(async () => {
    const [seen] = await this.#connections.query(
      `SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS xmin, EXISTS (SELECT 1 FROM sluice_updates
        WHERE state = 'accepted' AND xid >= $1::xid8 AND ${partitionOfRow} = ANY($2)) AS is_there`,
      [this.#seenXid, this.#hinted.partitions()],
    );
    this.#seenXid = String(seen?.['xmin']);
    if (seen?.['is_there'] === true) this.#hinted.wake();
  });
}

/** Work that runs once at a time: the calls meanwhile lead to one more run. What it fails with is left to the next one. */
function oneAtATime(work: () => Promise<void>): () => void {
  let isWanted = false;
  let isRunning = false;
  const run = async (): Promise<void> => {
    isRunning = true;
    while (isWanted) {
      isWanted = false;
      await work().catch(() => undefined);
    }
    isRunning = false;
  };
  return () => {
    isWanted = true;
    if (!isRunning) void run();
  };
}
