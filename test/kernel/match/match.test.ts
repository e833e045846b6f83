import { describe, expect, it } from 'vitest';
import {
  allow,
  cancel,
  canonicalStages,
  createKernel,
  type Given,
} from '../../../src/kernel/internal.js';
import { checkMatch, conditionsOf } from '../../../src/kernel/match/conditions.js';
import { matchFields } from '../../../src/kernel/match/match-fields.js';
import { MatchIndex } from '../../../src/kernel/match/match-index.js';
import type { Entry } from '../../../src/kernel/outcome/entry.js';
import type { LabContribution, LabGiven } from '../../support/kernel-lab.js';
import { createLab } from '../../support/kernel-lab.js';

const family = 'lab.sequential';

/** Dispatches payloads to one handler with a match, and tells for which of them it was called. */
async function calledFor(
  match: unknown,
  payloads: readonly Record<string, unknown>[],
  over: Partial<LabContribution> = {},
  given: LabGiven = {},
): Promise<boolean[]> {
  const { kernel } = createLab();
  let calls = 0;
  const handler = () => {
    calls++;
    return over.class === 'observer' ? undefined : allow();
  };
  kernel.contribute({ family, class: 'veto', id: 'v', match, handler, ...over });
  const called: boolean[] = [];
  for (const payload of payloads) {
    calls = 0;
    await kernel.run(family, { title: 't', ...payload }, { ...given });
    called.push(calls > 0);
  }
  return called;
}

const problemOf = (match: unknown, over: Partial<LabContribution> = {}): unknown => {
  const { kernel } = createLab();
  try {
    kernel.contribute({ family, class: 'veto', id: 'v', match, handler: () => allow(), ...over });
  } catch (thrown) {
    return thrown;
  }
  return undefined;
};

describe('a match', () => {
  it('joins its fields by and, and the values of a list by or (judgement §2.2)', async () => {
    const payloads = [
      { kind: 'a', urgent: true },
      { kind: 'b', urgent: true },
      { kind: 'a', urgent: false },
      { kind: 'c', urgent: true },
    ];
    expect(await calledFor({ kind: ['a', 'b'], urgent: true }, payloads)).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  it('compares by code unit and type, and a star ends a prefix (judgement §2.2)', async () => {
    const cities = ['Ro', 'Rome', 'rome', 'Rom\u00e9', 'Rome\u0301', 'Paris', ''];
    const at = (city: string) => ({ place: { city } });
    expect(await calledFor({ 'place.city': 'Rom*' }, cities.map(at))).toEqual([
      ...[false, true, false, true, true, false, false],
    ]);
    expect(await calledFor({ 'place.city': 'Rom\u00e9' }, cities.map(at))).toEqual([
      ...[false, false, false, true, false, false, false],
    ]);
    expect(await calledFor({ 'place.city': '*' }, cities.map(at))).toEqual(cities.map(() => true));
    const floors = [{ city: '', floor: 5 }, { city: '', floor: '5' }, { city: '' }];
    expect(
      await calledFor(
        { 'place.floor': 5 },
        floors.map((place) => ({ place })),
      ),
    ).toEqual([...[true, false, false]]);
    expect(
      await calledFor({ kind: ['ab*', 'abc*', 'x'] }, [{ kind: 'abcd' }, { kind: 'ab' }]),
    ).toEqual([true, true]);
  });

  it('is not met by an unknown value, except for a fail-closed veto (judgement §2.3)', async () => {
    const unknown = [{}, { kind: null }, { kind: { a: 1 } }, { kind: ['a'] }];
    expect(await calledFor({ kind: 'a' }, unknown)).toEqual([false, false, false, false]);
    expect(await calledFor({ kind: '*' }, unknown)).toEqual([false, false, false, false]);
    const strict = await calledFor({ kind: 'a' }, [...unknown, { kind: 'b' }], {
      failClosed: true,
    });
    expect(strict).toEqual([true, true, true, true, false]);
  });

  it('counts a veto of a stage whose vetoes fail closed as fail-closed (judgement §2.3)', async () => {
    const { kernel } = createLab();
    const at = { family: 'lab.sequential-closed', match: { kind: 'a' } };
    kernel.contribute({ ...at, class: 'veto', id: 'v', handler: () => cancel('policy') });
    const cancels = async (payload: object) =>
      (await kernel.run(at.family, { title: '', ...payload })).cancel !== undefined;
    expect([await cancels({}), await cancels({ kind: 'b' })]).toEqual([true, false]);
  });

  it('reads refs and ids from the dispatch, from the one before it and from the one around it (judgement §2.1)', async () => {
    const { kernel } = createLab();
    const seen: string[] = [];
    const accountRef = { channel: 'telegram', id: '1' };
    const match = { 'accountRef.channel': 'tele*', agentId: 'main' };
    kernel.contribute({
      family,
      class: 'observer',
      id: 'o',
      match,
      handler: ({ payload }) => void seen.push(String(payload.title)),
    });
    kernel.contribute({
      family: 'lab.sibling',
      class: 'observer',
      id: 'p',
      handler: async (call, own) => void (await own.dispatch(call, family, { title: 'nested' })),
    });
    const before = await kernel.run('lab.sibling', { title: 'x' }, { accountRef, agentId: 'main' });
    await kernel.run(family, { title: 'after' }, { after: before });
    await kernel.run(family, { title: 'cleared' }, { after: before, accountRef: null });
    await kernel.run(family, { title: 'given' }, { accountRef, agentId: 'main' });
    await kernel.run(family, { title: 'other' }, { accountRef, agentId: 'second' });
    await kernel.run(family, { title: 'none' });
    expect(seen).toEqual(['nested', 'after', 'given']);
  });

  it('is decided once: a patch that comes first changes nothing, and a veto is called again as without it (judgement §2.5)', async () => {
    const { kernel } = createLab();
    const passes: string[] = [];
    kernel.contribute({
      family,
      class: 'veto',
      id: 'a',
      priority: 2,
      match: { kind: 'x' },
      handler: ({ payload, pass }) => {
        passes.push(`${String(pass)} ${String(payload.title)}`);
        return allow();
      },
    });
    kernel.contribute({
      family,
      class: 'mutator',
      id: 'b',
      priority: 1,
      match: { kind: 'x' },
      handler: () => ({ title: 'new' }),
    });
    kernel.contribute({
      family,
      class: 'mutator',
      id: 'c',
      match: { kind: 'y' },
      handler: () => ({ title: 'no' }),
    });
    const outcome = await kernel.run(family, { title: 'old', kind: 'x' });
    expect(passes).toEqual(['first old', 'recheck new']);
    expect([outcome.payload.title, outcome.skipped, outcome.steps]).toEqual(['new', [], []]);
    expect((await kernel.run(family, { title: 'old', kind: 'z' })).changes).toEqual([]);
    expect(passes).toHaveLength(2);
  });

  it('leaves a handler out that is in quarantine, and its time out of the budget (judgement §2.5)', async () => {
    const { kernel } = createLab({ quarantine: { failures: 1 } });
    kernel.contribute({
      family,
      class: 'veto',
      id: 'v',
      failClosed: true,
      match: { kind: 'x' },
      handler: () => {
        throw new Error('no');
      },
    });
    expect((await kernel.run(family, { title: '', kind: 'x' })).status).toBe('failed');
    expect(kernel.stats().quarantined).toHaveLength(1);
    expect((await kernel.run(family, { title: '', kind: 'x' })).failures[0]?.kind).toBe(
      'quarantined',
    );
    expect((await kernel.run(family, { title: '', kind: 'y' })).failures).toEqual([]);
  });

  it('is told as skipped only where the kernel traces, and is shown by plan() (judgement §2.6)', async () => {
    for (const trace of [true, false]) {
      const { kernel } = createLab({ trace });
      kernel.contribute({
        family,
        class: 'resolver',
        id: 'r',
        match: { kind: 'x', urgent: [true] },
        handler: () => null,
      });
      kernel.contribute({ family, class: 'observer', id: 'o', handler: () => undefined });
      const outcome = await kernel.run(family, { title: '', kind: 'y' });
      const skipped = { extensionId: 'x', contributionId: 'r', why: 'no-match' };
      expect(outcome.skipped).toEqual(trace ? [skipped] : []);
      expect(
        outcome.steps.map((one) => `${one.contributionId} ${one.result} ${one.why ?? ''}`),
      ).toEqual(trace ? ['o nothing ', 'r skipped no-match'] : []);
      const [planned] = kernel.plan(family).filter((one) => one.contributionId === 'r');
      expect(planned?.match).toEqual({ kind: ['x'], urgent: [true] });
      expect(Object.isFrozen(planned?.match)).toBe(true);
    }
  });

  it('is in force for each mode, each band, and a target that is settled (judgement §2.5)', async () => {
    for (const mode of ['lab.parallel', 'lab.sequential', 'lab.sync']) {
      const { kernel } = createLab({ trace: true });
      const seen: string[] = [];
      const one = (id: string, more: object) =>
        kernel.contribute({
          family: mode,
          class: 'observer',
          id,
          handler: () => void seen.push(id),
          ...more,
        });
      one('a', { match: { kind: 'x' } });
      one('b', { match: { kind: 'y' } });
      one('c', { match: { kind: 'x' }, band: 'last' });
      await kernel.run(mode, { title: '', kind: 'x' });
      await kernel.run(mode, { title: '', kind: 'x', target: 't' });
      await kernel.run(mode, { title: '', kind: 'x' }, { band: 'last' });
      await kernel.run(mode, { title: '', kind: 'y' }, { band: 'main' });
      expect(seen).toEqual(['a', 'c', 'a', 'c', 'c', 'b']);
    }
  });

  it('is read again from the copy where the kernel checks each payload (§1.4)', async () => {
    const { kernel } = createLab({ validate: 'always' });
    let calls = 0;
    kernel.contribute({
      family,
      class: 'veto',
      id: 'v',
      match: { kind: 'x' },
      handler: () => {
        calls++;
        return allow();
      },
    });
    await kernel.run(family, { title: '', kind: 'x' });
    await kernel.run(family, { title: '', kind: 'y' });
    expect(calls).toBe(1);
    await expect(kernel.dispatch(family, { kind: 'x' })).rejects.toMatchObject({
      code: 'bad-payload',
    });
    await expect(kernel.dispatch(family, null)).rejects.toMatchObject({ code: 'bad-payload' });
  });

  it('takes a payload that cannot be read as unknown, and keeps nothing of it (judgement §2.3)', async () => {
    const { kernel } = createLab();
    let calls = 0;
    kernel.contribute({
      family,
      class: 'veto',
      id: 'v',
      match: { kind: 'x' },
      handler: () => {
        calls++;
        return allow();
      },
    });
    let reads = 0;
    const turning = {
      title: '',
      get kind() {
        return reads++ === 0 ? 'y' : 'x';
      },
    };
    await kernel.dispatch(family, turning).catch(() => undefined);
    const throwing = {
      title: '',
      get kind(): string {
        throw new Error('no');
      },
    };
    await kernel.dispatch(family, throwing).catch(() => undefined);
    calls = 0;
    expect((await kernel.run(family, { title: '', kind: 'x' })).status).toBe('passed');
    await kernel.run(family, { title: '', kind: 'y' });
    expect(calls).toBe(1);
  });
});

describe('a match of the principal', () => {
  const ann = { channel: 'pigeon', accountId: 'a', senderId: '1', isOwner: false };

  it('reads what is proven: of the roles one has to be there, and without a principal nothing is known (judgement §2.1)', async () => {
    const kernel = createKernel();
    const seen: string[] = [];
    const watch = (id: string, match: object, failClosed = false) =>
      kernel.contribute({
        family: 'agent.tool.calling',
        class: 'veto',
        extensionId: 'x',
        id,
        match,
        failClosed,
        handler: () => {
          seen.push(id);
          return allow();
        },
      });
    watch('admins', { 'principal.roles': ['admin', 'ops*'] });
    watch('owner', { 'principal.isOwner': true });
    watch('strangers', { 'principal.senderId': ['1', '2'], 'principal.channel': 'pig*' });
    watch('strict', { 'principal.roles': 'admin' }, true);
    const calledFor = async (given: Given): Promise<string[]> => {
      seen.length = 0;
      await kernel.dispatch('agent.tool.calling', { toolName: 'Bash', params: {} }, given);
      return seen.toSorted();
    };
    expect(await calledFor({})).toEqual(['strict']);
    expect(await calledFor({ principal: { ...ann, roles: [] } })).toEqual(['strangers']);
    expect(await calledFor({ principal: { ...ann, roles: ['x', 'ops-2'] } })).toEqual([
      'admins',
      'strangers',
    ]);
    const roles = ['admin', 'x'];
    const owner = { ...ann, senderId: '3', isOwner: true, roles };
    expect(await calledFor({ principal: owner })).toEqual(['admins', 'owner', 'strict']);
    const before = await kernel.dispatch('egress.sent', {} as never, { principal: owner });
    expect(await calledFor({ after: before })).toEqual(['admins', 'owner', 'strict']);
    expect(await calledFor({ after: before, principal: null })).toEqual(['strict']);
  });

  it('keeps a bounded number of lists of roles (judgement §2.7)', async () => {
    const stage = canonicalStages.find(
      ({ family: name }) => name === 'agent.tool.calling',
    ) as never;
    const author = { extensionId: 'x', contributionId: 'v' };
    const roles = Array.from({ length: 18 }, (_, i) => `r${i}`);
    const conditions = conditionsOf(
      checkMatch({ 'principal.roles': roles }, stage, author, 'contribution'),
      stage,
    );
    const entry = { ...author, traits: { conditions, unknownMatches: false } } as unknown as Entry; // the parts that an index reads
    const index = new MatchIndex(
      Array.from({ length: 100 }, () => entry),
      () => ({ size: 0 }),
    );
    let most = 0;
    for (let i = 0; i < 3_000; i++) {
      const own = roles.filter((_, bit) => (i & (1 << bit)) !== 0);
      index.planFor({}, { principal: { ...ann, roles: own } }, undefined);
      most = Math.max(most, index.kept.lists);
    }
    expect(most).toBeGreaterThan(100);
    expect(most).toBeLessThan(1_000);
  });
});

describe('a match that does not fit', () => {
  it.each([
    [{ kid: 'a' }, 'names "kid", which is no field that it can compare; did you mean "kind"?'],
    [{ title: 'a' }, 'names "title", which a patch can change: judge it in the handler'],
    [{ 'body.part.n': 1 }, 'names "body.part.n", which a patch can change'],
    [{ raw: 'a' }, 'names "raw", which is no field that it can compare'],
    [{ place: 'a' }, 'names "place", which is no field that it can compare'],
    [{ 'place.cty': 'a' }, 'did you mean "place.city"?'],
    [{ kind: [] }, 'has an empty list for "kind": it would never match'],
    [{ kind: 5 }, 'has 5 for "kind": it is a string'],
    [{ urgent: 'true' }, 'has "true" for "urgent": it is a boolean'],
    [{ kind: null }, 'has "null" for "kind": give texts, numbers, true or false'],
    [{ kind: [Number.NaN] }, 'has "NaN" for "kind"'],
    [{ kind: '*x' }, 'has "*x" for "kind": a star stands only at the end'],
    [{ kind: 'a*b*' }, 'a star stands only at the end'],
    [{ 'messageRef.id': '1' }, 'names "messageRef.id", which is no field that it can compare'],
    ['kind', 'its match must be an object'],
    [['kind'], 'its match must be an object'],
  ])('is refused: %j (judgement §2.1)', (match, problem) => {
    expect(problemOf(match)).toMatchObject({
      code: 'bad-match',
      message: expect.stringContaining(problem),
      hint: expect.stringContaining('target, kind, urgent, place.city, place.floor, workspaceId'),
    });
  });

  it('is refused where the field can never have the value (judgement §2.1)', () => {
    const contribute = (match: object) => () =>
      createKernel().contribute({
        family: 'egress.preparing',
        class: 'veto',
        extensionId: 'x',
        id: 'v',
        match: match as never, // it does not compile
        handler: () => allow(),
      });
    expect(contribute({ kind: 'repply' })).toThrow('did you mean "reply"?');
    expect(contribute({ kind: 'foo*' })).toThrow('it is one of reply, block, stream-opening');
    expect(contribute({ kind: ['stream-*', 'reply'], threadId: [5, 'a'] })).not.toThrow();
  });

  it('is the operator’s if it stands in an override, which is added to that of the handler (judgement §2.4)', async () => {
    const overrides = { 'x/v': { match: { urgent: true } } };
    const { kernel } = createLab({ overrides });
    let calls = 0;
    kernel.contribute({
      family,
      class: 'veto',
      id: 'v',
      failClosed: true,
      match: { kind: 'a' },
      handler: () => {
        calls++;
        return allow();
      },
    });
    for (const payload of [
      { kind: 'a', urgent: true },
      { kind: 'a', urgent: false },
      { kind: 'b', urgent: true },
      { kind: 'a' },
    ])
      await kernel.run(family, { title: '', ...payload });
    expect(calls).toBe(2); // what is not known leaves a fail-closed veto in
    expect(kernel.plan(family)[0]).toMatchObject({
      match: { kind: ['a'] },
      operatorMatch: { urgent: [true] },
    });
    const lab = createLab({ overrides: { 'x/v': { match: { titel: 'a' } } } });
    expect(() =>
      lab.kernel.contribute({ family, class: 'veto', id: 'v', handler: () => allow() }),
    ).toThrow('the operator’s match names "titel"');
  });
});

describe('the fields of the catalog', () => {
  it('that a match may name leave out what a patch can write, what is shared and what has the name of a payload field (judgement §2.1)', () => {
    const keysOf = (name: string) => [
      ...matchFields(canonicalStages.find((one) => one.family === name) as never).keys(),
    ];
    const tool = keysOf('agent.tool.calling');
    expect(tool).toContain('toolName');
    expect(tool).toContain('accountRef.channel');
    expect(tool.filter((key) => key.startsWith('params'))).toEqual([]);
    expect(tool.filter((key) => key === 'agentId')).toHaveLength(1);
    const routing = keysOf('routing.resolving');
    expect(routing).toEqual(
      expect.arrayContaining(['message.channel', 'message.sender.id', 'message.content']),
    );
    const preparing = keysOf('egress.preparing');
    expect(preparing).toEqual(expect.arrayContaining(['kind', 'to', 'channel', 'streaming']));
    expect(preparing).not.toContain('content');
    expect(preparing).not.toContain('silent');
  });
});
