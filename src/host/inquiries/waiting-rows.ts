import type { KeyValueQuota, KeyValueReader, KeyValues, WriteResult } from '@sluice/sdk/extension';
import { type Clock, definedFields, type Logger, Timer } from 'sluice-kernel/internal';
import type { TimelineRecorder } from '../timeline/timeline-recorder.js';

/** A row that waits for its end: an answer of a person, or its deadline. */
export interface WaitingRow {
  readonly id: string;
  readonly askedAtMs: number;
  readonly dueAtMs: number;
}

/** The services that rows need. */
export interface WaitingRowsParts {
  readonly keyValues: KeyValues;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Hears of questions and their ends; absent beside a host. */
  readonly timeline?: TimelineRecorder;
}

/** How rows are persisted. */
export interface WaitingRowsOptions<R extends WaitingRow> {
  /** The beginning of their namespaces. */
  readonly prefix: string;
  readonly quota: KeyValueQuota;
  /** The namespace of a row behind the prefix. */
  readonly partitionOf: (row: R) => string;
  /** Gives a row its end whose deadline has passed. If it rejects, it is called again. */
  readonly expire: (row: R) => Promise<unknown>;
}

type Given = Pick<Parameters<KeyValues['write']>[3], 'expected' | 'signal'>;

export const retryAfterMs = 1_000;
/** Milliseconds of the longest timer: the time of day may jump meanwhile. */
const longestWaitMs = 86_400_000;

/**
 * Reads the rows under a prefix, in the order in which they were asked.
 *
 * @param limit of each namespace.
 * @param start the beginning of their ids.
 */
export async function readRows<R extends WaitingRow>(
  keyValues: KeyValueReader,
  prefix: string,
  limit: number,
  start = '',
): Promise<R[]> {
  const rows: R[] = [];
  for (const { namespace } of await keyValues.namespaces())
    if (namespace.startsWith(prefix))
      for (const { body } of await keyValues.list(namespace, { prefix: start, limit }))
        rows.push(JSON.parse(body) as R); // a host has written it
  return rows.sort((a, b) => a.askedAtMs - b.askedAtMs);
}

/**
 * Rows of the host that wait for people: each is persisted in the key-values of the journal, and has a deadline. Timers run from `start`
 * to `stop`; what is persisted stays.
 */
export class WaitingRows<R extends WaitingRow> {
  readonly #parts: WaitingRowsParts;
  readonly #options: WaitingRowsOptions<R>;
  readonly #timers = new Map<string, Timer>();
  #isRunning = false;

  constructor(parts: WaitingRowsParts, options: WaitingRowsOptions<R>) {
    this.#parts = parts;
    this.#options = options;
  }

  /** Reads all rows, in the order in which they were asked. @param start the beginning of their ids. */
  load(start?: string): Promise<R[]> {
    const { prefix, quota } = this.#options;
    return readRows<R>(this.#parts.keyValues, prefix, quota.maxKeys, start);
  }

  /**
   * Reads a row as it is now: another process may have written it.
   *
   * @returns the row as the journal has it now, and its version.
   */
  read(row: R) {
    return this.find(this.#options.partitionOf(row), row.id);
  }

  /** As `read`, by the namespace behind the prefix and the id. */
  async find(part: string, id: string) {
    const persisted = await this.#parts.keyValues.get(`${this.#options.prefix}${part}`, id);
    return persisted && { row: JSON.parse(persisted.body) as R, version: persisted.version }; // this class has written it
  }

  /** @param given as of `KeyValues.write`. */
  write(row: R, given?: Given): Promise<WriteResult> {
    return this.#write(row, { body: JSON.stringify(row) }, given);
  }

  /**
   * Changes a row in one step with the look at it: another process may write it, too.
   *
   * @param next makes the new row of the row as it is now; nothing if it is not to be changed.
   * @param signal of the right to change it; absent if anybody may.
   * @returns the new row; nothing if it was not changed, or is not there.
   * @throws as the journal does, and if there is no room for it.
   */
  async change(
    row: R,
    next: (now: R) => R | undefined,
    signal?: AbortSignal,
  ): Promise<R | undefined> {
    for (;;) {
      const persisted = await this.read(row);
      const changed = persisted && next(persisted.row);
      if (persisted === undefined || changed === undefined) return undefined;
      const { status } = await this.write(changed, {
        expected: persisted.version,
        ...definedFields({ signal }),
      });
      if (status === 'written') return changed;
      if (status === 'full') throw new Error('the journal has no room for it');
    }
  }

  /** @param given as of `KeyValues.write`. */
  remove(row: R, given?: Given): Promise<WriteResult> {
    return this.#write(row, undefined, given);
  }

  /** Lets deadlines pass from now on. */
  start(rows: Iterable<R>): void {
    this.#isRunning = true;
    for (const row of rows) this.arm(row);
  }

  /** Waits for nothing more. */
  stop(): void {
    this.#isRunning = false;
    for (const timer of this.#timers.values()) timer.clear();
    this.#timers.clear();
  }

  /** Waits for the deadline of a row. */
  arm(row: R): void {
    const { id, dueAtMs } = row;
    const { clock, logger } = this.#parts;
    const delayMs = Math.max(0, dueAtMs - clock.now());
    this.later(id, Math.min(delayMs, longestWaitMs), async () => {
      if (clock.now() < dueAtMs) return this.arm(row);
      try {
        await this.#options.expire(row);
      } catch (error) {
        logger.error('what waits for an answer could not expire', { error });
        this.later(id, retryAfterMs, () => this.arm(row));
      }
    });
  }

  /** Does something about a row later, in the place of what was to be done before. */
  later(id: string, delayMs: number, work: () => Promise<void> | void): void {
    if (!this.#isRunning) return;
    this.disarm(id);
    const timer = new Timer(this.#parts.clock);
    timer.setIdly(delayMs, () => {
      this.#timers.delete(id);
      void work();
    });
    this.#timers.set(id, timer);
  }

  disarm(id: string): void {
    this.#timers.get(id)?.clear();
    this.#timers.delete(id);
  }

  #write(
    row: R,
    value: { readonly body: string } | undefined,
    given?: Given,
  ): Promise<WriteResult> {
    const { quota } = this.#options;
    return this.#parts.keyValues.write(this.#namespace(row), row.id, value, { ...given, quota });
  }

  #namespace(row: R): string {
    return `${this.#options.prefix}${this.#options.partitionOf(row)}`;
  }
}
