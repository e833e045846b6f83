import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { memoryJournal, memoryStore, openJournal } from 'sluice/host';
import {
  expectDenied,
  expectReply,
  fakeChannel,
  loadForTest,
  startTestHost,
  type TestHost,
  type TestHostOptions,
  virtualClock,
} from 'sluice/testing';
import { describe, expect, it, vi } from 'vitest';
import budget from '../src/index.js';
import {
  accountsOf,
  arrive,
  complete,
  door,
  type Kept,
  type Reported,
  spender,
  start,
} from './budget-lab.js';

const numRuns = Number(process.env['LAW_RUNS'] ?? 40);
const refused = { code: 'budget-exceeded', by: 'budget/caps' } as const;

/** Starts a host whose agent uses what the text says, with the extension. */
function hostOf(
  config: object,
  report: Parameters<typeof spender>[0] = ({ prompt }) => ({ output: Number(prompt) }),
  options: TestHostOptions = {},
): Promise<TestHost> {
  const agents = [{ id: 'main', provider: spender(report) }];
  return startTestHost({ agents, ...options, extensions: [{ extension: budget, config }] });
}

/** The accounts of one kind in the journal of a host. */
async function keptIn(
  { journal }: Pick<TestHost, 'journal'>,
  capName: string,
): Promise<readonly Kept[]> {
  const rows = await journal.keyValues.list('budget', { prefix: '', limit: 100 });
  return rows
    .filter(({ key }) => key.split('/')[1] === capName)
    .map(({ body }) => JSON.parse(body) as Kept); // as the extension has written it
}

const said = (test: TestHost, text: string, from = 'ada'): Promise<unknown> =>
  test.say({ text, from, conversation: `fake:${from}` });

describe('a host with a budget', () => {
  it('answers until the budget is used up, and then says so once in a while, and to a bot not at all', async () => {
    await using test = await hostOf({ perPrincipal: { tokens: 100 }, estimate: { tokens: 10 } });
    expectReply(await test.say('40'), '40');
    expectReply(await test.say('51'), '51');
    expectReply(await test.say('1'), 'The budget of today is used up. /budget shows it.');
    expectDenied(await test.say('1'), refused);
    expect(await keptIn(test, 'perPrincipal')).toEqual([
      {
        name: 'fake:ada',
        used: { tokens: 91, microUsd: 0 },
        guessed: 0,
        holds: {},
        cap: { tokens: 100 },
      },
    ]);
    await test.clock.advance(24 * 3_600_000);
    expectReply(await test.say('2'), '2');
  });

  it('says nothing if the reply is false, and the text of the operator if he has one', async () => {
    const config = { perPrincipal: { tokens: 10 }, estimate: { tokens: 10 }, reply: false };
    {
      await using test = await hostOf(config);
      await test.say('1');
      expectDenied(await test.say('1'), refused);
      expect(test.replies()).toEqual(['1']);
    }
    const cancelText = { 'budget-exceeded': 'No more today.' };
    await using test = await hostOf({ ...config, reply: 'x' }, undefined, { cancelText });
    await test.say('1');
    expectReply(await test.say('1'), 'No more today.');
  });

  it('prices tokens by the model that answered (judgement §6.12)', async () => {
    const prices = {
      'model-*': { input: 1, output: 2 },
      'model-1': { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
    };
    const config = { total: { usd: 100 }, prices };
    const usage = { input: 10, output: 100, cacheRead: 1_000, cacheWrite: 2, totalTokens: 1_112 };
    await using test = await hostOf(config, ({ prompt }) =>
      prompt === 'cost' ? { ...usage, costUsd: 1.5 } : usage,
    );
    await test.say('tokens');
    const micros = 30 + 1_500 + 300 + 7.5;
    expect(await keptIn(test, 'total')).toMatchObject([
      { used: { tokens: 1_112, microUsd: Math.ceil(micros) }, guessed: 0 },
    ]);
    await test.say('cost');
    expect(await keptIn(test, 'total')).toMatchObject([
      { used: { microUsd: 1_500_000 + Math.ceil(micros) }, guessed: 0 },
    ]);
  });

  it('charges the estimate of money for a model without a price, and says so (judgement §6.12)', async () => {
    const config = { total: { usd: 1 }, estimate: { usd: 0.2 } };
    await using test = await hostOf(config, () => ({ output: 5 }));
    await test.say('one');
    expect(await keptIn(test, 'total')).toMatchObject([
      { used: { tokens: 5, microUsd: 200_000 }, guessed: 1 },
    ]);
  });

  it('charges what each attempt has used, and keeps no reservation of a turn that failed (judgement §6.10)', async () => {
    let turn = 0;
    const report = (): Reported => {
      turn += 1;
      if (turn < 3) throw new Error('overloaded');
      return { output: 7 };
    };
    const provider = spender(report);
    const agents = [{ id: 'main', provider, retry: { maxAttempts: 3 } }];
    const config = { perPrincipal: { tokens: 1_000 }, estimate: { tokens: 50 } };
    await using test = await hostOf(config, report, { agents });
    expectReply(await test.say('one'), 'one');
    expect(turn).toBe(3);
    expect(await keptIn(test, 'perPrincipal')).toMatchObject([
      { used: { tokens: 7 }, guessed: 0, holds: {} }, // the two that failed told nothing of what they used
    ]);
  });
});

describe('turns at once', () => {
  it('of one principal in several conversations never reserve more than the cap together (judgement §6.13)', async () => {
    const open = door();
    const config = { perPrincipal: { tokens: 100 }, estimate: { tokens: 30 } };
    await using test = await hostOf(config, async () => {
      await open.opened;
      return { output: 20 };
    });
    const ends = Array.from({ length: 8 }, (_, at) =>
      test.say({ text: 'go', conversation: `fake:c-${at}` }),
    );
    await vi.waitFor(async () => {
      const [account] = await keptIn(test, 'perPrincipal');
      expect(Object.values(account?.holds ?? {}).filter(({ runId }) => runId)).toHaveLength(3);
    }, 60_000);
    open.open();
    const all = await Promise.all(ends);
    expect(all.filter(({ status }) => status === 'answered')).toHaveLength(3);
    expect(await keptIn(test, 'perPrincipal')).toMatchObject([{ used: { tokens: 60 }, holds: {} }]);
  });

  it('in any order charge the sum of what was used, and pass a cap by no more than their estimates were wrong (judgement §6.13)', async () => {
    const seen = { passed: 0, refused: 0, over: 0 };
    const messages = fc.array(
      fc.record({
        sender: fc.constantFrom('ann', 'ben'),
        agentId: fc.constantFrom('one', 'two'),
        tokens: fc.integer({ min: 0, max: 40 }),
        steps: fc.array(fc.nat({ max: 3 }), { maxLength: 3 }),
      }),
      { minLength: 4, maxLength: 16 },
    );
    await fc.assert(
      fc.asyncProperty(messages, fc.integer({ min: 20, max: 120 }), async (given, tokens) => {
        const estimate = 20;
        const config = {
          ...{ perPrincipal: { tokens }, perAgent: { tokens: 90 }, total: { tokens: 130 } },
          estimate: { tokens: estimate },
        };
        await using test = await loadForTest(budget, { config });
        const used = new Map<string, { tokens: number; over: number }>();
        const wait = async (steps: number): Promise<void> => {
          for (let at = 0; at < steps * 5; at++) await Promise.resolve();
        };
        await Promise.all(
          given.map(async ({ sender, agentId, tokens: totalTokens, steps }, at) => {
            const run = { id: `m-${at}`, runId: `r-${at}`, sender, agentId, model: 'm' };
            await wait(steps[0] ?? 0);
            const { status } = await arrive(test, run);
            seen[status === 'passed' ? 'passed' : 'refused'] += 1;
            if (status !== 'passed') return;
            await wait(steps[1] ?? 0);
            await start(test, run);
            await wait(steps[2] ?? 0);
            await complete(test, run, { totalTokens });
            for (const name of [`telegram:${sender}`, agentId, 'all']) {
              const before = used.get(name) ?? { tokens: 0, over: 0 };
              const over = before.over + Math.max(0, totalTokens - estimate);
              used.set(name, { tokens: before.tokens + totalTokens, over });
            }
          }),
        );
        const caps = { perPrincipal: tokens, perAgent: 90, total: 130 };
        for (const [capName, most] of Object.entries(caps))
          for (const account of await accountsOf(test.store, capName)) {
            const { tokens: sum = 0, over = 0 } = used.get(account.name) ?? {};
            expect(account).toMatchObject({ used: { tokens: sum }, guessed: 0, holds: {} });
            expect(sum).toBeLessThanOrEqual(most + over);
            if (sum > most) seen.over += 1;
          }
      }),
      { numRuns },
    );
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(0);
  });
});

describe('after a restart', () => {
  it('the accounts are there, and a message that is claimed again has one reservation (judgement §6.10)', async () => {
    const clock = virtualClock();
    const kept = { clock, journal: memoryJournal({ clock }), store: memoryStore() };
    const config = { perPrincipal: { tokens: 100 }, estimate: { tokens: 60 } };
    const report = ({ prompt }: { readonly prompt: string }): Promise<Reported> | Reported =>
      prompt === 'hang' ? new Promise(() => undefined) : { output: 10 };
    {
      await using before = await hostOf(config, report, kept);
      void before.channel.receive({ text: 'hang' }, 'u-1');
      await vi.waitFor(async () => {
        const [account] = await keptIn(before, 'perPrincipal');
        expect(Object.values(account?.holds ?? {})).toMatchObject([{ runId: 'run-1' }]);
      }, 60_000);
    }
    // the host stopped the turn in good order: that run has told its end, and not what it used
    expect(await keptIn(kept, 'perPrincipal')).toMatchObject([
      { used: { tokens: 0 }, guessed: 0, holds: {} },
    ]);
    await using after = await hostOf(config, () => ({ output: 10 }), kept);
    await vi.waitFor(() => expect(after.ends).toHaveLength(1), 60_000);
    expect(after.ends).toMatchObject([{ status: 'answered' }]);
    expect(await keptIn(after, 'perPrincipal')).toMatchObject([
      { used: { tokens: 10 }, guessed: 0, holds: {} },
    ]);
  });

  it('of a host that has died, the run that it left is charged its estimate when its message begins again (judgement §6.10)', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-budget-'));
    try {
      const config = { perPrincipal: { tokens: 1_000 }, estimate: { tokens: 60 } };
      const run = { id: 'm-1', sender: 'ann', model: 'm' };
      const path = join(folder, 'sluice.db');
      const clock = virtualClock();
      /** A process: it loads the extension beside the journal, and is gone without an end of what runs. */
      const life = async (work: (test: TestHost) => Promise<void>): Promise<void> => {
        const journal = await openJournal(path, { clock });
        try {
          const options = { clock, journal, store: journal.store, channel: fakeChannel() };
          await using test = await hostOf(config, undefined, options);
          await work(test);
        } finally {
          await journal.close();
        }
      };
      const begin = async (test: TestHost, runId: string): Promise<void> => {
        await arrive(test, run);
        await start(test, { ...run, runId });
      };
      await life((test) => begin(test, 'r-1'));
      await life(async (test) => {
        expect(await keptIn(test, 'perPrincipal')).toMatchObject([{ used: { tokens: 0 } }]);
        await begin(test, 'r-2');
        const [during] = await keptIn(test, 'perPrincipal');
        expect(during).toMatchObject({ used: { tokens: 60 }, guessed: 1 });
        expect(Object.values(during?.holds ?? {})).toMatchObject([{ tokens: 60, runId: 'r-2' }]);
        await complete(test, { ...run, runId: 'r-2' }, { totalTokens: 9 });
        expect(await keptIn(test, 'perPrincipal')).toMatchObject([
          { used: { tokens: 69 }, guessed: 1, holds: {} },
        ]);
      });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe('/budget', () => {
  const config = {
    ...{ perPrincipal: { tokens: 1_000, usd: 1 }, perSession: { tokens: 5_000 } },
    ...{ perAgent: { usd: 20 }, total: { usd: 50 }, byRole: { owner: false } },
    estimate: { tokens: 100, usd: 0.05 },
  };
  const report = ({ prompt }: { readonly prompt: string }): Reported =>
    prompt === 'silence' ? undefined : { output: Number(prompt), costUsd: Number(prompt) / 10_000 };

  it('shows its sender what is used, reserved and left, and of others nothing (judgement §6.15)', async () => {
    await using test = await hostOf(config, report);
    await said(test, '250');
    await said(test, 'silence');
    await said(test, '/budget');
    expect(test.replies().at(-1)).toBe(
      [
        'Budget of 2026-03-15',
        'You: 350 tokens used, 650 tokens left of 1,000 tokens; $0.075 used, $0.925 left of $1.00 (1 run is estimated)',
        'This session: 350 tokens used, 4,650 tokens left of 5,000 tokens; $0.075 used (1 run is estimated)',
      ].join('\n'),
    );
    await test.say({ text: '/budget', from: 'bob', conversation: 'fake:bob' });
    expect(test.replies().at(-1)).toBe(
      [
        'Budget of 2026-03-15',
        'You: 0 tokens used, 1,000 tokens left of 1,000 tokens; $0.00 used, $1.00 left of $1.00',
        'This session: 0 tokens used, 5,000 tokens left of 5,000 tokens',
      ].join('\n'),
    );
  });

  it('shows an owner the agent, all together and the principals who have used most; it waits for no turn (judgement §6.15)', async () => {
    const roles = { owner: ['fake:boss'] };
    const open = door();
    const waiting = async (request: { readonly prompt: string }): Promise<Reported> => {
      if (request.prompt === '7') await open.opened;
      return report(request);
    };
    await using test = await hostOf(config, waiting, { roles });
    await said(test, '300', 'ada');
    for (let at = 1; at <= 11; at++) await said(test, `${at * 10}`, `p-${at}`);
    const turn = said(test, '7', 'boss');
    await vi.waitFor(async () => {
      const all = await keptIn(test, 'perPrincipal');
      const boss = all.find(({ name }) => name === 'fake:boss');
      expect(Object.values(boss?.holds ?? {})).toMatchObject([{ runId: expect.any(String) }]);
    }, 60_000);
    await said(test, '/budget', 'boss');
    expect(test.replies().at(-1)?.split('\n')).toEqual([
      'Budget of 2026-03-15',
      'You: 0 tokens used, 100 tokens reserved; $0.00 used, $0.05 reserved',
      'This session: 0 tokens used, 100 tokens reserved, 4,900 tokens left of 5,000 tokens; $0.00 used, $0.05 reserved',
      'This agent: 960 tokens used, 100 tokens reserved; $0.096 used, $0.05 reserved, $19.854 left of $20.00',
      'All together: 960 tokens used, 100 tokens reserved; $0.096 used, $0.05 reserved, $49.854 left of $50.00',
      'fake:ada: 300 tokens used; $0.03 used',
      ...[11, 10, 9, 8, 7, 6, 5, 4, 3].map(
        (at) =>
          `fake:p-${at}: ${at * 10} tokens used; $0.0${at < 10 ? `0${at}` : at === 10 ? '1' : '11'} used`,
      ),
      'and 3 more',
    ]);
    open.open();
    await turn;
  });

  it('reset empties the accounts of the day for an owner alone, and leaves the reservations (judgement §6.15)', async () => {
    const roles = { owner: ['fake:boss'] };
    await using test = await hostOf(
      { perPrincipal: { tokens: 100 }, estimate: { tokens: 100 } },
      undefined,
      { roles },
    );
    const reply = async (text: string, from: string): Promise<string | undefined> => {
      await said(test, text, from);
      return test.replies().at(-1);
    };
    await reply('100', 'ada');
    await reply('100', 'bob');
    expect(await reply('/budget reset', 'ada')).toBe('Only an owner may reset the budget.');
    expect(await reply('/budget reset fake:eve', 'boss')).toBe(
      'Nothing is used under the name "fake:eve".',
    );
    expect(await reply('/budget reset fake:ada', 'boss')).toBe('1 account is empty.');
    expect(await reply('1', 'ada')).toBe('1');
    expect(await reply('2', 'bob')).toMatch(/used up/);
    expect(await reply('/budget reset', 'boss')).toBe('2 accounts are empty.');
    expect(await reply('3', 'bob')).toBe('3');
    expect(await reply('/budget rest', 'boss')).toBe(
      'Write /budget, or /budget reset [NAME] as an owner.',
    );
  });

  it('says that a sender without a cap has none', async () => {
    await using test = await hostOf({ total: { usd: 5 } });
    await said(test, '/budget');
    expect(test.replies()).toEqual(['Budget of 2026-03-15\nYou have no cap of your own.']);
  });
});
