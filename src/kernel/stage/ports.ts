/** A running timer. `ref` and `unref` say whether it keeps the process alive, where a platform can. */
export interface TimerHandle {
  ref?(): unknown;
  unref?(): unknown;
}

/**
 * The time, as the kernel reads it. Inject one to control it; `sluice/testing` has a virtual one.
 *
 * @example
 * createKernel({ clock: { now: () => 0, monotonicMs: () => 0, setTimeout, clearTimeout } });
 */
export interface Clock {
  /** Milliseconds since 1970, for `occurredAt`. May jump. */
  now(): number;
  /** Milliseconds since some start, for budgets. Never goes back. */
  monotonicMs(): number;
  setTimeout(callback: () => void, delayMs: number): TimerHandle;
  clearTimeout(handle: TimerHandle): void;
  /**
   * Calls back once when the present turn of the event loop has ended, before a timer fires. With it the kernel reads the
   * monotonic clock once for all the waits that begin in a turn; without it, for each wait.
   */
  afterTurn?(callback: () => void): void;
}

/**
 * Makes an event id's text from what was taken when dispatch was called. Must be unique for a sequence, and
 * sort by code unit as (stampMs, sequence) does.
 */
export type IdSource = (stampMs: number, sequence: number) => string;

/**
 * The log in which the kernel and extensions write what people should see. A message says what happened in the words of whoever
 * logs it. What somebody else threw or wrote goes into the fields `error` or `detail`: it may quote a message or a
 * secret, and loggers show it at level `debug` only.
 */
export interface Logger {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** The longest that a timer of the platform can be set for: some 24.8 days. Longer ones fire at once. */
export const longestTimerMs = 2 ** 31 - 1;

/**
 * The clock of the platform. What is longer than its timers can be is cut to that.
 *
 * @example
 * const startedAtMs = systemClock.now();
 */
export const systemClock: Clock = {
  now: Date.now,
  monotonicMs: () => performance.now(),
  setTimeout: (callback, delayMs) => setTimeout(callback, Math.min(delayMs, longestTimerMs)),
  clearTimeout: (handle) => {
    clearTimeout(handle as ReturnType<typeof setTimeout>); // it came from setTimeout above
  },
  // of Node, Bun and Deno; elsewhere the clock is read once more for each wait
  ...(typeof setImmediate === 'function' && {
    afterTurn: (callback: () => void) => {
      setImmediate(callback);
    },
  }),
};

/**
 * Makes a logger of one function that takes the entries of every level.
 *
 * @example
 * const logger = loggerWith((level, message) => console.error(level, message));
 */
export function loggerWith(
  write: (
    level: keyof Logger,
    message: string,
    fields: Readonly<Record<string, unknown>> | undefined,
  ) => void,
): Logger {
  return {
    debug: (message, fields) => write('debug', message, fields),
    info: (message, fields) => write('info', message, fields),
    warn: (message, fields) => write('warn', message, fields),
    error: (message, fields) => write('error', message, fields),
  };
}

/**
 * A logger that writes nothing.
 *
 * @example
 * const kernel = createKernel({ logger: silentLogger });
 */
export const silentLogger: Logger = loggerWith(() => undefined);

/**
 * Ids that sort by time, then by order of dispatch, and differ between processes by a random suffix. The text of the time and
 * of the high digits is kept from one id to the next: both change seldom.
 *
 * @example
 * sortableIds()(Date.now(), 1); // '0mf3k1q2a-0000001-x8w3kz'
 */
export function sortableIds(random: () => number = Math.random): IdSource {
  const suffix = Math.floor(random() * 36 ** 6)
    .toString(36)
    .padStart(6, '0');
  const tail = `-${suffix}`;
  let stamp = Number.NaN;
  let high = Number.NaN;
  let head = '';
  return (stampMs, sequence) => {
    const low = sequence % lowCount;
    const above = (sequence - low) / lowCount;
    if (stampMs !== stamp || above !== high) {
      stamp = stampMs;
      high = above;
      head = `${base36(Math.max(0, Math.trunc(stampMs)), 9)}-${base36(above, 5)}`;
    }
    return head + digits.charAt(low / 36) + digits.charAt(low % 36) + tail;
  };
}

/** How many sequence numbers share the digits above the last two. */
const lowCount = 36 ** 2;

const digits = '0123456789abcdefghijklmnopqrstuvwxyz';

function base36(value: number, length: number): string {
  return value.toString(36).padStart(length, '0');
}

/** Makes a logger that cannot fail, and so cannot take a dispatch down: an error of the logger behind it is lost. */
export function unfailing(logger: Logger): Logger {
  return loggerWith((level, message, fields) => {
    try {
      logger[level](message, fields);
    } catch {
      // nobody is left to tell
    }
  });
}
