/** A moment: a date, its ISO text, or milliseconds since 1970. A text without an offset is a time of day. */
export type Moment = string | Date | number;

/** The times of a schedule: either again and again by a cron expression, or once. */
export type ScheduleTimes = RepeatedTimes | OneTime;

interface TimesOptions {
  /**
   * The time zone by which the times are read, such as `Europe/Berlin`. By default UTC, which is the same on each host that
   * shares the journal.
   */
  readonly timeZone?: string;
  /**
   * The fate of runs that no host could begin within 60 s, because none ran, say. With `once` there is one run for all of them;
   * by default (`skip`) there is none.
   */
  readonly misfire?: 'skip' | 'once';
}

/** Times by a cron expression. */
export interface RepeatedTimes extends TimesOptions {
  /** Five fields (minute, hour, day, month, weekday), or six with seconds before them. */
  readonly cron: string;
  readonly at?: never;
}

/** One time. */
export interface OneTime extends TimesOptions {
  /** A text without an offset is a time of day in `timeZone`. */
  readonly at: Moment;
  readonly cron?: never;
}

/** One run of a schedule. */
export interface ScheduledRun {
  /** The same for each attempt of this run: use it as a `key` of `api.send`. */
  readonly id: string;
  /** The time that it was due, in milliseconds since 1970. Of runs that were missed it is the first. */
  readonly dueAt: number;
  /** 1, and more if hosts ended while the run was under way. */
  readonly attempt: number;
  /** Aborts when the host may not wait any longer, and when the extension is unloaded. */
  readonly signal: AbortSignal;
}

/** Does the work of a schedule. If it throws, or its promise rejects, the run goes to the dead letters. */
export type ScheduleHandler = (run: ScheduledRun) => unknown;

/** A schedule as its host takes it. */
export interface RegisteredSchedule {
  /** Absent if its times are added while the host runs. */
  readonly times?: {
    /** The next due time after a moment, both in milliseconds since 1970; nothing if there is none. */
    readonly nextDue: (afterMs: number) => number | undefined;
    readonly misfire: 'skip' | 'once';
    /** The times as text: with others a schedule begins anew. */
    readonly spec: string;
  };
  readonly handler: ScheduleHandler;
}
