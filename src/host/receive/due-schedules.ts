import { hasFields, readTimes, WorkItems } from '@sluice/sdk/extension/internal';
import pLimit from 'p-limit';
import { definedFields, type PayloadOf, Timer } from 'sluice-kernel/internal';
import { isJob, laneOfJob, type ScheduleJob } from '../jobs/job.js';
import { reportSchedule } from '../jobs/report-schedule.js';
import { attempt } from '../parts/attempt.js';
import type { ClaimedRegistration } from '../parts/claimed-provisions.js';
import type { HostParts } from '../parts/parts.js';
import { accountOfJobs, sendAccount } from '../provided/jobs-channel.js';
import type { DueEntry, KeptTime, KeptTimes } from './kept-times.js';
import { receiveUpdate } from './receive-update.js';

/** The namespace of the host in which it keeps how far each schedule has come. */
export const schedulesNamespace = '/schedules';
const quota = { maxKeys: 1_000_000, maxBytes: 256 * 1024 * 1024 };

/** Milliseconds that a run may be late. What is later was missed. */
const graceMs = 60_000;
/** Milliseconds of the longest timer: the time of day may jump meanwhile, and the platform takes no longer than 24.8 days. */
const longestWaitMs = 30_000;
/** Milliseconds until the next look if the journal failed. */
const retryMs = 1_000;
/** Milliseconds until the next look if a run is under way. */
const busyMs = 250;
/** A kept time that is further ahead than this was written by a clock that was wrong. */
const wrongClockMs = 86_400_000;
/** Milliseconds for which an entry whose time is not kept is left: another host may be about to keep it. */
const emptyEntryMs = 3_600_000;

/** How far a schedule has come. */
interface Progress {
  /** The times that it is about: with other times it begins anew. */
  readonly spec: string;
  /** All that was due until then is done with. */
  readonly afterMs: number;
}

const isProgress = hasFields<Progress>({ spec: 'string', afterMs: 'number' });

/**
 * Takes in the runs of schedules that are due, as updates of the host (extensions-that-act §6). One run of a schedule is under way
 * at a time; the next is taken in when that has ended.
 */
export function watchSchedules(parts: HostParts, times: KeptTimes): Disposable {
  const { claimed, clock, logger, kernel } = parts;
  /** By the account of a schedule. */
  const known = new Map<string, Progress>();
  const timer = new Timer(clock);
  let isOver = false;
  /** The next look is at this time, or before. */
  let lookAtMs = Number.NEGATIVE_INFINITY;
  let left: LeftTimes = noneLeft;
  const tendOne = (schedule: ClaimedRegistration<'schedule'>) =>
    tend(parts, schedule, known).catch((error: unknown) => {
      const { extensionId, registration } = schedule;
      const about = { extensionId, schedule: registration.name, error };
      logger.error('a schedule could not be looked at; it is tried again', about);
      return retryMs;
    });
  const look = async (reason?: PayloadOf<'schedule.reconciled'>['reason']): Promise<void> => {
    if (isOver) return;
    lookAtMs = Number.POSITIVE_INFINITY; // it may have passed over what is added from now on
    const all = claimed.registered('schedule');
    const schedules = all.filter(({ registration }) => registration.value.times !== undefined);
    const waits = await pLimit(8).map(schedules, tendOne);
    left = await tendKept(parts, times, left).catch((error: unknown) => {
      logger.error('what is kept for later could not be looked at; it is tried again', { error });
      return { ...noneLeft, waitMs: retryMs };
    });
    waits.push(left.after === '' ? left.waitMs : 0);
    const waitMs = waits.reduce((least, wait) => Math.min(least, wait), longestWaitMs);
    if (reason !== undefined && !isOver)
      await attempt(parts, 'schedule.reconciled', () =>
        kernel.dispatch('schedule.reconciled', { reason, schedules: schedules.length }),
      );
    if (isOver) return;
    timer.setIdly(waitMs, () => next());
    lookAtMs = Math.min(lookAtMs, clock.now() + waitMs);
  };
  let last: Promise<void> | undefined;
  /** Looks when the looks before have ended. */
  const next = (reason?: Parameters<typeof look>[0]): void => {
    last = last === undefined ? look(reason) : last.then(() => look(reason));
  };
  claimed.onClaimed = () => next('reload');
  times.onAdded = (dueAtMs) => {
    if (dueAtMs >= lookAtMs) return;
    lookAtMs = Number.NEGATIVE_INFINITY; // one look for all that are added until it begins
    next();
  };
  next('startup');
  return {
    [Symbol.dispose]: () => {
      isOver = true;
      claimed.onClaimed = undefined;
      times.onAdded = undefined;
      timer.clear();
    },
  };
}

/** Takes in a run of a schedule that is due. @returns milliseconds until the next look at it. */
async function tend(
  parts: HostParts,
  schedule: ClaimedRegistration<'schedule'>,
  known: Map<string, Progress>,
): Promise<number> {
  const { clock, backlog, logger } = parts;
  const { extensionId, account, registration, signal } = schedule;
  const { name, value } = registration;
  if (value.times === undefined) return longestWaitMs;
  const { spec, nextDue, misfire } = value.times;
  const about = { extensionId, schedule: name };
  const items = new WorkItems(parts.journal.keyValues, { isItem: isProgress, quota });
  const keep = async (afterMs: number): Promise<void> => {
    const progress = { spec, afterMs };
    known.set(account.accountId, progress);
    await items.write({ namespace: schedulesNamespace, key: account.accountId }, progress);
  };
  for (;;) {
    if (signal.aborted) return longestWaitMs; // its extension was unloaded meanwhile
    const nowMs = clock.now();
    const progress =
      known.get(account.accountId) ?? (await items.find(schedulesNamespace, account.accountId));
    if (progress?.spec !== spec || progress.afterMs > nowMs + wrongClockMs) {
      if (nextDue(nowMs) === undefined)
        logger.error('a schedule never runs: its time has passed', { ...about, times: spec });
      await keep(nowMs);
      const action = progress === undefined ? 'added' : 'updated';
      const nextDueAtMs = nextDue(nowMs);
      await reportSchedule(
        parts,
        { names: [extensionId, name], spec },
        { action, ...definedFields({ nextDueAtMs }) },
      );
      continue;
    }
    known.set(account.accountId, progress);
    const dueAt = nextDue(progress.afterMs);
    if (dueAt === undefined) return longestWaitMs;
    if (dueAt > nowMs) return dueAt - nowMs;
    const job: ScheduleJob = { kind: 'schedule', extensionId, name, dueAt };
    const lane = laneOfJob(job);
    if (backlog.lanes.has(lane)) return busyMs;
    const update = { raw: job, updateId: new Date(dueAt).toISOString() };
    const isMissed = nowMs - dueAt > graceMs;
    if (isMissed && misfire === 'skip')
      logger.warn('runs of a schedule were missed, and are left out', { ...about, dueAt });
    else if ((await receiveUpdate(parts, account, update)) === 'refused') return retryMs;
    await keep(isMissed ? nowMs - graceMs : dueAt); // after the run is persisted: a crash in between repeats it, under one id
  }
}

/** The place at which the next look at kept times goes on. */
interface LeftTimes {
  /** The key of the last entry that was looked at; empty to begin with the first one. */
  readonly after: string;
  /** Milliseconds until the look that begins with the first one, by the pages so far. */
  readonly waitMs: number;
}

const noneLeft: LeftTimes = { after: '', waitMs: longestWaitMs };

/**
 * Takes in what extensions have kept for later and is due, a page in each look (extensions-that-act §6.7). Each host of a journal does
 * so: the id of a job derives from the extension, the name, the key and the due time.
 */
async function tendKept(parts: HostParts, times: KeptTimes, left: LeftTimes): Promise<LeftTimes> {
  const { clock, logger } = parts;
  const { entries, after } = await times.page(left.after);
  const nowMs = clock.now();
  const due = entries.filter(({ dueAtMs }) => dueAtMs <= nowMs);
  const tendEntry = async (entry: DueEntry): Promise<number> => {
    const row = await times.find(entry);
    if (row?.dueAtMs === entry.dueAtMs) return takeKept(parts, times, row);
    if (entry.dueAtMs + emptyEntryMs < nowMs) await times.leave(entry); // a host was killed before it kept the time
    return longestWaitMs;
  };
  const waits = await pLimit(8).map(due, (entry) =>
    tendEntry(entry).catch((error: unknown) => {
      const { extensionId, name } = entry;
      logger.error('a kept time could not be looked at; it is tried again', {
        ...{ extensionId, schedule: name, error },
      });
      return retryMs;
    }),
  );
  const waitMs = Math.min(left.after === '' ? longestWaitMs : left.waitMs, ...waits);
  const next = entries[due.length];
  if (next !== undefined) return { after: '', waitMs: Math.min(waitMs, next.dueAtMs - nowMs) };
  return { after, waitMs };
}

/** Takes in one job. @returns milliseconds until the next look at it. */
async function takeKept(parts: HostParts, times: KeptTimes, row: KeptTime): Promise<number> {
  const { dueAtMs, extensionId, name, id, spec } = row;
  const nowMs = parts.clock.now();
  const raw = { ...row.job, ...(name !== '' && { dueAt: dueAtMs }) };
  if (name !== '' && isJob(raw) && parts.backlog.lanes.has(laneOfJob(raw))) return busyMs;
  const { cron, ...zone } = JSON.parse(spec) as { readonly cron?: string }; // as readTimes has written it
  const read = cron === undefined ? undefined : readTimes({ ...zone, cron });
  const nextMs =
    typeof read === 'object' ? read.nextDue(Math.max(dueAtMs, nowMs - graceMs)) : undefined;
  const account =
    name === '' ? sendAccount : accountOfJobs({ kind: 'schedule', extensionId, name });
  const updateId = cron === undefined ? id : `${id}@${new Date(dueAtMs).toISOString()}`;
  if ((await receiveUpdate(parts, account, { raw, updateId })) === 'refused') return retryMs;
  await times.moveOn(row, nextMs); // after it is persisted: a crash in between repeats it, under one id
  return (nextMs ?? Number.POSITIVE_INFINITY) - nowMs;
}
