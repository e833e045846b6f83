import { journalError } from '../../src/journal/errors.js';
import { type AskOptions, ask, select } from '../../src/kernel/internal.js';
import { deployer } from './deployer.js';
import { twoHosts } from './two-hosts.js';

const partKey = (conversation: string) => JSON.stringify(['scripted', 'default', conversation, '']);

/** Two hosts whose agent deploys, and whose veto asks a human before. Host a has the partition of conversation two. */
export async function askingHosts({
  question = {},
  isOneSession = false,
  ...more
}: Parameters<typeof twoHosts>[0] & {
  question?: Partial<AskOptions>;
  isOneSession?: boolean;
} = {}) {
  const ran: string[] = [];
  const hosts = await twoHosts({
    agents: [{ id: 'main', provider: deployer(ran) }],
    roles: { owner: ['scripted:ada'] },
    channel: { interactive: ['buttons'] },
    contribute: (kernel) => {
      kernel.contribute({
        ...{ extensionId: 'guard', id: 'deploys' },
        family: 'agent.tool.calling',
        class: 'veto',
        handler: () => ask({ title: 'Deploy this?', ...question }),
      });
      if (isOneSession)
        kernel.contribute({
          ...{ extensionId: 'guard', id: 'one-session' },
          family: 'routing.resolving',
          class: 'resolver',
          handler: () => select({ agentId: 'main', sessionKey: 'shared' }),
        });
    },
    ...more,
  });
  const { a, b, clock, shared } = hosts;
  const [one, two] = ['one', 'two'].map((name) => shared.partitionOf(partKey(name)));
  if (one === undefined || two === undefined || one === two) throw new Error('they differ');
  shared.give('a', [two]);
  await clock.advance(100);
  const asked = () =>
    [a, b].map(({ channel }) =>
      channel.sent.filter(({ interactive }) => interactive !== undefined),
    );
  const pressed = new Set<string>();
  /** The button of the newest question of which none was pressed. */
  const button = (at = 0): string => {
    const open = asked()
      .flat()
      .map(({ interactive }) => interactive?.buttons?.[at]?.id ?? '');
    return open.findLast((id) => !pressed.has(id)) ?? '';
  };
  return {
    ...{ ...hosts, ran, one, two },
    id: () => button().split(':')[2]?.slice(0, 8) ?? '',
    /** How many questions each host has asked. */
    asked: () => asked().map(({ length }) => length),
    deploy: async (what: string, conversation = 'one') => {
      await a.channel.receive({ text: what, conversation }, what);
      await clock.advance(1_000);
    },
    press: async (at = 0, conversation = 'one', by = a) => {
      const press = button(at);
      pressed.add(press);
      await by.channel.receive({ text: '', press, conversation }, `press ${pressed.size}`);
      await clock.advance(3_000);
    },
    /** A host reads the questions some times without an answer of the journal. @returns how often that was. */
    failReads: (of: 'a' | 'b', times: number) => {
      let failures = 0;
      shared.onRead = (host, namespace) => {
        if (host !== of || namespace !== '/approvals/asked' || failures >= times) return;
        failures++;
        throw journalError('database-io', { path: 'memory', problem: 'no answer' });
      };
      return () => failures;
    },
    rows: async () =>
      (await shared.of('a').keyValues.list('/approvals/asked', { prefix: '', limit: 9 })).map(
        ({ body }) => (JSON.parse(body) as { state: string }).state,
      ),
  };
}
