import type { OneTime, RepeatedTimes, ScheduledRun } from '../named/schedule.js';
import type { Storable } from './store.js';

/** One run of times that were added while the host runs. */
export interface AddedRun<Data = undefined> extends ScheduledRun {
  /** The key under which its times were added. */
  readonly key: string;
  /** The data that `add` was given. */
  readonly data: Data;
}

/** Times that are added while the host runs: again and again by a cron expression, or once. What is missed is done late, once. */
export type AddedTimes<Data = undefined> = (
  | Omit<RepeatedTimes, 'misfire'>
  | Omit<OneTime, 'misfire'>
) & {
  /** Names them among those of their schedule: the same key is added once. A new name if absent. */
  readonly key?: string;
} & (undefined extends Data
    ? { readonly data?: Data }
    : {
        /** Plain JSON that the handler gets with each run. */
        readonly data: Data & Storable<Data>;
      });

/** Times that are kept until they have come, or are cancelled. */
export interface Added<Data = unknown> {
  readonly key: string;
  /** The same for the same key. Of a message it is the id of the `egress.preparing` that it will have. */
  readonly id: string;
  /** The next due time in milliseconds since 1970; absent if the last was taken in before. */
  readonly dueAt?: number;
  /** As `add` was given it; of a message the message. */
  readonly data: Data;
}

/** A schedule whose times are added while the host runs. */
export interface Schedule<Data = undefined> {
  /**
   * Adds times, at any time while the host runs. The handler of the version that is loaded when they come gets each run.
   *
   * @returns when they are kept: with a journal, a crash does not lose them.
   * @throws SluiceError (as a rejection) `bad-time`, `key-conflict`, `schedule-full`, `no-host` or `extension-gone`.
   */
  add(times: AddedTimes<Data>): Promise<Added<Data>>;
  /** Lists what has not come yet, or comes again, by its due time. */
  list(): Promise<readonly Added<Data>[]>;
  /** Cancels the times of a key. @returns whether there were any; a run that was taken in before is not stopped. */
  cancel(key: string): Promise<boolean>;
}
