import { describe, expect, it } from 'vitest';
import { allow, ask, cancel } from '../../../src/kernel/internal.js';
import { explained } from '../../support/explained.js';
import { createLab, type LabGiven, type LabHandler } from '../../support/kernel-lab.js';
import { askingStages, labSample } from '../../support/kernel-stages.js';

const family = 'lab.asking';
const may = ask({ title: 'May I?' });

function lab(on = family) {
  const { kernel } = createLab({ stages: askingStages, trace: true });
  const add = (
    id: string,
    handler: LabHandler,
    more: { failClosed?: boolean; recheck?: boolean; class?: 'mutator' | 'resolver' } = {},
  ) => kernel.contribute({ family: on, class: 'veto', id, handler, ...more });
  const run = (given?: LabGiven, payload = labSample()) => kernel.run(on, payload, given);
  return { kernel, add, run };
}

describe('a question to a human (judgement §4.3)', () => {
  it('is no objection while the stage runs, and a cancel of its end', async () => {
    const { add, run } = lab();
    const called: string[] = [];
    add('a', () => may);
    add('b', () => void called.push('b'));
    const outcome = await run();
    expect(called).toEqual(['b']);
    expect(outcome).toMatchObject({
      status: 'cancelled',
      cancel: {
        code: 'approval-required',
        contributionId: 'a',
        text: 'an approval is needed: May I?',
        question: {
          asker: { extensionId: 'x', contributionId: 'a' },
          title: 'May I?',
          of: 'owner',
          scopes: [],
        },
      },
    });
    expect(outcome.steps.map(({ result }) => result)).toEqual(['asked', 'nothing']);
    expect(Object.isFrozen(outcome.cancel?.question)).toBe(true);
  });

  it('is weaker than a cancel and stronger than an allow, whatever the order', async () => {
    for (const order of ['ask cancel allow', 'allow cancel ask', 'ask allow', 'allow ask']) {
      const { add, run } = lab();
      const results: Record<string, unknown> = {
        ask: may,
        allow: allow(),
        cancel: cancel('policy'),
      };
      order.split(' ').forEach((name, i) => {
        add(`${i}`, () => results[name]);
      });
      const code = order.includes('cancel') ? 'policy' : 'approval-required';
      expect((await run()).cancel?.code).toBe(code);
    }
  });

  it('gives way to a failure that closes the stage', async () => {
    const { add, run } = lab();
    add('a', () => may);
    add('b', () => undefined, { failClosed: true });
    expect((await run()).status).toBe('failed');
  });

  it('names the first of several, in run order', async () => {
    const { add, run } = lab();
    add('a', ({ payload }) => (payload.title === 'changed' ? ask({ title: 'Again?' }) : may));
    add('b', () => ({ title: 'changed' }), { class: 'mutator' });
    add('c', () => may);
    expect((await run()).cancel?.question).toMatchObject({ title: 'Again?' });
  });

  it('is replaced by what the veto says when it judges again', async () => {
    for (const [again, status] of [
      [() => allow(), 'passed'],
      [() => undefined, 'passed'],
      [() => cancel('policy'), 'cancelled'],
    ] as const) {
      const { add, run } = lab();
      add('a', (call) => (call.pass === 'first' ? may : again()));
      add('b', () => ({ title: 'changed' }), { class: 'mutator' });
      expect((await run()).status).toBe(status);
    }
  });

  it('stands if the veto fails when it judges again', async () => {
    const { add, run } = lab();
    add('a', (call) => {
      if (call.pass === 'first') return may;
      throw new Error('boom');
    });
    add('b', () => ({ title: 'changed' }), { class: 'mutator' });
    expect(await run()).toMatchObject({
      status: 'cancelled',
      cancel: { code: 'approval-required' },
      failures: [{ kind: 'threw', policy: 'open' }],
    });
  });

  it('stands if the veto wrote to its payload', async () => {
    const { add, run } = lab();
    add('a', () => ({ title: 'changed' }), { class: 'mutator' });
    add('b', ({ payload }) => {
      payload.title = 'written';
      return may;
    });
    const outcome = await run();
    expect(outcome.failures.map(({ kind }) => kind)).toContain('wrote-payload');
    expect(outcome.cancel?.code).toBe('approval-required');
  });

  it('carries the onAnswer of its asker beside its data, and a failure of it harms nobody (judgement §4.26)', async () => {
    const { add, run } = lab();
    const heard: unknown[] = [];
    const onAnswer = (answer: string): void => {
      heard.push(answer);
      throw new Error('no');
    };
    add('a', () => ask({ title: 'May I?', onAnswer }));
    const question = (await run()).cancel?.question;
    expect(JSON.parse(JSON.stringify(question))).toEqual({ ...question });
    expect({ ...question }).not.toHaveProperty('onAnswer');
    question?.onAnswer?.('denied');
    await new Promise(setImmediate);
    expect(heard).toEqual(['denied']);
  });

  it('is told by an explanation', async () => {
    const { add, run } = lab();
    add('a', () =>
      ask({
        title: 'Deploy?',
        text: 'To production.',
        of: { role: 'admin' },
        timeoutMs: 60_000,
        scopes: ['session', 'principal'],
      }),
    );
    const lines = explained(await run());
    expect(lines.slice(0, 3)).toEqual([
      'lab.asking cancelled by x/a: approval-required, "an approval is needed: Deploy?"',
      '  x/a asks the role admin: "Deploy?", within 60000 ms, "always" for this session or principal',
      '  it says: "To production."',
    ]);
  });

  it('is told as stale if its veto declined to judge again what changed (judgement §4.6)', async () => {
    const { add, run } = lab();
    add('a', () => may, { recheck: false });
    add('b', () => ({ title: 'changed' }), { class: 'mutator' });
    const outcome = await run();
    expect(outcome.staleApprovals).toMatchObject([{ contributionId: 'a' }]);
    expect(explained(outcome).join()).toContain('x/a asked before x/b changed it');
  });
});

describe('a question that cannot be asked (judgement §4.4)', () => {
  const hostile = new Proxy(
    { kind: 'ask', title: 'May I?' },
    {
      ownKeys: () => {
        throw new Error('no keys');
      },
    },
  );
  it.each([
    ['no title', { kind: 'ask' }],
    ['an empty title', ask({ title: ' ' })],
    ['a text that is none', { kind: 'ask', title: 'May I?', text: 1 }],
    ['an unknown approver', { kind: 'ask', title: 'May I?', of: 'anybody' }],
    ['a role without a name', { kind: 'ask', title: 'May I?', of: { role: '' } }],
    ['a time that is none', { kind: 'ask', title: 'May I?', timeoutMs: Number.NaN }],
    ['an unknown scope', { kind: 'ask', title: 'May I?', scopes: ['world'] }],
    ['a misspelt field', { kind: 'ask', title: 'May I?', timeout: 5 }],
    ['a function within it', { kind: 'ask', title: 'May I?', text: () => 'x' }],
    ['a proxy that throws', hostile],
  ])('fails closed: %s', async (_, result) => {
    const { add, run } = lab();
    add('a', () => result);
    expect(await run()).toMatchObject({
      status: 'failed',
      failures: [{ kind: 'bad-output', policy: 'closed' }],
    });
  });

  it('fails closed on a family that takes none', async () => {
    const { add, run } = lab('lab.sequential');
    add('a', () => may);
    const { status, failures } = await run();
    expect(status).toBe('failed');
    expect(failures[0]?.message).toContain('lab.sequential takes no question: return cancel()');
  });

  it('fails by the policy of the veto if the payload is a question itself', async () => {
    const { add, run } = lab();
    add('a', () => may);
    expect(await run({}, labSample({ title: 'a question' }))).toMatchObject({
      status: 'passed',
      failures: [{ kind: 'bad-output', policy: 'open' }],
    });
    add('b', () => may, { failClosed: true });
    expect((await run({}, labSample({ title: 'a question' }))).status).toBe('failed');
  });

  it('has no effect if the dispatch can only be observed', async () => {
    const { add, run } = lab();
    add('a', () => may, { failClosed: true });
    expect(await run({ gate: 'observe-only' })).toMatchObject({
      status: 'passed',
      failures: [{ kind: 'observe-only', policy: 'open' }],
    });
  });
});

describe('an answered pass (judgement §4.5)', () => {
  const by = (...ids: string[]) =>
    ids.map((contributionId) => ({ extensionId: 'x', contributionId }));

  it('calls the vetoes alone, on the payload as it was judged, with its selection', async () => {
    const { add, run } = lab();
    const seen: unknown[] = [];
    add('a', ({ pass, payload, selection }) => {
      seen.push([pass, payload.title, selection?.target]);
      return may;
    });
    add('b', () => ({ title: 'changed' }), { class: 'mutator' });
    add('c', () => ({ kind: 'select', target: { to: 'you' }, explicit: true, rank: 0 }), {
      class: 'resolver',
    });
    const asked = await run();
    const outcome = await run({ answered: by('a'), after: asked }, asked.payload);
    expect(seen).toEqual([
      ['first', 'hello', undefined],
      ['recheck', 'changed', { to: 'you' }],
      ['answered', 'changed', { to: 'you' }],
    ]);
    expect(outcome).toMatchObject({
      status: 'passed',
      payload: { title: 'changed' },
      selection: { target: { to: 'you' }, contributionId: 'c' },
      answered: by('a'),
      skipped: [
        { contributionId: 'b', why: 'answered' },
        { contributionId: 'c', why: 'answered' },
      ],
    });
    expect(outcome.toJSON().answered).toEqual(by('a'));
    expect(explained(outcome)[1]).toBe('  a human allowed what x/a had asked');
  });

  it('asks again for a veto whose question was not answered', async () => {
    const { add, run } = lab();
    add('a', () => may);
    add('b', () => ask({ title: 'And I?' }), { recheck: false });
    const asked = await run();
    const second = await run({ answered: by('a'), after: asked }, asked.payload);
    expect(second.cancel?.question?.title).toBe('And I?');
    const third = await run({ answered: by('a', 'b'), after: second }, second.payload);
    expect(third.status).toBe('passed');
  });

  it('keeps the open question of a veto that fails in it, or has no time left (judgement §4.5)', async () => {
    const { add, run } = lab();
    add('a', () => may);
    add('b', ({ pass }) => {
      if (pass === 'first') return ask({ title: 'And I?' });
      throw new Error('boom');
    });
    const asked = await run();
    const second = await run({ answered: by('a'), after: asked }, asked.payload);
    expect(second).toMatchObject({
      status: 'cancelled',
      cancel: { contributionId: 'b', question: { title: 'And I?' } },
      failures: [{ kind: 'threw', policy: 'open' }],
    });
    const third = await run({ answered: by('a', 'b'), after: second }, second.payload);
    expect(third.status).toBe('passed');
  });

  it('keeps the open questions of vetoes that decline to judge again, and does not call them (judgement §4.5)', async () => {
    const { add, run } = lab();
    add('a', () => may);
    let calls = 0;
    for (const id of ['b', 'c'])
      add(
        id,
        ({ pass }) => {
          calls++;
          return pass === 'first' ? ask({ title: `And ${id}?` }) : undefined;
        },
        { recheck: false },
      );
    let outcome = await run();
    const asked = ['a', 'b', 'c'];
    const seen = [];
    for (let i = 1; i <= asked.length; i++) {
      seen.push(outcome.cancel?.question?.asker.contributionId);
      outcome = await run({ answered: by(...asked.slice(0, i)), after: outcome }, outcome.payload);
    }
    expect([seen, outcome.status, calls]).toEqual([asked, 'passed', 2]);
  });

  it('takes the open question of a veto that says something else in it for answered by that', async () => {
    const { add, run } = lab();
    add('a', () => may);
    add('b', ({ pass }) => (pass === 'first' ? may : allow()));
    const asked = await run();
    const outcome = await run({ answered: by('a'), after: asked }, asked.payload);
    expect(outcome.status).toBe('passed');
  });

  it('tells of a resolver once, also if the payload names its target', async () => {
    const asking = askingStages.find((stage) => stage.family === family);
    const row = { ...asking, settled: () => true };
    const { kernel } = createLab({ stages: [row as (typeof askingStages)[number]] });
    kernel.contribute({ family, class: 'resolver', id: 'c', handler: () => undefined });
    const outcome = await kernel.dispatch(family, labSample(), { answered: by('a') });
    expect(outcome.skipped).toMatchObject([{ contributionId: 'c', why: 'answered' }]);
  });

  it('refuses a list of answers that names nobody', async () => {
    const { add, run } = lab();
    add('a', () => may);
    const answered = [null as never];
    await expect(run({ answered })).rejects.toMatchObject({ code: 'bad-given' });
  });

  it('does not call a veto that declines to judge again, if its question was answered', async () => {
    const { add, run } = lab();
    let calls = 0;
    add(
      'a',
      () => {
        calls++;
        return may;
      },
      { recheck: false },
    );
    const asked = await run();
    const outcome = await run({ answered: by('a'), after: asked }, asked.payload);
    expect(outcome).toMatchObject({
      status: 'passed',
      skipped: [{ contributionId: 'a', why: 'answered' }],
    });
    expect(calls).toBe(1);
  });

  it('lets the policy of today cancel, also one that was made after the question', async () => {
    const { add, run } = lab();
    add('a', () => may);
    const asked = await run();
    add('z', () => cancel('policy'), { recheck: false });
    const outcome = await run({ answered: by('a'), after: asked }, asked.payload);
    expect(outcome.cancel?.code).toBe('policy');
  });

  it('is one also if no handler is left', async () => {
    const { kernel } = createLab({ stages: askingStages });
    const outcome = await kernel.dispatch(family, labSample(), { answered: by('a') });
    expect(outcome).toMatchObject({ status: 'passed', answered: by('a') });
  });

  it('is refused for a family whose vetoes cannot ask', async () => {
    const { run } = lab('lab.sequential');
    await expect(run({ answered: by('a') })).rejects.toMatchObject({ code: 'bad-given' });
  });
});
