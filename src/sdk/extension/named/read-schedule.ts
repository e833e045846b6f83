import { Cron } from 'croner';
import { didYouMean, oneLine } from 'sluice-kernel/internal';
import type { Moment, RegisteredSchedule, ScheduleTimes } from './schedule.js';

const names = ['cron', 'at', 'timeZone', 'misfire'];
const isoText = /^(?<day>\d{4}-\d\d-\d\d)T\d\d:\d\d(:\d\d(\.\d+)?)?(?<offset>Z|[+-]\d\d:\d\d)?$/;

/** Reads the times of a schedule (extensions-that-act §6.1). @returns the problem, in words, if they are none. */
export function readTimes(times: ScheduleTimes): NonNullable<RegisteredSchedule['times']> | string {
  if (typeof times !== 'object' || times === null) return 'its times must be an object';
  const unknown = Object.keys(times).find((name) => !names.includes(name));
  if (unknown !== undefined) return `there is no option "${unknown}"${didYouMean(unknown, names)}`;
  const { cron, at, timeZone = 'UTC', misfire = 'skip' } = times;
  if (!isTimeZone(timeZone)) return `there is no time zone ${JSON.stringify(timeZone)}`;
  if (misfire !== 'skip' && misfire !== 'once')
    return `its misfire must be "skip" or "once", not ${JSON.stringify(misfire)}`;
  if ((cron === undefined) === (at === undefined)) return 'it needs either "cron" or "at"';
  const given = { misfire, spec: JSON.stringify({ cron, at, timeZone }) };
  if (at !== undefined) {
    const atMs = momentOf(at, timeZone);
    if (atMs === undefined)
      return `its "at" must be a date, or a text such as 2026-03-15T09:00, not ${typeof at === 'number' ? at : JSON.stringify(at)}`;
    const spec =
      typeof at === 'number' ? JSON.stringify({ at: new Date(at), timeZone }) : given.spec;
    return { ...given, spec, nextDue: (afterMs) => (atMs > afterMs ? atMs : undefined) };
  }
  try {
    if (isoText.test(cron ?? '')) return 'its "cron" is a date: write it as "at"';
    const job = new Cron(cron ?? '', { timezone: timeZone, paused: true });
    const nextDue = (afterMs: number) => job.nextRun(new Date(afterMs))?.getTime();
    return nextDue(0) === undefined
      ? `its "cron" (${cron}) never comes due`
      : { ...given, nextDue };
  } catch (error) {
    return `its "cron" cannot be read: ${oneLine(error).replace(/^(\w+: )+|\.$/g, '')}`;
  }
}

/** The moment of an `at`, in milliseconds since 1970; nothing if it is none. */
function momentOf(given: Moment, timeZone: string): number | undefined {
  const at = typeof given === 'number' ? new Date(given) : given;
  if (at instanceof Date) return Number.isNaN(at.getTime()) ? undefined : at.getTime();
  const { day, offset } = isoText.exec(String(at))?.groups ?? {};
  const atMs = offset === undefined ? localMoment(String(at), timeZone) : Date.parse(String(at));
  const isDay = day !== undefined && isoDay(`${day}T00:00Z`) === day; // not the 30th of February
  return isDay && !Number.isNaN(atMs) ? atMs : undefined;
}

function localMoment(text: string, timezone: string): number {
  try {
    return new Cron(text, { timezone, paused: true }).nextRun(new Date(0))?.getTime() ?? Number.NaN;
  } catch {
    return Number.NaN;
  }
}

function isoDay(text: string): string | undefined {
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString().slice(0, 10);
}

function isTimeZone(timeZone: unknown): boolean {
  try {
    return typeof timeZone === 'string' && Boolean(new Intl.DateTimeFormat('en', { timeZone }));
  } catch {
    return false;
  }
}
