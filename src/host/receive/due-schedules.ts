import { openUpdates } from '@sluice/journal/internal';
import { hasFields, readTimes, WorkItems } from '@sluice/sdk/extension/internal';
import pLimit from 'p-limit';
import { definedFields, type PayloadOf, Timer } from 'sluice-kernel/internal';
import { isJob, laneOfJob, type ScheduleJob } from '../jobs/job.js';
import { reportSchedule } from '../jobs/report-schedule.js';
import { attempt } from '../parts/attempt.js';
import type { ClaimedRegistration } from '../parts/claimed-provisions.js';
import type { HostParts } from '../parts/parts.js';
import { accountOfJobs, sendAccount } from '../provided/jobs-channel.js';
import { dueAtOnce, type KeptTime, type KeptTimes } from './kept-times.js';
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
  const tendOne = (schedule: ClaimedRegistration<'schedule'>) =>
    tend(parts, schedule, known).catch((error: unknown) => {
      const { extensionId, registration } = schedule;
      const about = { extensionId, schedule: registration.name, error };
      logger.error('a schedule could not be looked at; it is tried again', about);
      return retryMs;
    });
  const look = async (reason?: PayloadOf<'schedule.reconciled'>['reason']): Promise<void> => {
    if (isOver) return;
    const all = claimed.registered('schedule');
    const schedules = all.filter(({ registration }) => registration.value.times !== undefined);
    const waits = await pLimit(8).map(schedules, tendOne);
    if (reason !== undefined && !isOver)
      await attempt(parts, 'schedule.reconciled', () =>
        kernel.dispatch('schedule.reconciled', { reason, schedules: schedules.length }),
      );
    if (isOver) return;
    const laterMs = await tendKept(parts, times).catch((error: unknown) => {
      logger.error('what is kept for later could not be looked at; it is tried again', { error });
      return retryMs;
    });
    const waitMs = waits.reduce((least, wait) => Math.min(least, wait), laterMs);
    if (!isOver) timer.setIdly(waitMs, () => next());
  };
  let last: Promise<void> | undefined;
  let isNext = false;
  /** Looks when the looks before have ended. */
  const next = (reason?: Parameters<typeof look>[0]): void => {
    if (isNext && reason === undefined) return;
    isNext = true;
    const begin = () => {
      isNext = false;
      return look(reason);
    };
    last = last === undefined ? begin() : last.then(begin);
  };
  claimed.onClaimed = () => next('reload');
  times.onAdded = next;
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

/**
 * Takes in what extensions have kept for later and is due (extensions-that-act §6.7). Each host of a journal does so: the id of a
 * job derives from the extension, the name, the key and the due time. @returns milliseconds until the next look.
 */
async function tendKept(parts: HostParts, times: KeptTimes): Promise<number> {
  const nowMs = parts.clock.now();
  let leastMs = longestWaitMs;
  for (let last: Awaited<ReturnType<KeptTimes['some']>>[number] | undefined; ; ) {
    const entries = await times.some(last);
    const due = entries.filter(({ dueAtMs }) => dueAtMs <= nowMs);
    const waits = await pLimit(8).map(due, async (entry) => {
      const row = await times.of(entry);
      return row === undefined ? longestWaitMs : takeKept(parts, times, row);
    });
    leastMs = Math.min(leastMs, ...waits);
    const next = entries[due.length];
    if (next !== undefined) return Math.min(leastMs, next.dueAtMs - nowMs);
    if (entries.length < dueAtOnce) return leastMs;
    last = entries.at(-1);
  }
}

/** Takes in one job. @returns milliseconds until the next look at it. */
async function takeKept(parts: HostParts, times: KeptTimes, row: KeptTime): Promise<number> {
  const { dueAtMs, extensionId, name, id, spec } = row;
  const nowMs = parts.clock.now();
  const raw = { ...row.job, ...(name !== '' && { dueAt: dueAtMs }) };
  const lane = name !== '' && isJob(raw) ? laneOfJob(raw) : undefined;
  if (lane !== undefined && parts.backlog.lanes.has(lane)) return busyMs;
  const { cron, ...zone } = JSON.parse(spec) as { readonly cron?: string }; // as readTimes has written it
  const read = cron === undefined ? undefined : readTimes({ ...zone, cron });
  const nextMs =
    typeof read === 'object' ? read.nextDue(Math.max(dueAtMs, nowMs - graceMs)) : undefined;
  const account =
    name === '' ? sendAccount : accountOfJobs({ kind: 'schedule', extensionId, name });
  const updateId = cron === undefined ? id : `${id}@${new Date(dueAtMs).toISOString()}`;
  const isLeft =
    cron !== undefined && parts.claimed.registeredBy('schedule', account) === undefined;
  const open = { states: openUpdates, limit: 1, withoutBody: true, ...definedFields({ lane }) };
  const waiting = isLeft ? await parts.journal.updates(open) : []; // one run for all that nobody could begin
  if (
    waiting.length === 0 &&
    (await receiveUpdate(parts, account, { raw, updateId })) === 'refused'
  )
    return retryMs;
  await times.moveOn(row, nextMs); // after it is persisted: a crash in between repeats it, under one id
  return (nextMs ?? Number.POSITIVE_INFINITY) - nowMs;
}
