import { describe, expect, it } from 'vitest';
import {
  type AuditRecord,
  allow,
  ask,
  cancel,
  createKernel,
  type KernelOptions,
  select,
} from '../../../src/kernel/internal.js';
import { createLab, type LabContribution } from '../../support/kernel-lab.js';

const family = 'lab.sequential';

/** A lab in which the handlers of the extension `a` are audited. */
function auditLab(options: Omit<KernelOptions, 'overrides'> = {}) {
  const audits: AuditRecord[] = [];
  const ids = ['v', 'w', 'm', 'n', 'g', 'r'];
  const lab = createLab({
    overrides: Object.fromEntries(ids.map((id) => [`a/${id}`, { mode: 'audit' }])),
    tap: { audit: (record) => void audits.push(record) },
    ...options,
  });
  const add = (of: Omit<LabContribution, 'family'>) => lab.kernel.contribute({ family, ...of });
  const audited = (of: Omit<LabContribution, 'family' | 'extensionId'>) =>
    add({ extensionId: 'a', ...of });
  return { ...lab, audits, add, audited };
}

describe('audit mode', () => {
  it('tells what each class would have done, and does none of it (judgement §3.3)', async () => {
    const { kernel, audits, audited } = auditLab();
    audited({
      class: 'veto',
      id: 'v',
      priority: 9,
      failClosed: true,
      handler: () => cancel('policy', { text: 'no' }),
    });
    audited({
      class: 'mutator',
      id: 'm',
      priority: 8,
      handler: () => ({ title: 'x', headers: { k: 'v' }, tags: ['t'] }),
    });
    audited({ class: 'mutator', id: 'n', priority: 7, handler: () => ({ titel: 'x' }) });
    audited({
      class: 'augmenter',
      id: 'g',
      priority: 6,
      handler: () => ({ notes: ['n'], mood: 'm' }),
    });
    audited({
      class: 'resolver',
      id: 'r',
      priority: 5,
      handler: () => [select({ to: 'a' }), select({ to: 'NO' })],
    });
    audited({ class: 'veto', id: 'w', priority: 4, handler: () => allow() });
    const outcome = await kernel.run(family, { title: 'hello' });
    expect(outcome).toMatchObject({
      status: 'passed',
      payload: { title: 'hello' },
      changes: [],
      failures: [],
      candidates: [],
    });
    expect(outcome.annotations).toEqual({});
    const digest = expect.stringMatching(/^[0-9a-f]{16}$/);
    const { eventId } = outcome.event;
    expect(audits).toMatchObject([
      {
        eventId,
        family,
        extensionId: 'a',
        contributionId: 'v',
        class: 'veto',
        pass: 'first',
        verdict: 'cancel',
        code: 'policy',
        text: 'no',
      },
      {
        contributionId: 'm',
        verdict: 'patch',
        paths: [
          { path: 'title', digest },
          { path: 'headers.k', digest },
          { path: 'tags', digest },
        ],
      },
      { contributionId: 'n', verdict: 'failed', failure: { kind: 'bad-output' } },
      {
        contributionId: 'g',
        verdict: 'annotate',
        paths: [
          { path: 'notes', digest },
          { path: 'mood', digest },
        ],
      },
      {
        contributionId: 'r',
        verdict: 'propose',
        candidates: [{ target: { to: 'a' } }, { invalid: expect.any(String) }],
      },
      { contributionId: 'w', verdict: 'allow' },
    ]);
    expect(kernel.stats()).toMatchObject({
      audits: 6,
      auditObjections: 1,
      auditFailures: 1,
      failedOpen: 0,
      failedClosed: 0,
    });
  });

  it('calls a veto again on what changed after it, sees enforced patches only, and tells the state of a law (judgement §3.1)', async () => {
    const { kernel, audits, add, audited } = auditLab();
    const seen: string[] = [];
    audited({
      class: 'veto',
      id: 'v',
      priority: 9,
      handler: ({ pass, payload }) => {
        seen.push(`${pass} ${payload.title} ${payload.model}`);
        return payload.title === 'b' ? cancel('quiet') : allow();
      },
    });
    audited({ class: 'mutator', id: 'm', priority: 8, handler: () => ({ title: 'audited' }) });
    add({
      class: 'mutator',
      id: 'real',
      priority: 7,
      handler: () => ({ title: 'b', model: 'first' }),
    });
    audited({ class: 'mutator', id: 'n', priority: 6, handler: () => ({ model: 'second' }) });
    await kernel.run(family, { title: 'a' });
    expect(seen).toEqual(['first a undefined', 'recheck b first']);
    expect(
      audits.map(({ contributionId, verdict, pass }) => [contributionId, verdict, pass]),
    ).toEqual([
      ['v', 'allow', 'first'],
      ['m', 'patch', 'first'],
      ['n', 'nothing', 'first'], // the field is taken
      ['v', 'cancel', 'recheck'],
    ]);
  });

  it('does not wait for a promise, and tells of it when it settles or its time is up (judgement §3.2, judgement §3.3)', async () => {
    const { kernel, audits, audited, clock } = auditLab();
    let aborted = false;
    let answer: (value: unknown) => void = () => undefined;
    audited({
      class: 'veto',
      id: 'v',
      priority: 9,
      timeoutMs: 50,
      handler: ({ signal }) => {
        signal.addEventListener('abort', () => {
          aborted = true;
        });
        return new Promise(() => undefined);
      },
    });
    audited({
      class: 'mutator',
      id: 'm',
      handler: () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    });
    audited({
      class: 'mutator',
      id: 'n',
      handler: async () => {
        throw new Error('no');
      },
    });
    expect((await kernel.run(family, { title: 'a' })).status).toBe('passed');
    answer({ title: 'late' });
    await clock.advance(49);
    expect(audits.map(({ contributionId, verdict }) => [contributionId, verdict])).toEqual([
      ['n', 'failed'],
      ['m', 'patch'],
    ]);
    await clock.advance(2);
    expect([aborted, audits[2]]).toMatchObject([
      true,
      { contributionId: 'v', failure: { kind: 'timed-out' } },
    ]);
    expect(kernel.running()).toEqual([]);
    expect(kernel.stats().late).toBe(0);
  });

  it('tells of a throw, a write to the payload and a promise on a sync stage, and keeps them out of the outcome and of quarantine (judgement §3.2, judgement §3.4)', async () => {
    const { kernel, audits, add, audited } = auditLab({ quarantine: { failures: 1 } });
    add({ class: 'mutator', id: 'real', priority: 9, handler: () => ({ title: 'b' }) });
    audited({
      class: 'veto',
      id: 'v',
      priority: 8,
      handler: ({ payload }) => {
        payload.title = 'mine';
        return allow();
      },
    });
    audited({
      class: 'veto',
      id: 'w',
      failClosed: true,
      handler: () => {
        throw new Error('boom');
      },
    });
    const outcome = await kernel.run(family, { title: 'a' });
    expect(outcome).toMatchObject({ status: 'passed', failures: [], payload: { title: 'b' } });
    expect(audits.map(({ failure }) => failure?.kind)).toEqual(['threw', 'threw']); // what it reads is frozen
    const sync = auditLab();
    sync.kernel.contribute({
      family: 'lab.sync',
      extensionId: 'a',
      class: 'mutator',
      id: 'm',
      handler: () => Promise.reject(new Error('no')),
    });
    expect(await sync.kernel.run('lab.sync', { title: 'a' })).toMatchObject({
      status: 'passed',
      failures: [],
    });
    expect(sync.audits[0]?.failure?.kind).toBe('async-in-sync');
    expect(kernel.stats().quarantined).toEqual([]);
  });

  it('leaves the payload to the handler after it as if it had not read it (judgement §3.2)', async () => {
    const { kernel, add, audited } = auditLab();
    add({ class: 'mutator', id: 'real', priority: 9, handler: () => ({ title: 'b' }) });
    audited({
      class: 'veto',
      id: 'v',
      priority: 8,
      handler: ({ payload }) => void payload.title,
    });
    add({
      class: 'veto',
      id: 'writes',
      handler: ({ payload }) => {
        payload.title = 'mine'; // a write is a failure beside its cancel, which stands
        return cancel('policy');
      },
    });
    expect(await kernel.run(family, { title: 'a' })).toMatchObject({
      status: 'cancelled',
      failures: [{ kind: 'wrote-payload' }],
    });
  });

  it('keeps a failure outside of any dispatch out of quarantine (judgement §3.4)', async () => {
    const { kernel, audits, audited } = auditLab({ quarantine: { failures: 1 } });
    audited({ class: 'veto', id: 'v', handler: () => allow() });
    kernel.blame({ extensionId: 'a' }, 'boom');
    expect((await kernel.run(family, { title: 'a' })).skipped).toEqual([]);
    expect(audits).toHaveLength(1);
  });

  it('records a question, and nobody is asked (judgement §3.3)', async () => {
    const audits: AuditRecord[] = [];
    const kernel = createKernel({
      overrides: { 'a/v': { mode: 'audit' } },
      tap: { audit: (record) => void audits.push(record) },
    });
    kernel.contribute({
      family: 'agent.tool.calling',
      class: 'veto',
      extensionId: 'a',
      id: 'v',
      handler: () => ask({ title: 'Deploy?' }),
    });
    const outcome = await kernel.dispatch('agent.tool.calling', { toolName: 'x', params: {} });
    expect([outcome.status, outcome.failures]).toEqual(['passed', []]);
    expect(audits).toMatchObject([{ verdict: 'ask', text: 'Deploy?' }]);
    expect(kernel.stats().auditObjections).toBe(1);
  });

  it('refuses own.dispatch with a code of its own (judgement §3.5)', async () => {
    const { kernel, audits, audited } = auditLab();
    let code: unknown;
    audited({
      class: 'veto',
      id: 'v',
      handler: async (call, own) => {
        try {
          await own.dispatch(call, 'lab.sibling', { title: 'x' });
        } catch (error) {
          ({ code } = error as { code: string });
        }
        return allow();
      },
    });
    await kernel.run(family, { title: 'a' });
    expect(code).toBe('audited-dispatch');
    expect([kernel.stats().dispatches, audits[0]?.verdict]).toEqual([1, 'allow']);
  });

  it('is in the plan and in the trace, and an observer cannot have it (judgement §3.1, judgement §3.6)', async () => {
    const { kernel, audited } = auditLab({ trace: true });
    audited({ class: 'veto', id: 'v', failClosed: true, handler: () => cancel('policy') });
    expect(kernel.plan(family)[0]).toMatchObject({ mode: 'audit', policy: 'open' });
    expect((await kernel.run(family, { title: '' })).steps).toMatchObject([
      { contributionId: 'v', result: 'audited' },
    ]);
    expect(() => audited({ class: 'observer', id: 'w', handler: () => undefined })).toThrow(
      'disable it',
    );
    const odd = { overrides: { 'a/v': { mode: 'off' as never } } };
    expect(() => createKernel(odd)).toThrow('mode must be one of enforce, audit');
  });

  it('keeps a spent budget free of audited handlers (judgement §3.2)', async () => {
    const { kernel, clock, add, audited } = auditLab();
    add({
      class: 'veto',
      id: 'slow',
      priority: 9,
      timeoutMs: 5_000,
      handler: () => new Promise(() => undefined),
    });
    audited({ class: 'veto', id: 'v', failClosed: true, timeoutMs: 9_000, handler: () => allow() });
    const running = kernel.run(family, { title: '' });
    await clock.advance(6_001);
    const outcome = await running;
    expect([outcome.status, outcome.failures.map(({ contributionId }) => contributionId)]).toEqual([
      'passed',
      ['slow'],
    ]);
  });
});

describe('an extension that is audited as a whole', () => {
  it('has each of its handlers audited, whatever its overrides say of the mode, and its observers left out (judgement §3.7)', async () => {
    const seen: string[] = [];
    const lab = createLab({ audit: ['a'], overrides: { 'a/v': { mode: 'enforce', priority: 3 } } });
    const add = (of: Omit<LabContribution, 'family'>) => lab.kernel.contribute({ family, ...of });
    add({ extensionId: 'a', class: 'veto', id: 'v', handler: () => cancel('policy') });
    add({ extensionId: 'a', class: 'observer', id: 'o', handler: () => void seen.push('a/o') });
    add({ extensionId: 'b', class: 'observer', id: 'o', handler: () => void seen.push('b/o') });
    const outcome = await lab.kernel.run(family, { title: 'hello' });
    expect([outcome.status, seen]).toEqual(['passed', ['b/o']]);
    expect(outcome.skipped).toEqual([
      expect.objectContaining({ extensionId: 'a', contributionId: 'o', why: 'disabled' }),
    ]);
    expect(
      lab.kernel
        .plan(family)
        .map(({ contributionId, mode, priority, disabled }) => [
          contributionId,
          mode,
          priority,
          disabled,
        ]),
    ).toEqual([
      ['v', 'audit', 3, false],
      ['o', 'enforce', 0, false],
      ['o', 'enforce', 0, true],
    ]);
  });
});
