/** Returns whether a name is a time zone that this platform knows, such as `Europe/Lisbon`. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/**
 * Makes a function that reads the time of day in a time zone.
 *
 * @returns for milliseconds since 1970, the time there as `HH:MM`, from `00:00` to `23:59`. Such texts compare as
 *   the times do.
 */
export function clockIn(timeZone: string): (ms: number) => string {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  return (ms) => format.format(ms);
}

/** Returns whether a time of day lies in a span that begins at `from` and ends before `to`, over midnight where it must. */
export function isWithin(time: string, from: string, to: string): boolean {
  return from < to ? time >= from && time < to : time >= from || time < to;
}
