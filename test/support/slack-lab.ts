import { type SlackChannel, slackChannel } from '../../extensions/slack/src/channel.js';
import { config } from '../../extensions/slack/src/config.js';
import { slackUpdate, updateIdOf } from '../../extensions/slack/src/ingress/update.js';
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
import { outcomesOf } from './outcomes-of.js';
import { quietUntil } from './quiet-until.js';
import {
  type Envelope,
  type SlackApp,
  type SlackServer,
  slackServer,
} from './slack-api/slack-server.js';

/** A host on Slack: the real channel and Slack's own libraries, Slack on loopback, virtual time. */
export interface SlackLab extends AsyncDisposable {
  readonly server: SlackServer;
  readonly host: Host;
  readonly channel: SlackChannel;
  readonly clock: VirtualClock;
  readonly log: TestKernel['log'];
  readonly outcomes: readonly Outcome[];
  readonly ends: readonly MessageEnd[];
  of<F extends FamilyName>(family: F): readonly Outcome<F>[];
  /** Lets time pass, from timer to timer and never while a call is under way, until something is so. */
  until(isSo: () => boolean, what: string): Promise<void>;
  /** People write, and the host has done with it. */
  settle(...envelopes: readonly Envelope[]): Promise<void>;
}

export interface SlackLabOptions extends Partial<HostOptions>, Omit<HostProgram, 'clock'> {
  readonly settings?: object;
  readonly contribute?: (kernel: Kernel, test: TestKernel) => void;
  /** Before the host starts. */
  readonly prepare?: (server: SlackServer) => void;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly clock?: VirtualClock;
  /** A Slack that outlives this host, the name of this host there, and its app. */
  readonly shared?: {
    readonly server: SlackServer;
    readonly process: string;
    readonly app?: SlackApp;
  };
}

export async function slackLab(options: SlackLabOptions = {}): Promise<SlackLab> {
  const { settings = {}, contribute, prepare, env, clock = virtualClock(), ...more } = options;
  const { shared, ...rest } = more;
  const server = shared?.server ?? (await slackServer(() => clock.now()));
  const letGo = async (): Promise<void> => {
    if (shared === undefined) await server[Symbol.asyncDispose]();
  };
  prepare?.(server);
  const test = createTestKernel({ clock });
  contribute?.(test.kernel, test);
  const { botToken, appToken } = shared?.app ?? server.app;
  const channel = slackChannel({
    config: config.parse({
      apiRoot: shared === undefined ? server.url : server.rootOf(shared.process),
      ...settings,
    }),
    clock,
    log: test.log,
    env: env ?? { SLACK_BOT_TOKEN: botToken, SLACK_APP_TOKEN: appToken },
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
  const stop = async (): Promise<void> => {
    let hasStopped = false;
    void host.stop({ timeoutMs: 5_000 }).finally(() => {
      hasStopped = true;
    });
    await until(() => hasStopped, 'the host has stopped');
  };
  try {
    await until(() => hasStarted, 'the host has started');
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
    settle: async (...envelopes) => {
      const ids = envelopes.map(({ type, payload: body }) =>
        updateIdOf(slackUpdate.parse({ type, body })),
      );
      for (const envelope of envelopes) server.give(envelope, shared?.app);
      await until(
        () => ids.every((id) => ends.some(({ updateId }) => updateId === id)),
        `updates ${ids.join(', ')} are done with`,
      );
    },
    [Symbol.asyncDispose]: async () => {
      await stop();
      await letGo();
    },
  };
}
