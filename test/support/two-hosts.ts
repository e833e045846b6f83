import { echoProvider } from '../../src/agent/index.js';
import type { HostJournal } from '../../src/host/index.js';
import { memoryStore } from '../../src/journal/index.js';
import type { AgentProvider } from '../../src/sdk/stream/index.js';
import { virtualClock } from '../../src/testing/index.js';
import { type HostLabOptions, hostLab } from './host-lab.js';
import { type ScriptedChannelOptions, scriptedChannel } from './scripted-channel.js';
import { sharedJournal } from './shared-journal.js';

/** An agent that takes its time for each event of a turn. */
function slow(clock: ReturnType<typeof virtualClock>): AgentProvider {
  const echo = echoProvider();
  return {
    ...echo,
    async *run(request) {
      for await (const event of echo.run(request)) {
        await new Promise<void>((resolve) => clock.setTimeout(resolve, 15));
        yield event;
      }
    },
  };
}

/** Two hosts, a and b, on one journal. Host b has all partitions, until a test says otherwise. */
export async function twoHosts({
  channel = {},
  of = () => ({}),
  journal = {},
  ...more
}: Partial<Omit<HostLabOptions, 'channel' | 'journal'>> & {
  journal?: HostJournal;
  channel?: ScriptedChannelOptions;
  /** More options of one host. */
  of?: (host: string) => Partial<HostLabOptions>;
} = {}) {
  const clock = virtualClock();
  const shared = sharedJournal(clock);
  const store = memoryStore();
  const agents = [{ id: 'main', provider: slow(clock) }];
  const made = (name: string) =>
    hostLab({
      clock,
      journal: { opened: shared.of(name), ...journal },
      store,
      agents,
      channel: scriptedChannel({ everyHost: true, ...channel }),
      ...more,
      ...of(name),
    });
  shared.give('b', shared.all);
  const a = await made('a');
  const b = await made('b');
  return {
    ...{ a, b, clock, shared, store },
    states: async () =>
      (await shared.of('a').updates()).map(
        ({ updateId, state, outcome }) => `${updateId} ${outcome ?? state}`,
      ),
    [Symbol.asyncDispose]: async () => {
      await a[Symbol.asyncDispose]();
      await b[Symbol.asyncDispose]();
    },
  };
}
