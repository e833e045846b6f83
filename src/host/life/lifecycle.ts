import {
  type ExtensionHost,
  ExtensionSet,
  type ExtensionStatus,
  givenSource,
  moduleSource,
} from '@sluice/sdk/extension';
import { deferred, definedFields, kernelError, previewNotice } from 'sluice-kernel/internal';
import { extensionSends } from '../egress/extension-sends.js';
import { hostError } from '../errors.js';
import { releaseUpdates } from '../ingress/begin-update.js';
import { backlogIdle, closeBacklog, isBusy } from '../lanes/backlog.js';
import { after, attempt, callWithin } from '../parts/attempt.js';
import type { HostParts } from '../parts/parts.js';
import { contributeDefaultChoices } from '../provided/default-choices.js';
import { injectAccount, sendAccount } from '../provided/jobs-channel.js';
import { feed, takeTurn, unblock } from '../queue/feeder.js';
import { resumeAll } from '../queue/resume-all.js';
import {
  accountsToStart,
  OpenAccounts,
  startAccounts,
  stopAccount,
  watchAccounts,
} from '../receive/account.js';
import { watchSchedules } from '../receive/due-schedules.js';
import { extensionInjects } from '../receive/extension-injects.js';
import { extensionQuestions } from '../receive/extension-questions.js';
import { extensionTimes } from '../receive/extension-times.js';
import { sendFromAny } from '../receive/hand-send.js';
import { KeptTimes } from '../receive/kept-times.js';
import { beginInquiries } from '../receive/left-inquiries.js';
import { sharedTurns } from '../session/session-turn.js';
import { extensionUser } from './extension-user.js';
import { watchJournal } from './watch-journal.js';

/** How a host's start went. */
export interface StartReport {
  readonly extensions: readonly ExtensionStatus[];
  /** The accounts that take and send messages. */
  readonly accounts: readonly { readonly channel: string; readonly accountId: string }[];
  /** Those that could not be started, and why. */
  readonly failed: readonly {
    readonly channel: string;
    readonly accountId: string;
    readonly reason: string;
  }[];
}

/** How a host's stop went. */
export interface StopReport {
  readonly reason: string;
  /** Every message was done with in time. */
  readonly drained: boolean;
  /** Messages that were aborted instead. */
  readonly abandoned: number;
}

/** The things that `startAll` has taken and `stopAll` gives back. */
export interface Running {
  readonly contributions: readonly Disposable[];
  /** Takes the host away from its extensions. */
  readonly served: Disposable;
  /** The timers that look at something now and then. */
  readonly watches: Disposable[];
  /** The acts that extensions have of the host, as long as it sends. */
  acts?: Disposable;
  readonly startedAtMs: number;
  /** The same moment by the monotonic clock: the time of day may jump. */
  readonly startedMonotonicMs: number;
}

/** Milliseconds that aborted work has to wind up before it is left behind. */
const windUpMs = 2_000;

/** Loads the extensions and contributes the host's own choices: what must be there before the first event. */
export async function loadAll(
  parts: HostParts,
  figures: ExtensionHost['figures'],
): Promise<Running> {
  const { kernel, clock, extensions, claimed, options, texts } = parts;
  const { textsOf } = texts;
  const served = extensions.serve({ ...parts.extensionData, textsOf, figures });
  try {
    if (!(options.extensions instanceof ExtensionSet))
      for (const one of options.extensions ?? []) {
        const source =
          'extension' in one ? givenSource(one.extension, one.config) : moduleSource(one.path, one);
        const { error } = await extensions.add(source);
        if (one.required === true && error !== undefined) throw error;
      }
    if (!(options.extensions instanceof ExtensionSet))
      for (const problem of texts.problems())
        throw kernelError('bad-option', { option: 'texts', problem });
    for (const extension of extensions.live) claimed.take(parts, extension);
    const { defaultAgentId, agents } = parts;
    if (!agents.has(defaultAgentId)) throw hostError('unknown-agent', { what: defaultAgentId });
    const contributions = contributeDefaultChoices(kernel);
    return {
      contributions,
      served,
      watches: [],
      startedAtMs: clock.now(),
      startedMonotonicMs: clock.monotonicMs(),
    };
  } catch (error) {
    await attempt(parts, 'unloading', () => unload(parts, [], served));
    throw error;
  }
}

/**
 * Starts what the host consists of: `runtime.started`, `gateway.starting`, each account, the services of the plugins,
 * `gateway.started`. An account that fails is reported and left out. Messages that come meanwhile wait until all is up.
 *
 * @param onEnded is told once, when no account will take in any more.
 */
export async function startAll(
  parts: HostParts,
  running: Running,
  onEnded: (reason: string) => void,
): Promise<StartReport> {
  const { kernel, clock, options, extensions } = parts;
  const { startedAtMs, watches } = running;
  const { workspaceDir, version, pid, config } = options.about ?? {};
  const place = workspaceDir === undefined ? {} : { workspaceDir };
  const about = { ...place, ...definedFields({ config }) };
  await kernel.dispatch('runtime.started', {
    ...about,
    ...definedFields({ version, pid }),
    startedAtMs,
  });
  await kernel.dispatch('gateway.starting', place);
  const { promise: opened, resolve: open } = deferred();
  const openAccounts = new OpenAccounts(opened, onEnded);
  const toStart = accountsToStart(parts, parts.channels);
  const failed = await startAccounts(parts, toStart, openAccounts);
  for (const plugin of options.plugins ?? []) await plugin.start();
  await kernel.dispatch('gateway.started', { ...about, startedAtMs: clock.now() });
  for (const own of [injectAccount, sendAccount]) parts.accounts.addOwn(own);
  parts.running.onTaken = () => void feed(parts);
  parts.shares.onRoom = (lane) => unblock(parts, lane);
  parts.backlog.turns.onTurn = (lane) => takeTurn(parts, lane);
  if (parts.journal.ownership.partitionCount > 1) parts.backlog.turns.shared = sharedTurns(parts);
  const { send, readLater } = extensionSends(parts, sendFromAny);
  const times = new KeptTimes(parts.journal.keyValues);
  watches.push(await beginInquiries(parts, send));
  // a run that is resumed may act at once; what it asks for waits until all that is left has its place
  running.acts = extensions.serve({
    send: after(opened, send),
    inject: after(opened, extensionInjects(parts)),
    ask: after(opened, extensionQuestions(parts, send)),
    timesOf: extensionTimes(parts, times, readLater),
  });
  await resumeAll(parts); // it takes its places in the lanes before anything new does
  watches.push(watchJournal(parts, send));
  open();
  watches.push(watchSchedules(parts, times));
  const accounts = parts.accounts.offered();
  const isPending = parts.pendingStarts.list().length > 0;
  // an account that has not failed is connected by another host
  if (accounts.length === 0 && !isPending && failed.length === toStart.length) {
    const why = failed.map(
      ({ channel, accountId, reason }) => `${channel}/${accountId}: ${reason}`,
    );
    throw hostError('no-account', { what: why.join('; ') || 'no channel has one' });
  }
  const known = accounts.flatMap(({ channel, accountId }) => [channel, `${channel}/${accountId}`]);
  for (const at of parts.batches?.names ?? [])
    if (!known.includes(at))
      parts.logger.warn('ingress.joinWithinMs names a channel or an account that does not run', {
        at,
      });
  const judges = [parts.kernel.plan('egress.preparing'), parts.kernel.plan('agent.llm.returning')];
  const notice = previewNotice(judges.flat());
  if (
    notice !== undefined &&
    parts.accounts.all().some(({ channel }) => channel.capabilities.canStreamResponse === true)
  )
    parts.logger.warn(notice);
  openAccounts.complete();
  watches.push(watchAccounts(parts, openAccounts));
  parts.extensions.use(extensionUser(parts, openAccounts));
  return { extensions: parts.extensions.statuses, accounts, failed };
}

/**
 * Stops what the host consists of: `gateway.stopping`, no more intake, the lanes drained, each account, the services
 * of the plugins, then `runtime.stopping`. When the budget is spent, or `hurry` aborts, the running work is aborted.
 *
 * @param hurry aborts what still runs, and an update that comes later; the host's signal hangs on it.
 */
export async function stopAll(
  parts: HostParts,
  running: Running,
  how: { readonly reason: string; readonly timeoutMs: number; readonly hurry: AbortController },
): Promise<StopReport> {
  const { kernel, clock, logger } = parts;
  const { reason, timeoutMs, hurry } = how;
  for (const watch of running.watches) watch[Symbol.dispose]();
  parts.pendingStarts.close();
  await attempt(parts, 'gateway.stopping', () => kernel.dispatch('gateway.stopping', { reason }));
  const accounts = parts.accounts.all();
  for (const { channel, accountId } of accounts)
    await attempt(parts, `stopIntake of ${channel.id}`, () => channel.stopIntake(accountId));
  // what waits in the journal is left to the next host, unless the input has ended: then all of it is done
  if (timeoutMs < Number.POSITIVE_INFINITY) {
    closeBacklog(parts.backlog);
    parts.journal.ownership.withdraw();
  }
  parts.batches?.end(); // what waits for others begins now, or is left
  if (parts.backlog.mayDefer)
    parts.approvals.leave(); // the next host goes on when they are answered
  else if (timeoutMs === Number.POSITIVE_INFINITY) void parts.approvals.close(); // the input has ended
  const drained = await drain(parts, timeoutMs, hurry);
  const abandoned = drained ? 0 : parts.room.size + parts.sendLanes.jobs;
  running.acts?.[Symbol.dispose]();
  hurry.abort(); // an update that comes from now on is not handled: it is left to the next host, or not acknowledged
  if (!drained) {
    closeBacklog(parts.backlog);
    logger.warn(`${abandoned} messages were not done in time and are aborted`);
    await idleWithin(parts, windUpMs);
  }
  await callWithin(() => releaseUpdates(parts), clock, windUpMs);
  for (const account of accounts) await stopAccount(parts, account, reason);
  for (const plugin of (parts.options.plugins ?? []).toReversed())
    await attempt(parts, `stopping ${plugin.pluginId}`, () => plugin.stop());
  const uptimeMs = Math.round(clock.monotonicMs() - running.startedMonotonicMs);
  await attempt(parts, 'runtime.stopping', () =>
    kernel.dispatch('runtime.stopping', { reason, uptimeMs }),
  );
  await unload(parts, running.contributions, running.served);
  await release(parts);
  logger.info('the host has stopped', { detail: reason, drained, abandoned, uptimeMs });
  return { reason, drained, abandoned };
}

/** Lets go of what a host holds from its making on: its own kernel, its store, and its journal. */
export async function release(parts: HostParts): Promise<void> {
  const { kernel, options, store, journal, extensionData, troubles } = parts;
  troubles[Symbol.dispose]();
  if (options.kernel !== kernel)
    await attempt(parts, 'kernel.close', () => kernel.close({ timeoutMs: windUpMs }));
  await attempt(parts, 'store.close', async () => store.close?.());
  if (options.journal.closes !== false)
    await attempt(parts, 'journal.close', () => journal.close());
  await attempt(parts, 'removing temporary folders', async () => extensionData[Symbol.dispose]());
}

/** Undoes `loadAll`, in reverse. Extensions that somebody else loaded stay, and have no host any more. */
async function unload(
  parts: HostParts,
  contributions: readonly Disposable[],
  served: Disposable,
): Promise<void> {
  for (const contribution of contributions) contribution[Symbol.dispose]();
  const { extensions, options, routes } = parts;
  for (const stop of routes.running.keys()) stop.abort();
  extensions.use(undefined);
  if (!(options.extensions instanceof ExtensionSet)) await extensions[Symbol.asyncDispose]();
  served[Symbol.dispose](); // they may write to their stores until their end
}

/**
 * Waits until every message is done with.
 *
 * @returns whether that was so before the time was up or `hurry` aborted.
 */
async function drain(
  parts: HostParts,
  timeoutMs: number,
  hurry: AbortController,
): Promise<boolean> {
  if (hurry.signal.aborted) return parts.sendLanes.size === 0 && !isBusy(parts.backlog);
  return idleWithin(parts, timeoutMs, hurry.signal);
}

/**
 * Waits for the lanes, for ever if so asked.
 *
 * @returns whether they are idle.
 */
async function idleWithin(
  parts: HostParts,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<boolean> {
  const limitMs = timeoutMs === Number.POSITIVE_INFINITY ? undefined : timeoutMs;
  const { status } = await callWithin(() => allIdle(parts), parts.clock, limitMs, signal);
  return status === 'returned';
}

/** Resolves when nothing runs, and no update in the journal waits to be claimed. */
async function allIdle({ sendLanes, backlog }: HostParts): Promise<void> {
  do {
    await backlogIdle(backlog);
    await sendLanes.idle();
  } while (isBusy(backlog));
}
