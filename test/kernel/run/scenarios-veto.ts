import { allow, cancel, select } from '../../../src/kernel/internal.js';
import { augmenter, boom, mutator, observer, resolver, type Scenario, veto } from './scenarios.js';

/** Cancels, judging again, and failing closed. */
export const vetoScenarios: readonly Scenario[] = [
  {
    name: 'a veto that allows, or says nothing, lets it pass (§3.2)',
    handlers: [veto('a', () => allow()), veto('b'), veto('c', () => null)],
    expected: { order: 'a b c' },
  },
  ...[0, 1, 2].map((at): Scenario => {
    const ids = ['a', 'b', 'c'];
    return {
      name: `a cancel at position ${at} ends the stage there (§8.2, §5.4)`,
      handlers: ids.map((id, i) => veto(id, () => (i === at ? cancel('policy') : allow()))),
      expected: {
        status: 'cancelled',
        cancel: { extensionId: 'x', contributionId: ids[at], code: 'policy' },
        skipped: ids.slice(at + 1).map((id) => `x/${id} after-cancel`),
        order: ids.slice(0, at + 1).join(' '),
      },
    };
  }),
  {
    name: 'a cancel keeps its code, text and details (§8.1)',
    handlers: [veto('a', () => cancel('quiet', { text: 'until 8', details: { hour: 3 } }))],
    expected: {
      status: 'cancelled',
      cancel: {
        extensionId: 'x',
        contributionId: 'a',
        code: 'quiet',
        text: 'until 8',
        details: { hour: 3 },
      },
      order: 'a',
    },
  },
  {
    name: '`other` is always a code (§8.1)',
    handlers: [veto('a', () => cancel('other'))],
    expected: {
      status: 'cancelled',
      cancel: { extensionId: 'x', contributionId: 'a', code: 'other' },
      order: 'a',
    },
  },
  {
    name: 'a cancel with an undeclared code stands, as `other` (§8.5)',
    handlers: [veto('a', () => cancel('polcy', { text: 'why', details: { n: 1 } })), mutator('b')],
    expected: {
      status: 'cancelled',
      cancel: {
        extensionId: 'x',
        contributionId: 'a',
        code: 'other',
        text: 'why',
        details: { n: 1, undeclaredCode: 'polcy' },
      },
      failures: ['x/a bad-output closed'],
      skipped: ['x/b after-cancel'],
      order: 'a',
    },
  },
  {
    name: 'what was patched before a cancel shows in its outcome (§5.5)',
    handlers: [mutator('a', () => ({ title: 'new' })), veto('b', () => cancel('policy'))],
    expected: {
      status: 'cancelled',
      payload: { title: 'new' },
      changes: ['x/a title'],
      cancel: { extensionId: 'x', contributionId: 'b', code: 'policy' },
      order: 'a b',
    },
  },
  {
    name: 'a veto judges again what a later patch changed (§8.3)',
    handlers: [veto('a'), mutator('b', () => ({ title: 'new' })), veto('c', () => allow())],
    expected: { payload: { title: 'new' }, changes: ['x/b title'], order: 'a b c a' },
  },
  {
    name: 'several vetoes judge again in run order (§8.3)',
    handlers: [
      veto('a', () => allow()),
      veto('b'),
      mutator('c', () => ({ title: 'new' })),
      veto('d'),
      mutator('e', () => ({ count: 1 })),
      veto('f'),
    ],
    expected: {
      payload: { title: 'new', count: 1 },
      changes: ['x/c title', 'x/e count'],
      order: 'a b c d e f a b d',
    },
  },
  {
    name: 'a veto that judges again may cancel (§8.3)',
    handlers: [
      veto('a', ({ payload }) => (payload['title'] === 'bad' ? cancel('policy') : allow())),
      veto('b'),
      mutator('c', () => ({ title: 'bad' })),
      observer('d'),
    ],
    expected: {
      status: 'cancelled',
      payload: { title: 'bad' },
      changes: ['x/c title'],
      cancel: { extensionId: 'x', contributionId: 'a', code: 'policy' },
      order: 'a b c d a',
    },
  },
  {
    name: 'a patch that changes nothing makes no veto judge again (§8.3, §5.5)',
    payload: { headers: { a: '1' }, tags: [] },
    handlers: [
      veto('a', () => allow()),
      mutator('b', () => ({ title: 'hello' })),
      mutator('c', () => ({ headers: { a: '1' } })),
      mutator('d', () => ({ headers: {} })),
    ],
    expected: { order: 'a b c d' },
  },
  {
    name: 'annotations make no veto judge again (§8.3)',
    handlers: [veto('a', () => allow()), augmenter('b', () => ({ notes: ['n'] }))],
    expected: { annotations: { notes: ['n'] }, order: 'a b' },
  },
  {
    name: 'a choice made after it allowed makes a veto judge again, and only a choice that won (§8.3)',
    handlers: [
      veto('a', ({ selection }) => (selection === undefined ? allow() : cancel('policy'))),
      resolver('b', () => select({ to: 'a' })),
    ],
    expected: {
      status: 'cancelled',
      cancel: { extensionId: 'x', contributionId: 'a', code: 'policy' },
      candidates: ['x/b'],
      selected: 'x/b',
      order: 'a b a',
    },
  },
  {
    name: 'a veto that declines to judge a choice again is a stale approval (§8.3)',
    handlers: [
      veto('a', () => allow(), { recheck: false }),
      resolver('b', () => select({ to: 'a' })),
    ],
    expected: { candidates: ['x/b'], selected: 'x/b', stale: ['x/a: x/b'], order: 'a b' },
  },
  {
    name: 'recheck: false declines, and the outcome says who changed what it had allowed (§8.3)',
    handlers: [
      mutator('early', () => ({ count: 1 })),
      veto('a', () => allow(), { recheck: false }),
      mutator('b', () => ({ title: 'b' })),
      mutator('c', () => ({ title: 'c' })),
      mutator('d', () => ({ count: 2 }), { extensionId: 'y' }),
    ],
    expected: {
      payload: { title: 'c', count: 2 },
      changes: ['x/early count', 'x/b title', 'x/c title', 'y/d count'],
      stale: ['x/a: x/b x/c y/d'],
      order: 'early a b c d',
    },
  },
  {
    name: 'recheck: false on a veto that nothing changed after is no stale approval (§8.3)',
    handlers: [mutator('a', () => ({ title: 'b' })), veto('b', () => allow(), { recheck: false })],
    expected: { payload: { title: 'b' }, changes: ['x/a title'], order: 'a b' },
  },
  {
    name: 'a veto that failed open did not allow, and is not called again (§8.3)',
    handlers: [veto('a', boom), mutator('b', () => ({ title: 'new' }))],
    expected: {
      payload: { title: 'new' },
      changes: ['x/b title'],
      failures: ['x/a threw open'],
      order: 'a b',
    },
  },
  {
    name: 'failClosed makes a veto’s failure end the stage (§8.4)',
    handlers: [veto('a', boom, { failClosed: true }), observer('b')],
    expected: {
      status: 'failed',
      failures: ['x/a threw closed'],
      skipped: ['x/b after-failure'],
      order: 'a',
    },
  },
  {
    name: 'a stage whose veto policy is closed does the same (§8.4)',
    policy: 'closed',
    handlers: [veto('a', boom), observer('b')],
    expected: {
      status: 'failed',
      failures: ['x/a threw closed'],
      skipped: ['x/b after-failure'],
      order: 'a',
    },
  },
  {
    name: 'silence of a fail-closed veto is a failure (§8.4)',
    handlers: [veto('a', () => undefined, { failClosed: true }), observer('b')],
    expected: {
      status: 'failed',
      failures: ['x/a bad-output closed'],
      skipped: ['x/b after-failure'],
      order: 'a',
    },
  },
  {
    name: 'null of a fail-closed veto is silence as well (§8.4)',
    handlers: [veto('a', () => null, { failClosed: true })],
    expected: { status: 'failed', failures: ['x/a bad-output closed'], order: 'a' },
  },
  {
    name: 'a fail-closed veto that judges again and fails, fails the stage (§8.3, §8.4)',
    handlers: [
      veto('a', ({ payload }) => (payload['title'] === 'new' ? boom() : allow()), {
        failClosed: true,
      }),
      mutator('b', () => ({ title: 'new' })),
    ],
    expected: {
      status: 'failed',
      payload: { title: 'new' },
      changes: ['x/b title'],
      failures: ['x/a threw closed'],
      order: 'a b a',
    },
  },
  {
    name: 'a cancel keeps its reply in a stage that takes replies (§8.6)',
    handlers: [veto('a', () => cancel('policy', { text: 'why', reply: 'Later, please.' }))],
    expected: {
      status: 'cancelled',
      cancel: {
        ...{ extensionId: 'x', contributionId: 'a', code: 'policy' },
        ...{ text: 'why', reply: 'Later, please.' },
      },
      order: 'a',
    },
  },
  ...[7, '', ' \n'].map(
    (reply): Scenario => ({
      name: `a cancel stands without a reply that has no words: ${JSON.stringify(reply)} (§8.6)`,
      handlers: [veto('a', () => ({ kind: 'cancel', code: 'policy', reply }))],
      expected: {
        status: 'cancelled',
        cancel: { extensionId: 'x', contributionId: 'a', code: 'policy' },
        failures: ['x/a bad-output closed'],
        order: 'a',
      },
    }),
  ),
  {
    name: 'a fail-closed veto may cancel with an undeclared code as well (§8.5)',
    handlers: [veto('a', () => cancel('nope'), { failClosed: true })],
    expected: {
      status: 'cancelled',
      cancel: {
        extensionId: 'x',
        contributionId: 'a',
        code: 'other',
        details: { undeclaredCode: 'nope' },
      },
      failures: ['x/a bad-output closed'],
      order: 'a',
    },
  },
  {
    name: 'a veto that returns a patch is bad output, and nothing of it is applied (§3.2)',
    handlers: [veto('a', () => ({ title: 'new' })), observer('b')],
    expected: { failures: ['x/a bad-output open'], order: 'a b' },
  },
  ...['no', true, [allow()], { kind: 'select' }].map(
    (result): Scenario => ({
      name: `a veto that returns ${JSON.stringify(result)} is bad output (§3.2)`,
      handlers: [veto('a', () => result)],
      expected: { failures: ['x/a bad-output open'], order: 'a' },
    }),
  ),
  {
    name: 'observe-only: a cancel and a patch are failures, and have no effect (§11.1)',
    given: () => ({ gate: 'observe-only' }),
    handlers: [
      veto('a', () => cancel('policy')),
      mutator('b', () => ({ title: 'new' })),
      augmenter('c', () => ({ notes: ['n'] })),
      resolver('d', () => select({ to: 'a' })),
      veto('e', () => allow()),
    ],
    expected: {
      annotations: { notes: ['n'] },
      failures: ['x/a observe-only open', 'x/b observe-only open', 'x/d observe-only open'],
      order: 'a b c d e',
    },
  },
  {
    name: 'observe-only failures are open, also of a fail-closed veto (§11.1)',
    given: () => ({ gate: 'observe-only' }),
    handlers: [veto('a', () => cancel('policy'), { failClosed: true }), observer('b')],
    expected: { failures: ['x/a observe-only open'], order: 'a b' },
  },
];
