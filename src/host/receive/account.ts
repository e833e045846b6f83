import { setMaxListeners } from 'node:events';
import { type ChannelPlugin, SendPermit } from '@sluice/sdk/channel';
import pLimit from 'p-limit';
import { definedFields, onAbort, oneLine } from 'sluice-kernel/internal';
import { errorSummary } from '../logging/error-summary.js';
import { attempt, attemptWithin, callWithin } from '../parts/attempt.js';
import type { HostParts } from '../parts/parts.js';
import { keyOfAccount, type RunningAccount } from '../provided/accounts.js';
import { resumeWaiting } from '../queue/resume-all.js';
import { receiveUpdate } from './receive-update.js';

/** Accounts that are started side by side. */
const startsAtOnce = 8;

/** Milliseconds that an account has to be stopped, before another host may connect it all the same. */
const leaveWithinMs = 10_000;

/** The accounts of channels that are to be started: all of them, or those that the operator names and those that only send. */
export function accountsToStart(
  { options }: HostParts,
  channels: readonly ChannelPlugin[],
): readonly Pick<RunningAccount, 'channel' | 'accountId'>[] {
  const { startOnly: only } = options;
  return channels
    .filter(
      ({ id, capabilities }) =>
        only === undefined || only.includes(id) || capabilities.sendsOnly === true,
    )
    .flatMap((channel) => channel.accounts.map((accountId) => ({ channel, accountId })));
}

/**
 * Starts an account. Updates that come before all is up wait. An account that one of several hosts connects is started by the host
 * that has its partition, and stopped when the partition is lost (durability §12.9).
 *
 * @returns why it could not be started, or nothing.
 */
export async function startAccount(
  parts: HostParts,
  channel: ChannelPlugin,
  accountId: string,
  openAccounts: OpenAccounts,
  failures = 0,
): Promise<string | undefined> {
  const { kernel, clock, logger, accounts } = parts;
  const { ownership } = parts.journal;
  const { opened } = openAccounts;
  const isOfOne = channel.capabilities.everyHost !== true;
  const slot = isOfOne ? ownership.slotOf(keyOfAccount(channel.id, accountId)) : undefined;
  const isTaken = slot !== undefined && ownership.partitionCount > 1; // no other host could connect it beside this one
  const fence = isTaken ? ownership.fenceOf(slot) : undefined;
  if (isTaken && fence === undefined) return undefined;
  const startedAtMs = clock.now();
  const startedMonotonicMs = clock.monotonicMs();
  const account = { channel, accountId, startedMonotonicMs, ...definedFields({ slot }) };
  const named = { channel: channel.id, accountId };
  const refs = { accountRef: { channel: channel.id, id: accountId } };
  const startAndResume = async (failed = 0): Promise<void> => {
    await startAccount(parts, channel, accountId, openAccounts, failed);
    if (accounts.find(channel.id, accountId) !== undefined) await resumeWaiting(parts);
  };
  accounts.add(account);
  openAccounts.add(account);
  try {
    await channel.startAccount(accountId, {
      receive: async (update) => {
        await opened;
        await parts.arrivals.take();
        parts.arrivals.give();
        if (parts.accounts.all().includes(account)) return receiveUpdate(parts, account, update);
        logger.warn('an update came after its account was stopped; it is not taken in', named);
        return 'refused';
      },
      owns: (permit) => SendPermit.isOf(permit, kernel),
      ...(fence !== undefined && { lost: fence.signal }),
      ended: ({ reason, error }) => {
        if (error !== undefined)
          logger.error('an account takes in no more', { ...named, detail: reason, error });
        void opened.then(() => openAccounts.end(account, reason));
      },
    });
    if (!accounts.all().includes(account)) {
      await attempt(parts, 'stopping an account', () => channel.stopAccount(accountId));
      return 'it was stopped before it had started';
    }
  } catch (error) {
    const reason = oneLine(error);
    if (!accounts.all().includes(account)) return reason; // somebody has stopped it meanwhile
    accounts.remove(account);
    const { code } = errorSummary(error);
    const { retryAfterMs } = Object(error) as { readonly retryAfterMs?: unknown }; // from outside
    if (typeof retryAfterMs === 'number' && Number.isFinite(retryAfterMs)) {
      const failed = { failures: failures + 1, ...definedFields({ code }), lastFailure: reason };
      parts.pendingStarts.add(parts, { ...named, ...failed }, retryAfterMs, (isDue) => {
        openAccounts.leave(account); // its next start takes its place at once
        if (isDue)
          void attempt(parts, 'starting an account again', () => startAndResume(failures + 1));
      });
      return undefined;
    }
    openAccounts.end(account, reason);
    logger.error(
      `account ${channel.id}/${accountId} could not be started${code === undefined ? '' : ` (${code})`}`,
      { ...named, error },
    );
    await kernel.dispatch(
      'account.stopped',
      { ...named, reason: 'it could not be started', error: reason },
      refs,
    );
    return reason;
  }
  logger.info('an account has started', named);
  await kernel.dispatch('account.started', { ...named, startedAtMs }, refs);
  if (fence === undefined) return undefined;
  const listening: Disposable[] = [];
  const leave = async (): Promise<void> => {
    for (const one of listening.splice(0)) one[Symbol.dispose]();
    if (!accounts.all().includes(account)) return;
    openAccounts.leave(account);
    await attemptWithin(parts, leaveWithinMs, `stopIntake of ${channel.id}`, () =>
      channel.stopIntake(accountId),
    );
    await stopAccount(parts, account, 'another host connects it', leaveWithinMs);
    if (parts.backlog.isClosed || accounts.find(channel.id, accountId) !== undefined) return;
    await startAndResume(); // if its partition has come back meanwhile
  };
  const leaveInTime = async () => void (await callWithin(leave, clock, leaveWithinMs));
  listening.push(ownership.onLeave(fence, leaveInTime));
  const leaveNow = (): void =>
    void leave().catch((error: unknown) =>
      logger.error('an account that another host connects could not be left', { ...named, error }),
    );
  setMaxListeners(0, fence.signal); // each account of the partition listens to it
  listening.push(onAbort(fence.signal, leaveNow));
  return undefined;
}

/** Starts accounts side by side, a few at a time. @returns those that could not be started, and why. */
export async function startAccounts(
  parts: HostParts,
  toStart: ReturnType<typeof accountsToStart>,
  openAccounts: OpenAccounts,
) {
  const started = await pLimit(startsAtOnce).map(toStart, async ({ channel, accountId }) => {
    const reason = await startAccount(parts, channel, accountId, openAccounts);
    return reason === undefined ? [] : { channel: channel.id, accountId, reason };
  });
  return started.flat();
}

/** Starts the accounts whose partitions this host takes from now on, if one of several hosts connects them. */
export function watchAccounts(parts: HostParts, openAccounts: OpenAccounts): Disposable {
  const { accounts, channels, journal, logger } = parts;
  let last = Promise.resolve();
  const tend = async (): Promise<void> => {
    let hasStarted = false;
    for (const { channel, accountId } of accountsToStart(parts, channels)) {
      const isPending = parts.pendingStarts
        .list()
        .some((one) => one.channel === channel.id && one.accountId === accountId);
      if (isPending || accounts.find(channel.id, accountId) !== undefined) continue;
      await startAccount(parts, channel, accountId, openAccounts);
      hasStarted ||= accounts.find(channel.id, accountId) !== undefined;
    }
    if (hasStarted) await resumeWaiting(parts);
  };
  const hint = (): void => {
    last = last
      .then(tend)
      .catch((error: unknown) => logger.error('an account could not be started', { error }));
  };
  return journal.ownership.onWork(hint);
}

/** Disconnects an account for good, and tells of it. @param timeoutMs then it counts as stopped, whatever its channel still does. */
export async function stopAccount(
  parts: HostParts,
  account: RunningAccount,
  reason: string,
  timeoutMs?: number,
): Promise<void> {
  const { kernel, clock } = parts;
  const { channel, accountId, startedMonotonicMs } = account;
  await attemptWithin(parts, timeoutMs, `stopAccount of ${channel.id}`, () =>
    channel.stopAccount(accountId),
  );
  parts.accounts.remove(account);
  const uptimeMs = Math.round(clock.monotonicMs() - startedMonotonicMs);
  await attempt(parts, 'account.stopped', () =>
    kernel.dispatch(
      'account.stopped',
      { channel: channel.id, accountId, reason, uptimeMs },
      { accountRef: { channel: channel.id, id: accountId } },
    ),
  );
}

/** Counts the accounts that still take in, and tells when the last of them has ended. */
export class OpenAccounts {
  readonly opened: Promise<void>;
  readonly #onEnded: (reason: string) => void;
  readonly #open = new Set<RunningAccount>();
  #hasTakenIn = false;
  #isComplete = false;
  #reason = 'no more input';

  /** @param opened resolves when all is up: what comes in before waits. */
  constructor(opened: Promise<void>, onEnded: (reason: string) => void) {
    this.opened = opened;
    this.#onEnded = onEnded;
  }

  /** Accounts that only send are no input: a host that has nothing else runs until it is stopped. */
  add(account: RunningAccount): void {
    if (account.channel.capabilities.sendsOnly === true) return;
    this.#hasTakenIn = true;
    this.#open.add(account);
  }

  end(account: RunningAccount, reason: string): void {
    if (!this.#open.delete(account)) return;
    this.#reason = reason;
    this.#report();
  }

  /** An account goes without its input having ended: where it was the last, the host waits for its successor. */
  leave(account: RunningAccount): void {
    this.#open.delete(account);
  }

  /** Every account has been added. */
  complete(): void {
    this.#isComplete = true;
    this.#report();
  }

  #report(): void {
    if (this.#isComplete && this.#hasTakenIn && this.#open.size === 0) this.#onEnded(this.#reason);
  }
}
