import { type TelegramChannel, telegramChannel } from '../../extensions/telegram/src/channel.js';
import { config } from '../../extensions/telegram/src/config.js';
import type { MoveStore } from '../../extensions/telegram/src/moves.js';
import { echoProvider } from '../../src/agent/index.js';
import { createHost, type Host, type HostOptions, type HostProgram } from '../../src/host/index.js';
import type { MessageEnd } from '../../src/journal/index.js';
import type { FamilyName, Kernel, Outcome } from '../../src/kernel/internal.js';
import {
  createTestKernel,
  type TestKernel,
  type VirtualClock,
  virtualClock,
} from '../../src/testing/index.js';
import { type BotApiServer, botApiServer } from './bot-api/bot-api.js';
import { outcomesOf } from './outcomes-of.js';
import { quietUntil } from './quiet-until.js';

/** A host on Telegram: the real channel and the real grammY, a Bot API on loopback, virtual time. */
export interface TelegramLab extends AsyncDisposable {
  readonly server: BotApiServer;
  readonly host: Host;
  readonly channel: TelegramChannel;
  readonly clock: VirtualClock;
  readonly log: TestKernel['log'];
  readonly outcomes: readonly Outcome[];
  readonly ends: readonly MessageEnd[];
  of<F extends FamilyName>(family: F): readonly Outcome<F>[];
  /** Lets time pass, from timer to timer and never while a call is under way, until something is so. */
  until(isSo: () => boolean, what: string): Promise<void>;
  /** People write, and the host has done with it. */
  settle(...updates: readonly { readonly update_id?: number }[]): Promise<void>;
}

export interface TelegramLabOptions extends Partial<HostOptions>, Omit<HostProgram, 'clock'> {
  readonly settings?: object;
  readonly contribute?: (kernel: Kernel) => void;
  /** Before the host starts. */
  readonly prepare?: (server: BotApiServer) => void;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly clock?: VirtualClock;
  /** Where the moves of groups are kept. */
  readonly moves?: MoveStore;
  /** A Bot API that outlives this host, and what this host is called there. */
  readonly shared?: { readonly server: BotApiServer; readonly process: string };
}

export async function telegramLab(options: TelegramLabOptions = {}): Promise<TelegramLab> {
  const { settings = {}, contribute, prepare, env, clock = virtualClock(), ...more } = options;
  const { shared, moves, ...rest } = more;
  const server = shared?.server ?? (await botApiServer(() => clock.now()));
  const letGo = async (): Promise<void> => {
    if (shared === undefined) await server[Symbol.asyncDispose]();
  };
  prepare?.(server);
  const test = createTestKernel({ clock });
  contribute?.(test.kernel);
  const channel = telegramChannel({
    config: config.parse({
      apiRoot: shared === undefined ? server.url : server.rootOf(shared.process),
      ...settings,
    }),
    clock,
    log: test.log,
    ...(moves && { store: moves }),
    env: env ?? { TELEGRAM_BOT_TOKEN: server.token },
  });
  const ends: MessageEnd[] = [];
  let runs = 0;
  const host = createHost({
    agents: [{ id: 'main', provider: echoProvider() }],
    channels: [channel],
    kernel: test.kernel,
    clock,
    logger: test.log,
    newId: (kind) => `${kind}-${++runs}`,
    ...rest,
    onMessageEnd: (end) => ends.push(end),
  });
  const until = quietUntil(clock, server);
  let hasStarted = false;
  const starting = host.start().finally(() => {
    hasStarted = true;
  });
  starting.catch(() => undefined); // awaited below
  await until(() => hasStarted, 'the host has started');
  const stop = async (): Promise<void> => {
    let hasStopped = false;
    void host.stop({ timeoutMs: 5_000 }).finally(() => {
      hasStopped = true;
    });
    await until(() => hasStopped, 'the host has stopped');
  };
  try {
    await starting;
  } catch (error) {
    await letGo();
    throw error;
  }
  return {
    server,
    host,
    channel,
    clock,
    log: test.log,
    outcomes: test.outcomes,
    ends,
    of: (family) => outcomesOf(test.outcomes, family),
    until,
    settle: async (...updates) => {
      const ids = new Set(updates.map(({ update_id: id }) => String(id)));
      server.give(...updates);
      await until(
        () => [...ids].every((id) => ends.some(({ updateId }) => updateId === id)),
        `updates ${[...ids].join(', ')} are done with`,
      );
    },
    [Symbol.asyncDispose]: async () => {
      await stop();
      await letGo();
    },
  };
}
