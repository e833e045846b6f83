import { describe, expect, it } from 'vitest';
import { connect } from '../../extensions/postgres/src/index.js';
import { answerAsOperator } from '../../src/cli/approvals/approvals.js';
import { ask } from '../../src/kernel/internal.js';
import { tendPostgresJournal } from '../../src/postgres/postgres-journal.js';
import { deployer } from '../support/deployer.js';
import { sharedDatabase, sharing } from './sharing.js';

const patiently = { timeout: 60_000, interval: 50 };

describe('a question of hosts that share a journal in PostgreSQL', () => {
  it('is answered at any of them or beside them, and outlives the host that has asked it (durability §12.10)', {
    timeout: 180_000,
  }, async () => {
    const url = await sharedDatabase();
    const ran: string[] = [];
    const asking = () =>
      sharing(url, 5_000, {
        interactive: ['buttons'],
        agents: [{ id: 'main', provider: deployer(ran) }],
        roles: { owner: ['scripted:ada'] },
        contribute: (kernel) =>
          kernel.contribute({
            ...{ extensionId: 'guard', id: 'deploys' },
            family: 'agent.tool.calling',
            class: 'veto',
            handler: () => ask({ title: 'Deploy this?' }),
          }),
      });
    const hosts = [await asking(), await asking()];
    const all = async (): Promise<void> => {
      for (const host of hosts) await host.pass();
    };
    const shares = async () => {
      await all();
      return hosts.map((host) => host.partitions().length);
    };
    await expect.poll(shares, patiently).toEqual([4, 4]);
    const buttons = () =>
      hosts.map(({ channel }) =>
        channel.sent.flatMap(({ interactive }) => interactive?.buttons?.[0]?.id ?? []),
      );
    const askedBy = async () => {
      await all();
      return buttons().map(({ length }) => length);
    };
    const [first, second] = hosts;
    if (first === undefined || second === undefined) throw new Error('they run');
    // a conversation of each host
    const conversations = hosts.map(({ journal }) => {
      const names = Array.from({ length: 100 }, (_, at) => `c${at}`);
      const { ownership } = journal;
      const keyOf = (name: string) => JSON.stringify(['scripted', 'default', name, '']);
      return names.find((name) => ownership.fenceOf(ownership.slotOf(keyOf(name)))) ?? '';
    });
    const [one = '', two = ''] = conversations;
    const hasRun = async () => {
      await all();
      return [...ran];
    };

    await second.channel.receive({ text: 'v1', conversation: one }, 'v1');
    await expect.poll(askedBy, patiently).toEqual([1, 0]);
    const id = () => buttons().flat().at(-1)?.split(':')[2] ?? '';
    await first.channel.receive({ text: `/approve ${id().slice(0, 8)}`, conversation: two }, 'a');
    await expect.poll(hasRun, patiently).toEqual(['v1']);
    expect(second.lab.texts().at(-1)).toContain('is allowed');

    await second.channel.receive({ text: 'v2', conversation: one }, 'v2');
    await expect.poll(askedBy, patiently).toEqual([2, 0]);
    const beside = await tendPostgresJournal(connect(url));
    await answerAsOperator(beside.keyValues, { id: id(), state: 'allowed' });
    await expect.poll(hasRun, patiently).toEqual(['v1', 'v2']);

    await second.channel.receive({ text: 'v3', conversation: one }, 'v3');
    await expect.poll(askedBy, patiently).toEqual([3, 0]);
    const last = id();
    first.cut();
    hosts.shift();
    const parts = async () => {
      await all();
      return second.partitions().length;
    };
    await expect.poll(parts, patiently).toBe(8);
    await second.channel.receive({ text: '', press: `sluice:a:${last}:0`, conversation: two }, 'p');
    await expect.poll(hasRun, patiently).toEqual(['v1', 'v2', 'v3']);
    expect(await askedBy()).toEqual([0]);
    const ends = async () => {
      await all();
      const rows = await second.journal.updates({ states: ['ended'] });
      return rows.map(({ updateId, outcome }) => `${updateId} ${outcome}`).sort();
    };
    const answered = ['a command', 'p answer', 'v1 answered', 'v2 answered', 'v3 answered'];
    await expect.poll(ends, patiently).toEqual(answered);
    await beside[Symbol.asyncDispose]();
    await second[Symbol.asyncDispose]();
  });
});
