import { describe, expect, it } from 'vitest';
import { type Combination, combinations, faultSample, faultStage } from '../support/faults.js';
import {
  type LabCall,
  type LabHandler,
  type LabOutcome,
  labKernel,
} from '../support/kernel-lab.js';

/** Depth 0 and the eight below it. */
const levels = 9;

/** A result that lets the stage go on, whatever the class: a fail-closed veto must say so (§8.4). */
const goOn = (row: Combination): unknown => (row.class === 'veto' ? { kind: 'allow' } : undefined);

interface Nested {
  readonly call: LabCall;
  readonly inner: LabOutcome;
}

/** Dispatches its own family from inside, without end. */
function recursive(row: Combination, limits?: { readonly depth: number }) {
  const policy = row.policy === 'closed' ? 'closed' : 'open';
  const onError = row.class === 'resolver' ? {} : { [row.class]: policy };
  const stage = faultStage({ mode: row.mode, onError });
  const kernel = labKernel([stage], limits === undefined ? {} : { limits });
  const nested: Nested[] = [];
  const handler: LabHandler = (call, own) => {
    const inner = own.dispatch(call, stage.family, faultSample());
    const keep = (outcome: LabOutcome): unknown => {
      nested.push({ call, inner: outcome });
      return goOn(row);
    };
    return inner instanceof Promise ? inner.then(keep) : keep(inner);
  };
  const strict = row.policy === 'failClosed' ? { failClosed: true } : {};
  kernel.contribute({ family: stage.family, class: row.class, id: 'nest', handler, ...strict });
  return { kernel, nested, dispatch: () => kernel.run(stage.family, faultSample()) };
}

describe('fault 10: dispatching the same family from inside -> to a depth, then too-deep', () => {
  it.each(combinations)('$name', async (row) => {
    const { kernel, nested, dispatch } = recursive(row);
    const outcome = await dispatch();

    expect(outcome.status).toBe('passed');
    expect(nested).toHaveLength(levels);
    const inners = nested.map(({ inner }) => inner); // the innermost ended first
    expect(inners.map(({ status }) => status)).toEqual([
      'failed',
      ...Array.from({ length: levels - 1 }, () => 'passed'),
    ]);
    expect(inners[0]?.failures).toMatchObject([{ kind: 'too-deep', policy: 'closed' }]); // §10.5
    expect(inners[0]?.failures[0]?.message).toContain('x/nest');
    expect(kernel.stats()).toMatchObject({ dispatches: levels + 1, failed: 1, waiting: 0 });
  });

  it.each(combinations)('$name: correlation and source go along', async (row) => {
    const { nested, dispatch } = recursive(row);
    const outcome = await dispatch();
    const events = [...nested.map(({ inner }) => inner.event), outcome.event];
    expect(new Set(events.map(({ correlationId }) => correlationId))).toEqual(
      new Set([outcome.event.eventId]),
    ); // §1.8
    expect(new Set(events.map(({ eventId }) => eventId)).size).toBe(levels + 1);
    expect(outcome.event['sourceContributionId']).toBeNull();
    for (const { inner } of nested) expect(inner.event['sourceContributionId']).toBe('x/nest');
  });

  it('the depth is an option', async () => {
    for (const depth of [0, 1, 3]) {
      const row = combinations.find(({ name }) => name === 'observer on sequential, open');
      if (row === undefined) throw new Error('no such combination');
      const { nested, dispatch } = recursive(row, { depth });
      await dispatch();
      expect(nested).toHaveLength(depth + 1);
    }
  });
});

describe('fault 11: unregistering during a dispatch -> the running generation is unaffected', () => {
  /** Observers a, b, c in this order; b disposes what it is told to, once. */
  function trio(mode: Combination['mode'], disposed: readonly string[]) {
    const stage = faultStage({ mode });
    const kernel = labKernel([stage]);
    const ran: string[] = [];
    const live = new Map<string, Disposable>();
    for (const id of ['a', 'b', 'c'])
      live.set(
        id,
        kernel.contribute({
          family: stage.family,
          class: 'observer',
          id,
          handler: () => {
            ran.push(id);
            if (id === 'b') for (const other of disposed) live.get(other)?.[Symbol.dispose]();
          },
        }),
      );
    return {
      kernel,
      ran,
      family: stage.family,
      dispatch: () => kernel.run(stage.family, faultSample()),
    };
  }

  const modes = ['parallel', 'sequential', 'sync-sequential'] as const;
  const which = [['b'], ['c'], ['a'], ['a', 'b', 'c'], ['b', 'b']];

  it.each(modes.flatMap((mode) => which.map((disposed) => [mode, disposed] as const)))(
    'on %s, b disposes %s',
    async (mode, disposed) => {
      const { kernel, ran, family, dispatch } = trio(mode, disposed);
      await dispatch();
      expect(ran).toEqual(['a', 'b', 'c']); // §3.5
      ran.length = 0;
      await dispatch();
      const rest = ['a', 'b', 'c'].filter((id) => !disposed.includes(id));
      expect(ran).toEqual(rest);
      expect(kernel.plan(family).map(({ contributionId }) => contributionId)).toEqual(rest);
      expect(kernel.stats().contributions).toBe(rest.length);
    },
  );

  it.each(modes)('on %s, one that is registered meanwhile runs from the next on', async (mode) => {
    const stage = faultStage({ mode });
    const kernel = labKernel([stage]);
    let ran = 0;
    kernel.contribute({
      family: stage.family,
      class: 'observer',
      id: 'a',
      priority: 1,
      handler: () => {
        if (kernel.plan(stage.family).length > 1) return;
        const handler: LabHandler = () => {
          ran++;
        };
        kernel.contribute({ family: stage.family, class: 'observer', id: 'b', handler });
      },
    });
    await kernel.run(stage.family, faultSample());
    expect(ran).toBe(0);
    await kernel.run(stage.family, faultSample());
    expect(ran).toBe(1);
  });

  it('a veto that is disposed after it allowed still judges again (§8.3)', async () => {
    const stage = faultStage();
    const kernel = labKernel([stage]);
    const seen: unknown[] = [];
    const veto = kernel.contribute({
      family: stage.family,
      class: 'veto',
      id: 'a',
      handler: ({ payload }) => {
        seen.push(payload['content']);
        return payload['content'] === 'bad' ? { kind: 'cancel', code: 'policy' } : undefined;
      },
    });
    kernel.contribute({
      family: stage.family,
      class: 'mutator',
      id: 'b',
      handler: () => {
        veto[Symbol.dispose]();
        return { content: 'bad' };
      },
    });
    const outcome = await kernel.run(stage.family, faultSample());
    expect(seen).toEqual(['emitted', 'bad']);
    expect(outcome.status).toBe('cancelled');
  });
});
