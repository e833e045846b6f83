import type { ChannelPlugin } from '../channel/index.js';
import { type LoadResult, loadExtension } from '../extension/index.js';
import { oneLine, SluiceError } from '../kernel/index.js';
import type { RunningAccount } from './accounts.js';
import { contributeDefaultChoices } from './default-choices.js';
import { drain, idleWithin } from './drain.js';
import { receiveUpdate } from './inbound.js';
import { Intake } from './intake.js';
import { keeps, receiveKept } from './kept-updates.js';
import type { HostOptions } from './options.js';
import type { HostParts } from './parts.js';
import { takeProvided } from './provided.js';
import { resumeAll } from './resume.js';
import { watchJournal } from './watch-journal.js';

/** How a host's start went. */
export interface StartReport {
  readonly extensions: readonly LoadResult[];
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
  /** Whether every message was done with in time. */
  readonly drained: boolean;
  /** Messages that were aborted instead. */
  readonly abandoned: number;
}

/** What `startAll` has taken and `stopAll` gives back. */
export interface Running {
  readonly extensions: readonly LoadResult[];
  readonly contributions: readonly Disposable[];
  /** What looks at something now and then. */
  readonly watches: Disposable[];
  readonly startedAtMs: number;
}

/** Milliseconds that aborted work has to wind up before it is left behind. */
const windUpMs = 2_000;

/** Loads the extensions and contributes the host's own choices: what must be there before the first event. */
export async function loadAll(parts: HostParts): Promise<Running> {
  const { kernel, logger, clock, options } = parts;
  const extensions: LoadResult[] = [];
  try {
    for (const { extension, config } of options.extensions ?? [])
      extensions.push(await loadExtension(kernel, extension, { config, logger, clock }));
    for (const extension of [...(options.loaded ?? []), ...extensions])
      if (extension.status === 'loaded') takeProvided(parts, extension);
    const contributions = contributeDefaultChoices(kernel);
    return { extensions, contributions, watches: [], startedAtMs: clock.now() };
  } catch (error) {
    await attempt(parts, 'unloading', () => unload({ extensions, contributions: [] }));
    throw error;
  }
}

/**
 * Starts what the host consists of: `runtime.started`, `gateway.starting`, each account, the services of the plugins,
 * `gateway.started`. An
 * account that fails is told of and left out. Messages that come meanwhile wait until all is up.
 *
 * @param onEnded is told once, when no account will take in any more.
 */
export async function startAll(
  parts: HostParts,
  { extensions, startedAtMs, watches }: Running,
  onEnded: (reason: string) => void,
): Promise<StartReport> {
  const { kernel, clock, options } = parts;
  const { workspaceDir, version, pid, config } = options.about ?? {};
  const place = workspaceDir === undefined ? {} : { workspaceDir };
  const about = { ...place, ...(config !== undefined && { config }) };
  await kernel.dispatch('runtime.started', {
    ...about,
    ...(version !== undefined && { version }),
    ...(pid !== undefined && { pid }),
    startedAtMs,
  });
  await kernel.dispatch('gateway.starting', place);
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const failed: StartReport['failed'][number][] = [];
  const intake = new Intake(onEnded);
  for (const channel of parts.channels.filter((one) => isToStart(one, options.startOnly)))
    for (const accountId of channel.accounts) {
      const problem = await startAccount(parts, channel, accountId, opened, intake);
      if (problem !== undefined) failed.push({ channel: channel.id, accountId, reason: problem });
    }
  for (const plugin of options.plugins ?? []) await plugin.start();
  await kernel.dispatch('gateway.started', { ...about, startedAtMs: clock.now() });
  if (keeps(parts)) {
    await resumeAll(parts); // it takes its places in the lanes before anything new does
    watches.push(watchJournal(parts));
  }
  open();
  const accounts = parts.accounts.offered();
  if (accounts.length === 0) {
    const why = failed.map(
      ({ channel, accountId, reason }) => `${channel}/${accountId}: ${reason}`,
    );
    throw new SluiceError('no-account', { what: why.join('; ') || 'no channel has one' });
  }
  intake.complete();
  return { extensions, accounts, failed };
}

function isToStart({ id, capabilities }: ChannelPlugin, only: HostOptions['startOnly']): boolean {
  return only === undefined || only.includes(id) || capabilities.sendsOnly === true;
}

/** @returns why it could not be started, or nothing. */
async function startAccount(
  parts: HostParts,
  channel: ChannelPlugin,
  accountId: string,
  opened: Promise<void>,
  intake: Intake,
): Promise<string | undefined> {
  const { kernel, clock, logger, accounts } = parts;
  const startedAtMs = clock.now();
  const account: RunningAccount = { channel, accountId, startedAtMs };
  const named = { channel: channel.id, accountId };
  const refs = { accountRef: { channel: channel.id, id: accountId } };
  accounts.add(account);
  intake.add(account);
  try {
    await channel.startAccount(accountId, {
      receive: async (update) => {
        await opened;
        if (parts.accounts.all().includes(account))
          return keeps(parts)
            ? receiveKept(parts, account, update)
            : receiveUpdate(parts, account, update);
        logger.warn('an update came after its account was stopped; it is not taken in', named);
      },
      ended: ({ reason, error }) => {
        if (error !== undefined)
          logger.error('an account takes in no more', { ...named, detail: reason, error });
        void opened.then(() => intake.end(account, reason));
      },
    });
  } catch (error) {
    const reason = oneLine(error);
    accounts.remove(account);
    intake.end(account, reason);
    logger.error(`account ${channel.id}/${accountId} could not be started`, { ...named, error });
    await kernel.dispatch(
      'account.stopped',
      { ...named, reason: 'it could not be started', error: reason },
      refs,
    );
    return reason;
  }
  logger.info('an account has started', named);
  await kernel.dispatch('account.started', { ...named, startedAtMs }, refs);
  return undefined;
}

/**
 * Stops what the host consists of: `gateway.stopping`, no more intake, the lanes drained, each account, the services
 * of the plugins, then `runtime.stopping`. When the budget is spent, or `hurry` aborts, the running work is aborted.
 *
 * @param hurry aborts what still runs; the host's signal hangs on it.
 */
export async function stopAll(
  parts: HostParts,
  running: Running,
  how: { readonly reason: string; readonly timeoutMs: number; readonly hurry: AbortController },
): Promise<StopReport> {
  const { kernel, clock, logger } = parts;
  const { reason, timeoutMs, hurry } = how;
  for (const watch of running.watches) watch[Symbol.dispose]();
  await attempt(parts, 'gateway.stopping', () => kernel.dispatch('gateway.stopping', { reason }));
  const accounts = parts.accounts.all();
  for (const { channel, accountId } of accounts)
    await attempt(parts, `stopIntake of ${channel.id}`, () => channel.stopIntake(accountId));
  const drained = await drain(parts, timeoutMs, hurry);
  const abandoned = drained ? 0 : parts.conversationLanes.jobs;
  if (!drained) {
    hurry.abort();
    logger.warn(`${abandoned} messages were not done in time and are aborted`);
    await idleWithin(parts, windUpMs);
  }
  for (const account of accounts) {
    const { channel, accountId, startedAtMs } = account;
    await attempt(parts, `stopAccount of ${channel.id}`, () => channel.stopAccount(accountId));
    parts.accounts.remove(account);
    await attempt(parts, 'account.stopped', () =>
      kernel.dispatch(
        'account.stopped',
        {
          channel: channel.id,
          accountId,
          reason,
          uptimeMs: Math.max(0, clock.now() - startedAtMs),
        },
        { accountRef: { channel: channel.id, id: accountId } },
      ),
    );
  }
  for (const plugin of (parts.options.plugins ?? []).toReversed())
    await attempt(parts, `stopping ${plugin.pluginId}`, () => plugin.stop());
  const uptimeMs = Math.max(0, clock.now() - running.startedAtMs);
  await attempt(parts, 'runtime.stopping', () =>
    kernel.dispatch('runtime.stopping', { reason, uptimeMs }),
  );
  await unload(running);
  await release(parts);
  logger.info('the host has stopped', { reason, drained, abandoned, uptimeMs });
  return { reason, drained, abandoned };
}

/** Lets go of what a host holds from its making on: its own kernel, its store, and its journal. */
export async function release(parts: HostParts): Promise<void> {
  const { kernel, options, store, journal } = parts;
  if (options.kernel === undefined)
    await attempt(parts, 'kernel.close', () => kernel.close({ timeoutMs: windUpMs }));
  await attempt(parts, 'store.close', async () => store.close?.());
  await attempt(parts, 'journal.close', async () => journal?.close());
}

/** Undoes `loadAll`, in reverse. */
async function unload({
  extensions,
  contributions,
}: Pick<Running, 'extensions' | 'contributions'>): Promise<void> {
  for (const contribution of contributions) contribution[Symbol.dispose]();
  for (const extension of extensions.toReversed())
    if (extension.status === 'loaded') await extension.dispose();
}

/** One step of a stop: whatever it does, the next one follows. */
async function attempt(
  parts: HostParts,
  what: string,
  step: () => Promise<unknown>,
): Promise<void> {
  try {
    await step();
  } catch (error) {
    parts.logger.error(`${what} failed`, { error });
  }
}
