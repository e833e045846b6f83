import { defineExtension, type Given, select } from 'sluice';
import {
  expectCancelled,
  expectFailed,
  expectPassed,
  type LoadedForTest,
  loadForTest,
  samplePayload,
  startTestHost,
  virtualClock,
} from 'sluice/testing';
import { describe, expect, it } from 'vitest';
import budget from '../src/index.js';
import {
  accountsOf,
  arrive,
  complete,
  givenOf,
  type Kept,
  type Run,
  spender,
  start,
} from './budget-lab.js';

const estimate = { tokens: 100 };
const cap = { tokens: 250 };
const refused = { code: 'budget-exceeded', by: 'budget/caps' } as const;
/** It begins at midnight in UTC. */
const lab = (config: object): Promise<LoadedForTest> =>
  loadForTest(budget, { config, clock: virtualClock(Date.UTC(2026, 0, 1)) });

/** Lets a message arrive, and its run use some tokens. */
async function spend(test: LoadedForTest, run: Run, totalTokens: number): Promise<void> {
  expectPassed(await arrive(test, run));
  await start(test, { model: 'm', ...run });
  await complete(test, { model: 'm', ...run }, { totalTokens });
}

describe('a cap of each principal', () => {
  it('lets messages in while used, reserved and the estimate fit in it, and then says so (judgement §6.9)', async () => {
    await using test = await lab({ perPrincipal: cap, estimate });
    expectPassed(await arrive(test, { id: 'm-1', sender: 'ann' }));
    expectPassed(await arrive(test, { id: 'm-2', sender: 'ann' }));
    const { cancel } = expectCancelled(await arrive(test, { id: 'm-3', sender: 'ann' }), refused);
    expect(cancel).toMatchObject({
      text: 'perPrincipal: of 250 tokens on 2026-01-01, 0 are used and 200 are reserved',
      details: { cap: 'perPrincipal', unit: 'tokens', limit: 250, used: 0, reserved: 200 },
      reply: 'The budget of today is used up. /budget shows it.',
    });
    expectPassed(await arrive(test, { id: 'm-4', sender: 'ben' }));
  });

  it('holds what a run has really used once it has ended (judgement §6.11)', async () => {
    await using test = await lab({ perPrincipal: cap, estimate });
    await spend(test, { id: 'm-1', runId: 'r-1', sender: 'ann' }, 30);
    await spend(test, { id: 'm-2', runId: 'r-2', sender: 'ann' }, 119);
    expect(await accountsOf(test.store, 'perPrincipal')).toEqual([
      {
        name: 'telegram:ann',
        used: { tokens: 149, microUsd: 0 },
        guessed: 0,
        holds: {},
        cap: { tokens: 250 },
      },
    ]);
    await spend(test, { id: 'm-3', runId: 'r-3', sender: 'ann' }, 500); // an estimate may be wrong
    expectCancelled(await arrive(test, { id: 'm-4', sender: 'ann' }), refused);
  });

  it('holds for him in all conversations, and for all unproven senders of one together (judgement §6.8)', async () => {
    await using test = await lab({ perPrincipal: { tokens: 100 }, estimate });
    expectPassed(await arrive(test, { id: 'm-1', sender: 'ann', conversation: 'c-1' }));
    expectCancelled(await arrive(test, { id: 'm-2', sender: 'ann', conversation: 'c-2' }), refused);
    expectPassed(await arrive(test, { id: 'm-3', conversation: 'c-1' }));
    expectCancelled(await arrive(test, { id: 'm-4', conversation: 'c-1' }), refused);
    expectPassed(await arrive(test, { id: 'm-5', conversation: 'c-2' }));
  });

  it('may be another for a role; an owner has the role owner, and false is no cap (judgement §6.7)', async () => {
    const byRole = { owner: false, staff: { tokens: 200 } };
    await using test = await lab({ perPrincipal: { tokens: 100 }, byRole, estimate });
    const passed = async (times: number, who: object): Promise<void> => {
      for (let at = 0; at < times; at++)
        expectPassed(await arrive(test, { id: `${JSON.stringify(who)} ${at}`, ...who }));
    };
    await passed(1, { sender: 'ann' });
    expectCancelled(await arrive(test, { id: 'a', sender: 'ann' }), refused);
    await passed(2, { sender: 'sam', roles: ['staff'] });
    expectCancelled(await arrive(test, { id: 's', sender: 'sam', roles: ['staff'] }), refused);
    await passed(5, { sender: 'boss', isOwner: true, roles: ['owner', 'staff'] });
    const counted = await accountsOf(test.store, 'perPrincipal');
    const boss = counted.find(({ name }) => name === 'telegram:boss');
    expect(Object.keys(boss?.holds ?? {})).toHaveLength(5); // counted all the same
  });
});

describe('several caps', () => {
  it('must all hold, and a message that one refuses reserves under none (judgement §6.9)', async () => {
    const config = {
      ...{ perPrincipal: { tokens: 1_000 }, perSession: { tokens: 300 } },
      ...{ perAgent: { tokens: 200 }, total: { tokens: 500 }, estimate },
    };
    await using test = await lab(config);
    const to = (agentId: string, id: string, sessionKey = `s-${agentId}`) =>
      arrive(test, { id, sender: 'ann', agentId, sessionKey });
    expectPassed(await to('one', 'm-1'));
    expectPassed(await to('one', 'm-2'));
    const before = await test.store.list();
    const third = expectCancelled(await to('one', 'm-3'), refused);
    expect(third.cancel.details).toMatchObject({ cap: 'perAgent', limit: 200, reserved: 200 });
    expect((await test.store.list()).map(({ value }) => value)).toEqual(
      before.map(({ value }) => value),
    );
    expectPassed(await to('two', 'm-4', 's-one'));
    const fourth = expectCancelled(await to('three', 'm-5', 's-one'), refused);
    expect(fourth.cancel.details).toMatchObject({ cap: 'perSession', limit: 300 });
    expectPassed(await to('three', 'm-6'));
    expectPassed(await to('four', 'm-7'));
    const all = expectCancelled(await to('five', 'm-8'), refused);
    expect(all.cancel.details).toMatchObject({ cap: 'total', limit: 500, reserved: 500 });
  });

  it('of one agent is in byAgent; false is none (judgement §6.7)', async () => {
    const byAgent = { coder: { tokens: 300 }, free: false };
    await using test = await lab({ perAgent: { tokens: 100 }, byAgent, estimate });
    const passed = async (agentId: string): Promise<number> => {
      for (let at = 0; ; at++)
        if (
          at === 5 ||
          (await arrive(test, { id: `${agentId} ${at}`, agentId })).status !== 'passed'
        )
          return at;
    };
    expect([await passed('main'), await passed('coder'), await passed('free')]).toEqual([1, 3, 5]);
  });

  it('count money in millionths of a dollar (judgement §6.12)', async () => {
    await using test = await lab({ total: { usd: 0.25, tokens: 1e9 }, estimate: { usd: 0.07 } });
    const run = { id: 'm-1', runId: 'r-1', sender: 'ann', model: 'm' };
    expectPassed(await arrive(test, run));
    await start(test, run);
    await complete(test, run, { totalTokens: 5, costUsd: 0.1100001 });
    const [all] = await accountsOf(test.store, 'total');
    expect(all?.used).toEqual({ tokens: 5, microUsd: 110_001 });
    expectPassed(await arrive(test, { id: 'm-2' }));
    const { cancel } = expectCancelled(await arrive(test, { id: 'm-3' }), refused);
    expect(cancel.details).toMatchObject({ unit: 'microUsd', limit: 250_000, reserved: 70_000 });
  });
});

describe('a reservation', () => {
  it('is made once for a message, however often it is judged (judgement §6.10)', async () => {
    await using test = await lab({ perPrincipal: { tokens: 100 }, estimate });
    for (let times = 0; times < 3; times++)
      expectPassed(await arrive(test, { id: 'm-1', sender: 'ann' }));
    expectCancelled(await arrive(test, { id: 'm-2', sender: 'ann' }), refused);
  });

  it('is none for a command, so /budget works when nothing is left (judgement §6.9)', async () => {
    await using test = await lab({ perPrincipal: { tokens: 100 }, estimate });
    expectPassed(await arrive(test, { id: 'm-1', sender: 'ann', content: '/budget' }));
    expect(await test.store.list()).toEqual([]);
    expectPassed(await arrive(test, { id: 'm-2', sender: 'ann' }));
    expectPassed(await arrive(test, { id: 'm-3', sender: 'ann', content: ' /new please' }));
    expectCancelled(
      await arrive(test, { id: 'm-4', sender: 'ann', content: '/etc/hosts' }),
      refused,
    );
  });

  it('is over after 10 minutes if no run begins (judgement §6.10)', async () => {
    await using test = await lab({ perPrincipal: { tokens: 100 }, estimate });
    expectPassed(await arrive(test, { id: 'm-1', sender: 'ann' }));
    await test.clock.advance(599_999);
    expectCancelled(await arrive(test, { id: 'm-2', sender: 'ann' }), refused);
    await test.clock.advance(1);
    expectPassed(await arrive(test, { id: 'm-3', sender: 'ann' }));
    const [account] = await accountsOf(test.store, 'perPrincipal');
    expect(Object.keys(account?.holds ?? {})).toHaveLength(1);
  });

  it('stays with a run that has begun, also if that never tells its end, and to the end of the day (judgement §6.10)', async () => {
    await using test = await lab({ perPrincipal: { tokens: 100 }, estimate });
    const run = { id: 'm-1', runId: 'r-1', sender: 'ann', model: 'm' };
    expectPassed(await arrive(test, run));
    await start(test, run);
    await test.clock.advance(20 * 3_600_000);
    expectCancelled(await arrive(test, { id: 'm-2', sender: 'ann' }), refused);
    await test.clock.advance(4 * 3_600_000);
    expectPassed(await arrive(test, { id: 'm-3', sender: 'ann' }));
  });

  it('is made again by an attempt after a failed one, and by a run that came too late, without a refusal (judgement §6.10, judgement §6.13)', async () => {
    await using test = await lab({ perPrincipal: { tokens: 100 }, estimate });
    const run = { id: 'm-1', runId: 'r-1', sender: 'ann', model: 'm' };
    const reserved = async (): Promise<number> => {
      const [account] = await accountsOf(test.store, 'perPrincipal');
      return Object.values(account?.holds ?? {}).reduce((sum, { tokens }) => sum + tokens, 0);
    };
    expectPassed(await arrive(test, run));
    await test.clock.advance(600_000);
    await start(test, run);
    expect(await reserved()).toBe(100);
    await complete(test, run, { totalTokens: 40 });
    expect(await reserved()).toBe(0);
    await start(test, run);
    expect(await reserved()).toBe(100);
    await complete(test, run, { totalTokens: 50 });
    const [account] = await accountsOf(test.store, 'perPrincipal');
    expect([await reserved(), account?.used.tokens]).toEqual([0, 90]);
  });

  it('is not that of a run within the run, whose usage is charged to the same principal (judgement §6.11)', async () => {
    await using test = await lab({ perPrincipal: { tokens: 100 }, estimate });
    const run = { id: 'm-1', runId: 'r-1', sender: 'ann', model: 'm' };
    const child = { ...run, runId: 'child' };
    expectPassed(await arrive(test, run));
    await start(test, run);
    await start(test, child);
    await complete(test, child, { totalTokens: 7 });
    const [during] = await accountsOf(test.store, 'perPrincipal');
    expect(Object.values(during?.holds ?? {})).toEqual([
      { tokens: 100, microUsd: 0, runId: 'r-1' },
    ]);
    await complete(test, run, { totalTokens: 30 });
    const [after] = await accountsOf(test.store, 'perPrincipal');
    expect(after).toMatchObject({ used: { tokens: 37 }, guessed: 0, holds: {} });
  });

  it('is left under no cap if the message is refused when it is judged again (judgement §6.9)', async () => {
    const config = { byAgent: { two: { tokens: 50 } }, total: { tokens: 1_000 } };
    await using test = await lab({ ...config, estimate: { tokens: 50 } });
    expectPassed(await arrive(test, { id: 'm-1', agentId: 'two' }));
    expectPassed(await arrive(test, { id: 'm-2', agentId: 'one' }));
    expectCancelled(await arrive(test, { id: 'm-2', agentId: 'two' }), refused);
    const [all] = await accountsOf(test.store, 'total');
    expect(Object.keys(all?.holds ?? {})).toHaveLength(1);
  });

  it('is for the agent that a later resolver chooses, too (judgement §6.8)', async () => {
    const extension = defineExtension({
      id: 'z-chooser',
      setup: (api) =>
        api.resolve('routing.resolving', 'late', { priority: -2_000 }, () =>
          select({ agentId: 'late' }, { rank: 5 }),
        ),
    });
    const provider = spender(() => ({ input: 1 }));
    const agents = ['main', 'late'].map((id) => ({ id, provider }));
    await using test = await startTestHost({
      agents,
      extensions: [
        {
          extension: budget,
          config: { byAgent: { late: { tokens: 50 } }, estimate: { tokens: 50 } },
        },
        extension,
      ],
    });
    expect((await test.say('one')).agentId).toBe('late');
    const end = await test.say('two');
    expect(end.outcomes.find(({ event }) => event.family === 'routing.resolving')).toMatchObject({
      cancel: { code: 'budget-exceeded', details: { cap: 'perAgent' } },
    });
  });

  it('is one of at most 1,000 of an account without a cap (judgement §6.9)', async () => {
    const config = { total: { tokens: 1e6 }, byRole: { owner: false }, estimate: { tokens: 1 } };
    await using test = await lab(config);
    const boss = { sender: 'boss', isOwner: true };
    expectPassed(await arrive(test, { id: 'm-1', ...boss }));
    const [entry] = await test.store.list('2026-01-01/perPrincipal/');
    const account = entry?.value as Kept; // as the extension has written it
    const [hold = { tokens: 1, microUsd: 0, runId: 'r' }] = Object.values(account.holds);
    const others = Array.from({ length: 998 }, (_, at) => [`other-${at}`, hold]);
    const holds = { ...account.holds, ...Object.fromEntries(others) };
    await test.store.set(entry?.key ?? '', { ...account, holds });
    expectPassed(await arrive(test, { id: 'm-1000', ...boss }));
    const { cancel } = expectCancelled(await arrive(test, { id: 'more', ...boss }), refused);
    expect(cancel.details).toMatchObject({ unit: 'reservations', limit: 1_000 });
  });
});

describe('a run', () => {
  it('without usage is charged the estimate, if its model was called (judgement §6.12)', async () => {
    await using test = await lab({ perPrincipal: { tokens: 1_000 }, estimate });
    const silent = { id: 'm-1', runId: 'r-1', sender: 'ann', model: 'm' };
    await start(test, silent);
    await complete(test, silent, undefined);
    const broken = { id: 'm-2', runId: 'r-2', sender: 'ann' };
    await start(test, broken);
    await complete(test, broken, undefined);
    const [account] = await accountsOf(test.store, 'perPrincipal');
    expect(account).toMatchObject({ used: { tokens: 100 }, guessed: 1, holds: {} });
  });

  it('that no message began is charged to its agent, its session and all (judgement §6.11)', async () => {
    const config = { perPrincipal: cap, perSession: cap, perAgent: cap, total: cap, estimate };
    await using test = await lab(config);
    const { kernel } = test;
    const payload = { agentId: 'main', sessionKey: 's-9', success: true };
    await kernel.dispatch('agent.completed', { ...payload, usage: { totalTokens: 7 } });
    const names = ['perPrincipal', 'perSession', 'perAgent', 'total'];
    const used = await Promise.all(names.map((name) => accountsOf(test.store, name)));
    expect(used.map((all) => all.map(({ name, used: { tokens } }) => [name, tokens]))).toEqual([
      [],
      [['s-9', 7]],
      [['main', 7]],
      [['all', 7]],
    ]);
  });

  it('is charged to the day in which it ends, in the time zone of the settings (judgement §6.7, judgement §6.11)', async () => {
    const config = { perPrincipal: { tokens: 100 }, estimate, timeZone: 'America/New_York' };
    await using test = await lab(config); // it is 19:00 in New York
    const run = { id: 'm-1', runId: 'r-1', sender: 'ann', model: 'm' };
    expectPassed(await arrive(test, run));
    await start(test, run);
    await test.clock.advance(5 * 3_600_000 - 1);
    expectCancelled(await arrive(test, { id: 'm-2', sender: 'ann' }), refused);
    await test.clock.advance(1);
    expectPassed(await arrive(test, { id: 'm-3', sender: 'ann' }));
    await complete(test, run, { totalTokens: 60 });
    const days = new Map(
      (await test.store.list()).map(({ key, value }) => [key.split('/')[0], value]),
    );
    expect([...days.keys()]).toEqual(['2025-12-31', '2026-01-01']);
    expect(days.get('2026-01-01')).toMatchObject({ used: { tokens: 60 } });
    expectCancelled(await arrive(test, { id: 'm-4', sender: 'ann' }), refused);
  });
});

describe('the accounts', () => {
  it('of principals differ by channel and sender, and those of unproven senders by account, whatever the ids hold (judgement §6.8)', async () => {
    await using test = await lab({ perPrincipal: { tokens: 100 }, estimate });
    const { message, ...sample } = samplePayload('routing.resolving');
    const payload = { ...sample, message: { ...message, content: 'hello' } };
    let count = 0;
    const arriving = (given: Given) => {
      const id = `m-${++count}`;
      const routed = { ...payload, explicitRoute: { agentId: 'main' } };
      return test.kernel.dispatch('routing.resolving', routed, { ...givenOf({ id }), ...given });
    };
    const by = (channel: string, senderId: string): Given => ({
      principal: { channel, senderId, accountId: 'default', isOwner: false, roles: [] },
    });
    const at = (channel: string, id: string): Given => ({ accountRef: { channel, id } });
    const senders = [by('a', 'b'), by('c', 'b'), by('a', 'b:c'), by('a:b', 'c'), by('a","b', 'c')];
    for (const given of [
      ...senders,
      by('a', 'b","c'),
      at('telegram', 'one'),
      at('telegram', 'two'),
    ]) {
      expectPassed(await arriving(given));
      expectCancelled(await arriving(given), refused);
    }
  });

  it('of sessions are found for a route that names none (judgement §6.8)', async () => {
    await using test = await lab({ perSession: { tokens: 100 }, estimate });
    expectPassed(await arrive(test, { id: 'm-1', conversation: 'c-1' }));
    expectCancelled(await arrive(test, { id: 'm-2', conversation: 'c-1' }), refused);
    expectPassed(await arrive(test, { id: 'm-3', conversation: 'c-2' }));
    const names = (await accountsOf(test.store, 'perSession')).map(({ name }) => name);
    expect(names.toSorted()).toEqual(['agent:main:telegram:c-1', 'agent:main:telegram:c-2']);
  });

  it('are there to the end of a day of 26 hours (judgement §6.14)', async () => {
    await using test = await loadForTest(budget, {
      config: { total: { tokens: 100 }, estimate, timeZone: 'Antarctica/Troll' },
      clock: virtualClock(Date.UTC(2026, 9, 24, 22)), // midnight; two hours come twice
    });
    const run = { id: 'm-1', runId: 'r-1', model: 'm' };
    expectPassed(await arrive(test, run));
    await start(test, run);
    await complete(test, run, { totalTokens: 100 });
    await test.clock.advance(26 * 3_600_000 - 1);
    expectCancelled(await arrive(test, { id: 'm-2' }), refused);
    await test.clock.advance(1);
    expectPassed(await arrive(test, { id: 'm-3' }));
  });

  it('are gone when their day is, so senders who are silent take no room (judgement §6.14)', async () => {
    await using test = await lab({
      perPrincipal: cap,
      perSession: cap,
      total: cap,
      estimate: { tokens: 1 },
    });
    for (let day = 0; day < 5; day++) {
      for (let at = 0; at < 20; at++)
        expectPassed(await arrive(test, { id: `${day} ${at}`, sender: `s-${day}-${at}` }));
      expect((await test.store.list()).length).toBeLessThanOrEqual(44);
      await test.clock.advance(24 * 3_600_000);
    }
    await test.clock.advance(2 * 3_600_000);
    expect(await test.store.list()).toEqual([]);
  });

  it.each([false, true])(
    'that cannot be written let a message go unless failClosed is true: %s (judgement §6.14)',
    async (failClosed) => {
      await using test = await lab({ perPrincipal: cap, estimate, failClosed });
      await Promise.all(
        Array.from({ length: 10_000 }, (_, at) => test.store.set(`other/${at}`, 1)),
      );
      const outcome = await arrive(test, { id: 'm-1', sender: 'ann' });
      if (failClosed) expectFailed(outcome, 'threw');
      else
        expect(expectPassed(outcome).failures).toMatchObject([{ kind: 'threw', policy: 'open' }]);
    },
  );

  it('have short keys and names, whatever the ids are', async () => {
    await using test = await lab({ perPrincipal: cap, perSession: cap, estimate });
    const odd = `${'x'.repeat(2_000)}\n\ud800`;
    expectPassed(await arrive(test, { id: odd, sender: odd, conversation: odd, sessionKey: odd }));
    const all = await test.store.list();
    expect(all).toHaveLength(2);
    expect(JSON.stringify(all).length).toBeLessThan(1_000);
  });
});

it('takes a name of an object for an ordinary one', async () => {
  await using test = await lab({ perAgent: { tokens: 100 }, estimate });
  expectPassed(await arrive(test, { id: 'm-1', agentId: 'constructor' }));
  expectCancelled(await arrive(test, { id: 'm-2', agentId: 'constructor' }), refused);
  expect(givenOf({ id: 'x' }).principal).toBeNull();
});

describe('the settings', () => {
  it.each([
    [{}, 'must have a cap: perPrincipal, perSession, perAgent, total, byRole or byAgent'],
    [{ perPrincipal: {} }, 'config.perPrincipal: must have tokens, usd or both'],
    [{ perPrincipal: { tokens: 1.5 } }, 'config.perPrincipal.tokens: must be a whole number'],
    [{ total: { usd: 0 } }, 'config.total.usd'],
    [{ total: { dollars: 5 } }, 'Unrecognized key: "dollars"'],
    [
      { total: { tokens: 9_999 } },
      'config.total.tokens: is less than estimate.tokens, so no message could pass: set a lower estimate',
    ],
    [{ byRole: { staff: { usd: 0.01 } } }, 'config.byRole.staff.usd: is less than estimate.usd'],
    [{ byRole: { staff: true } }, 'config.byRole.staff: must be { tokens, usd } or false'],
    [{ total: { usd: 1 }, timeZone: 'Mars' }, 'must be a time zone such as "Europe/Berlin"'],
    [{ total: { usd: 1 }, prices: { m: { input: 1 } } }, 'config.prices.m.output'],
    [{ total: { usd: 1 }, reply: true }, 'config.reply: must be a text or false'],
    [{ total: { usd: 1 }, perDay: { usd: 1 } }, 'Unrecognized key: "perDay"'],
  ])('%j are refused', async (config, message) => {
    await expect(loadForTest(budget, { config })).rejects.toThrow(message);
  });
});
