import { setImmediate } from 'node:timers/promises';
import {
  type Clock,
  type Fields,
  fieldsOf,
  isFields,
  onAbort,
  oneLine,
  pause,
  withTimeout,
} from 'sluice-kernel/internal';
import type { LegacyPlugin } from '../plugin/shape/plugin.js';
import type { LegacyAccountContext, LegacyChannel } from '../plugin/shape/shapes.js';

/** The waits before an account is started again, as OpenClaw has them. */
const firstWaitMs = 5_000;
const longestWaitMs = 300_000;
const mostRestarts = 10;
/** An account that stops is waited for no longer. */
const stopTimeoutMs = 10_000;

/** An account of a plugin's channel that runs. */
export interface RunningGateway {
  /** Why it does not run well; names and numbers only. */
  trouble(): string | undefined;
  /** Aborts it, has the plugin stop it, and waits for its end. Never rejects. */
  stop(): Promise<void>;
}

/**
 * Runs an account by the channel's `gateway.startAccount`, and starts it again where that ends by itself (spec §17.21).
 *
 * @param onGivenUp is told when it is not started any more.
 * @throws where the account is disabled, or lacks settings.
 */
export async function runAccount(
  { config: cfg, logger, intake }: Pick<LegacyPlugin, 'config' | 'logger' | 'intake'>,
  channel: LegacyChannel,
  accountId: string,
  { clock, onGivenUp }: { readonly clock: Clock; readonly onGivenUp: (reason: string) => void },
): Promise<RunningGateway> {
  const { config, gateway, status: { defaultRuntime = {} } = {} } = channel;
  const account = await usableAccount(channel, cfg, accountId);
  const named = { channel: channel.id, accountId };
  const stopped = new AbortController();
  const { signal } = stopped;
  let status: Fields = { ...defaultRuntime, accountId };
  const setStatus = (patch: Fields): void => {
    status = { ...status, ...(isFields(patch) ? patch : {}), accountId };
  };
  const context = {
    ...{ cfg, accountId, account, abortSignal: signal, setStatus },
    getStatus: () => ({ ...status }),
  } as LegacyAccountContext; // the plugin adds the rest of its own

  /** An account whose start returns at once has only registered: it runs until it is stopped, by the `stop` that it gave if any. */
  const registered = async (given: unknown): Promise<void> => {
    await new Promise<void>((resolve) => void onAbort(signal, resolve));
    const { stop } = fieldsOf(given);
    if (typeof stop === 'function') await stop.call(given);
  };

  const runOnce = async (): Promise<void> => {
    setStatus({ running: true, restartPending: false, lastStartAt: clock.now(), lastError: null });
    try {
      const started = Promise.resolve(gateway?.startAccount?.(context));
      const isAtOnce = await Promise.race([started.then(() => true), setImmediate(false)]);
      const given = await started;
      if (isAtOnce && intake.troublesOf(channel.id, accountId).refused === undefined)
        await registered(given);
    } finally {
      setStatus({ running: false, lastStopAt: clock.now() });
    }
  };

  let trouble: string | undefined;
  let startedMs = 0;
  const keepRunning = async (): Promise<void> => {
    for (let restarts = 0; !signal.aborted; ) {
      startedMs = clock.monotonicMs();
      let why = 'gateway.startAccount ended by itself';
      try {
        await runOnce();
      } catch (error) {
        why = oneLine(error);
        setStatus({ lastError: why });
        if (!signal.aborted) logger.error('an account ended with an error', { ...named, error });
      }
      if (signal.aborted) return;
      const ranWell = clock.monotonicMs() - startedMs > longestWaitMs;
      const { refused } = intake.troublesOf(channel.id, accountId);
      if (refused !== undefined && !ranWell) {
        trouble = `it has ended for good: ${refused} is not supported`;
        logger.error('an account is not started again: it needs a member that is not here', {
          ...{ ...named, member: refused, detail: why },
        });
        setStatus({ lastError: trouble });
        return onGivenUp(trouble);
      }
      if (ranWell) restarts = 0;
      restarts += 1;
      if (restarts > mostRestarts) {
        trouble = `it is not started again, after ${mostRestarts} restarts`;
        logger.error('an account is not started again', { ...named, restarts: mostRestarts });
        return onGivenUp(why);
      }
      const waitMs = Math.min(longestWaitMs, firstWaitMs * 2 ** (restarts - 1));
      logger.warn(`an account has ended; it is started again in ${waitMs} ms`, {
        ...{ ...named, restarts, detail: why },
      });
      trouble = `it has ended and is started again, ${restarts} times by now`;
      setStatus({ restartPending: true, reconnectAttempts: restarts });
      await pause(clock, waitMs, signal);
    }
  };

  const running = keepRunning();
  const isWell = (): boolean =>
    status['running'] === true && clock.monotonicMs() - startedMs > longestWaitMs;
  return {
    trouble: () => (isWell() ? undefined : trouble),
    stop: async () => {
      stopped.abort();
      const stopping = async (): Promise<void> => {
        const current: unknown = config?.resolveAccount?.(cfg, accountId) ?? account;
        await gateway?.stopAccount?.({ ...context, account: current });
      };
      const failed = (error: unknown): void =>
        logger.error('an account did not stop well', { ...named, error });
      const ended = Promise.all([running, stopping().catch(failed)]).then(() => true);
      if (!(await withTimeout(ended, stopTimeoutMs, clock, () => false)))
        logger.warn(`an account has not stopped after ${stopTimeoutMs} ms; it is left`, named);
    },
  };
}

async function usableAccount(
  { id, config }: LegacyChannel,
  cfg: Fields,
  accountId: string,
): Promise<unknown> {
  const account: unknown = config?.resolveAccount?.(cfg, accountId);
  const isEnabled: unknown =
    config?.isEnabled === undefined
      ? !isFields(account) || account['enabled'] !== false
      : config.isEnabled(account, cfg);
  if (isEnabled === false) throw new Error(`channel "${id}": account "${accountId}" is disabled`);
  const isConfigured: unknown = (await config?.isConfigured?.(account, cfg)) ?? true;
  if (isConfigured !== false) return account;
  const told: unknown = config?.unconfiguredReason?.(account, cfg);
  const reason = typeof told === 'string' ? told : 'not configured';
  throw new Error(`channel "${id}": account "${accountId}": ${reason}`);
}
