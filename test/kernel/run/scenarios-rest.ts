import { select } from '../../../src/kernel/internal.js';
import { augmenter, boom, mutator, observer, resolver, type Scenario, veto } from './scenarios.js';

/** Observers: the rows that a parallel stage runs as well. */
export const observerScenarios: readonly Scenario[] = [
  {
    name: 'with no handler it passes, as it was emitted (§5.2)',
    handlers: [],
    expected: { order: '' },
  },
  {
    name: 'observers are called in run order and return nothing (§3.2, §4.1)',
    handlers: [observer('a'), observer('b', () => null), observer('c')],
    expected: { order: 'a b c' },
  },
  ...(['text', 0, false, { title: 'x' }, [], ['x']] as const).map(
    (result): Scenario => ({
      name: `an observer that returns ${JSON.stringify(result)} is bad output (§3.2)`,
      handlers: [observer('a', () => result), observer('b')],
      expected: { failures: ['x/a bad-output open'], order: 'a b' },
    }),
  ),
  {
    name: 'an observer that throws fails open; the others run (§5.3)',
    handlers: [observer('a', boom), observer('b')],
    expected: { failures: ['x/a threw open'], order: 'a b' },
  },
  {
    name: 'priority beats ids, then extension, then contribution (§4.1)',
    handlers: [
      observer('b', undefined, { priority: 0 }),
      observer('a', undefined, { priority: 0, extensionId: 'y' }),
      observer('c', undefined, { priority: 0, extensionId: 'Z' }),
      observer('a', undefined, { priority: 0 }),
      observer('low', undefined, { priority: -1, extensionId: 'a' }),
      observer('high', undefined, { priority: 0.5, extensionId: 'z' }),
    ],
    expected: { order: 'high c a b a low' },
  },
  {
    name: 'an operator disables a contribution (§12.1)',
    options: { overrides: { 'x/a': { disabled: true } } },
    handlers: [observer('a'), observer('b')],
    expected: { skipped: ['x/a disabled'], order: 'b' },
  },
  {
    name: 'an operator sets a priority (§12.1)',
    options: { overrides: { 'x/a': { priority: -5 } } },
    handlers: [observer('a'), observer('b')],
    expected: { order: 'b a' },
  },
  {
    name: 'a detached observer is called in its place (§4.7)',
    handlers: [observer('a'), observer('b', undefined, { detached: true }), observer('c')],
    expected: { order: 'a b c' },
  },
];

/** Augmenters and resolvers. */
export const restScenarios: readonly Scenario[] = [
  {
    name: 'an observer that throws fails closed where the row says so (§5.3)',
    policy: 'closed',
    handlers: [observer('a', boom), observer('b')],
    expected: {
      status: 'failed',
      failures: ['x/a threw closed'],
      skipped: ['x/b after-failure'],
      order: 'a',
    },
  },
  {
    name: 'annotations: lists append, and later handlers see them (§7.1)',
    handlers: [
      augmenter('a', () => ({ notes: ['one'] })),
      augmenter('b', ({ annotations }) => ({ notes: [`after ${String(annotations['notes'])}`] })),
    ],
    expected: { annotations: { notes: ['one', 'after one'] }, order: 'a b' },
  },
  {
    name: 'annotations: the last writer of a replaceable field wins (§7.1)',
    handlers: [augmenter('a', () => ({ mood: 'calm' })), augmenter('b', () => ({ mood: 'cross' }))],
    expected: { annotations: { mood: 'cross' }, order: 'a b' },
  },
  {
    name: 'annotations: of any other field the first stands, and a different one is refused as a whole (§7.1)',
    handlers: [
      augmenter('a', () => ({ language: 'es' })),
      augmenter('b', () => ({ language: 'es', notes: ['same'] })),
      augmenter('c', () => ({ language: 'pt', notes: ['lost'], mood: 'lost' })),
    ],
    expected: {
      annotations: { language: 'es', notes: ['same'] },
      failures: ['x/c bad-output open'],
      order: 'a b c',
    },
  },
  {
    name: 'annotations: an equal object is not a different one (§7.1)',
    handlers: [
      augmenter('a', () => ({ span: { from: 1 } })),
      augmenter('b', () => ({ span: { from: 1 }, mood: 'kept' })),
    ],
    expected: { annotations: { span: { from: 1 }, mood: 'kept' }, order: 'a b' },
  },
  {
    name: 'annotations never change the payload, and unknown ones are bad output (§3.2)',
    handlers: [augmenter('a', () => ({ title: 'x' })), augmenter('b', () => ({ notes: 'text' }))],
    expected: { failures: ['x/a bad-output open', 'x/b bad-output open'], order: 'a b' },
  },
  ...['text', 5, ['notes']].map(
    (result): Scenario => ({
      name: `an augmenter that returns ${JSON.stringify(result)} is bad output (§3.2)`,
      handlers: [augmenter('a', () => result)],
      expected: { failures: ['x/a bad-output open'], order: 'a' },
    }),
  ),
  {
    name: 'an augmenter that throws fails open (§5.3)',
    handlers: [augmenter('a', boom), augmenter('b', () => ({ mood: 'fine' }))],
    expected: { annotations: { mood: 'fine' }, failures: ['x/a threw open'], order: 'a b' },
  },
  {
    name: 'an augmenter that throws fails closed where the row says so (§5.3)',
    policy: 'closed',
    handlers: [augmenter('a', boom), augmenter('b')],
    expected: {
      status: 'failed',
      failures: ['x/a threw closed'],
      skipped: ['x/b after-failure'],
      order: 'a',
    },
  },
  {
    name: 'resolver: explicit beats inferred, whatever the rank and order (§9.1)',
    handlers: [
      resolver('a', () => select({ to: 'a' }, { rank: 100 })),
      resolver('b', () => select({ to: 'b' }, { explicit: true, rank: -1 })),
      resolver('c', () => select({ to: 'c' }, { rank: 200 })),
    ],
    expected: { candidates: ['x/a', 'x/b', 'x/c'], selected: 'x/b', order: 'a b c' },
  },
  {
    name: 'resolver: then the higher rank (§9.1)',
    handlers: [
      resolver('a', () => select({ to: 'a' })),
      resolver('b', () => select({ to: 'b' }, { rank: 2 })),
      resolver('c', () => select({ to: 'c' }, { rank: 1 })),
    ],
    expected: { candidates: ['x/a', 'x/b', 'x/c'], selected: 'x/b', order: 'a b c' },
  },
  {
    name: 'resolver: then run order, also within one array (§9.1)',
    handlers: [
      resolver('a', () => [select({ to: 'low' }, { rank: -1 }), select({ to: 'first' })]),
      resolver('b', () => select({ to: 'second' })),
    ],
    expected: { candidates: ['x/a', 'x/a', 'x/b'], selected: 'x/a', order: 'a b' },
  },
  {
    name: 'resolver: a target that does not fit the schema stays visible and does not win (§9.2)',
    handlers: [
      resolver('a', () => select({ to: 'NOT LOWER' }, { explicit: true })),
      resolver('b', () => select({ to: 'b' })),
    ],
    expected: { candidates: ['x/a invalid', 'x/b'], selected: 'x/b', order: 'a b' },
  },
  {
    name: 'resolver: a target that the host does not accept does not win (§9.2)',
    given: () => ({
      valid: (target) => (target as { to: string }).to !== 'a' || 'there is no "a"',
    }),
    handlers: [
      resolver('a', () => select({ to: 'a' }, { explicit: true })),
      resolver('b', () => select({ to: 'b' })),
    ],
    expected: { candidates: ['x/a invalid', 'x/b'], selected: 'x/b', order: 'a b' },
  },
  {
    name: 'resolver: in an open stage no proposal is no failure (§9.4)',
    handlers: [resolver('a'), resolver('b', () => []), resolver('c', () => null)],
    expected: { order: 'a b c' },
  },
  {
    name: 'resolver: in an open stage nothing valid of what was proposed is an open failure (§9.4)',
    handlers: [resolver('a', () => select({ to: '!' }))],
    expected: { candidates: ['x/a invalid'], failures: ['/ no-candidate open'], order: 'a' },
  },
  {
    name: 'resolver: in a closed stage no candidate is a failure, also where nobody proposed (§9.4)',
    policy: 'closed',
    handlers: [resolver('a')],
    expected: { status: 'failed', failures: ['/ no-candidate closed'], order: 'a' },
  },
  {
    name: 'resolver: in a closed stage no valid candidate is a failure (§9.4)',
    policy: 'closed',
    handlers: [resolver('a', () => select({ to: '!' })), observer('b')],
    expected: {
      status: 'failed',
      candidates: ['x/a invalid'],
      failures: ['/ no-candidate closed'],
      order: 'a b',
    },
  },
  {
    name: 'resolver: one that fails proposes nothing, and does not end a closed stage (§9.5)',
    policy: 'closed',
    handlers: [resolver('a', boom), resolver('b', () => select({ to: 'b' }))],
    expected: {
      candidates: ['x/b'],
      selected: 'x/b',
      failures: ['x/a threw open'],
      order: 'a b',
    },
  },
  {
    name: 'resolver: a payload that names its target is never re-routed (§9.3)',
    policy: 'closed',
    payload: { target: 'here' },
    handlers: [
      resolver('a', () => select({ to: 'a' })),
      mutator('b', () => ({ title: 'b' })),
      resolver('c', () => select({ to: 'c' }, { explicit: true })),
    ],
    expected: {
      payload: { title: 'b' },
      changes: ['x/b title'],
      skipped: ['x/a explicit-target', 'x/c explicit-target'],
      order: 'b',
    },
  },
  ...['a', 3, { to: 'a' }, [select({ to: 'a' }), { to: 'b' }]].map(
    (result): Scenario => ({
      name: `a resolver that returns ${JSON.stringify(result)} is bad output, as a whole (§3.2)`,
      handlers: [resolver('a', () => result)],
      expected: { failures: ['x/a bad-output open'], order: 'a' },
    }),
  ),
  {
    name: 'a resolver whose rank is not finite is bad output (§9.1)',
    handlers: [resolver('a', () => select({ to: 'a' }, { rank: Number.NaN }))],
    expected: { failures: ['x/a bad-output open'], order: 'a' },
  },
  {
    name: 'later handlers see the best candidate so far (§9.1)',
    handlers: [
      resolver('a', () => select({ to: 'a' })),
      observer('b', ({ selection }) => {
        if (selection?.extensionId !== 'x') throw new Error('no selection seen');
      }),
    ],
    expected: { candidates: ['x/a'], selected: 'x/a', order: 'a b' },
  },
  {
    name: 'every class in one stage (§3.2)',
    handlers: [
      observer('a'),
      augmenter('b', () => ({ mood: 'fine' })),
      mutator('c', () => ({ title: 'new' })),
      veto('d'),
      resolver('e', () => select({ to: 'e' })),
    ],
    expected: {
      payload: { title: 'new' },
      annotations: { mood: 'fine' },
      changes: ['x/c title'],
      candidates: ['x/e'],
      selected: 'x/e',
      order: 'a b c d e d',
    },
  },
];
