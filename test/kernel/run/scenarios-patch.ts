import { boom, mutator, observer, type Scenario } from './scenarios.js';

/** What mutators may do, and each law. */
export const patchScenarios: readonly Scenario[] = [
  {
    name: 'a patch changes the payload, and later handlers see it (§6.1, §6.5)',
    handlers: [
      mutator('a', () => ({ title: 'one' })),
      mutator('b', ({ payload }) => ({ title: `${String(payload['title'])} two` })),
    ],
    expected: {
      payload: { title: 'one two' },
      changes: ['x/a title', 'x/b title'],
      order: 'a b',
    },
  },
  {
    name: 'an empty patch, undefined and nothing are no opinion (§6.1, §3.2)',
    handlers: [
      mutator('a', () => ({})),
      mutator('b', () => ({ title: undefined })),
      mutator('c', () => null),
      mutator('d'),
    ],
    expected: { order: 'a b c d' },
  },
  {
    name: 'a write of the same value is no change (§5.5)',
    handlers: [mutator('a', () => ({ title: 'hello' }))],
    expected: { order: 'a' },
  },
  {
    name: 'one bad field, and nothing of the patch is applied (§6.1)',
    handlers: [
      mutator('a', () => ({ title: 'new', model: 'm', tags: ['t'], count: 'many' })),
      mutator('b', ({ payload }) => ({ outro: String(payload['title']) })),
    ],
    expected: {
      payload: { outro: 'hello' },
      changes: ['x/b outro'],
      failures: ['x/a bad-output open'],
      order: 'a b',
    },
  },
  {
    name: 'an undeclared key is bad output, also where all others are good (§6.3)',
    handlers: [mutator('a', () => ({ title: 'new', titel: 'x' }))],
    expected: { failures: ['x/a bad-output open'], order: 'a' },
  },
  {
    name: 'a field of the payload that the patch does not declare is bad output (§6.3)',
    handlers: [mutator('a', () => ({ target: 'elsewhere' }))],
    expected: { failures: ['x/a bad-output open'], order: 'a' },
  },
  {
    name: 'null clears where the schema allows it, and is refused where not (§6.1)',
    payload: { tags: ['t'], model: 'm', headers: { a: '1' }, intro: 'in' },
    handlers: [
      mutator('a', () => ({ tags: null, model: null, headers: null, intro: null })),
      mutator('b', () => ({ title: null })),
    ],
    expected: {
      payload: { tags: null, model: null, headers: null, intro: null },
      changes: ['x/a headers', 'x/a intro', 'x/a model', 'x/a tags'],
      failures: ['x/b bad-output open'],
      order: 'a b',
    },
  },
  {
    name: 'append: lists grow in run order (§6.2)',
    payload: { tags: ['t'] },
    handlers: [mutator('a', () => ({ tags: ['a1', 'a2'] })), mutator('b', () => ({ tags: ['b'] }))],
    expected: {
      payload: { tags: ['t', 'a1', 'a2', 'b'] },
      changes: ['x/a tags', 'x/b tags'],
      order: 'a b',
    },
  },
  {
    name: 'append: an empty list adds nothing, and is no change (§6.2, §5.5)',
    payload: { tags: ['t'] },
    handlers: [mutator('a', () => ({ tags: [] }))],
    expected: { order: 'a' },
  },
  {
    name: 'first-defined: the first patch beats the emitted value and later patches (§6.2)',
    payload: { model: 'emitted' },
    handlers: [
      mutator('a', () => ({ model: 'first' })),
      mutator('b', () => ({ model: 'second', title: 'b' })),
    ],
    expected: {
      payload: { model: 'first', title: 'b' },
      changes: ['x/a model', 'x/b model overruled', 'x/b title'],
      order: 'a b',
    },
  },
  {
    name: 'merge-keys: keys are set one by one (§6.2)',
    payload: { headers: { a: '1', b: '2' } },
    handlers: [
      mutator('a', () => ({ headers: { b: 'two', c: '3' } })),
      mutator('b', () => ({ headers: { c: null } })),
    ],
    expected: {
      payload: { headers: { a: '1', b: 'two', c: null } },
      changes: ['x/a headers.b', 'x/a headers.c', 'x/b headers.c'],
      order: 'a b',
    },
  },
  {
    name: 'prepend-text: pieces stand before the emitted text, in run order (§6.2)',
    payload: { intro: 'base' },
    handlers: [mutator('a', () => ({ intro: 'one' })), mutator('b', () => ({ intro: 'two' }))],
    expected: {
      payload: { intro: 'one|two|base' },
      changes: ['x/a intro', 'x/b intro'],
      order: 'a b',
    },
  },
  {
    name: 'append-text: pieces stand after the emitted text, a blank line between (§6.2)',
    payload: { outro: 'base' },
    handlers: [mutator('a', () => ({ outro: 'one' })), mutator('b', () => ({ outro: 'two' }))],
    expected: {
      payload: { outro: 'base\n\none\n\ntwo' },
      changes: ['x/a outro', 'x/b outro'],
      order: 'a b',
    },
  },
  {
    name: 'the text laws make a text where none was emitted (§6.2)',
    handlers: [mutator('a', () => ({ intro: 'one', outro: 'two' }))],
    expected: {
      payload: { intro: 'one', outro: 'two' },
      changes: ['x/a intro', 'x/a outro'],
      order: 'a',
    },
  },
  {
    name: 'a patch that fits alone and not after another is refused (§6.6)',
    payload: { capped: ['1'] },
    handlers: [
      mutator('a', () => ({ capped: ['2'] })),
      mutator('b', () => ({ capped: ['3'], title: 'lost' })),
    ],
    expected: {
      payload: { capped: ['1', '2'] },
      changes: ['x/a capped'],
      failures: ['x/b bad-output open'],
      order: 'a b',
    },
  },
  {
    name: 'a trusted field without its grant refuses the whole patch (§6.7)',
    handlers: [mutator('a', () => ({ title: 'lost', secret: 's' }))],
    expected: { failures: ['x/a untrusted open'], order: 'a' },
  },
  {
    name: 'a trusted field is set by an extension that holds its grant (§6.7)',
    options: {
      grants: {
        x: ['lab.sequential:secret', 'lab.sync:secret'],
      },
    },
    handlers: [
      mutator('a', () => ({ secret: 's' })),
      mutator('b', () => ({ secret: 't' }), { extensionId: 'y' }),
    ],
    expected: {
      payload: { secret: 's' },
      changes: ['x/a secret'],
      failures: ['y/b untrusted open'],
      order: 'a b',
    },
  },
  {
    name: 'a mutator that throws fails open, and the next sees the last good value (§5.3, §4.4)',
    handlers: [
      mutator('a', () => ({ title: 'good' })),
      mutator('b', boom),
      observer('c', ({ payload }) => {
        if (payload['title'] !== 'good') throw new Error('not the last good value');
      }),
    ],
    expected: {
      payload: { title: 'good' },
      changes: ['x/a title'],
      failures: ['x/b threw open'],
      order: 'a b c',
    },
  },
  {
    name: 'a mutator that throws fails closed where the row says so (§5.3, §5.4)',
    policy: 'closed',
    handlers: [mutator('a', () => ({ title: 'good' })), mutator('b', boom), mutator('c')],
    expected: {
      status: 'failed',
      payload: { title: 'good' },
      changes: ['x/a title'],
      failures: ['x/b threw closed'],
      skipped: ['x/c after-failure'],
      order: 'a b',
    },
  },
  {
    name: 'a bad patch fails closed where the row says so (§5.3)',
    policy: 'closed',
    handlers: [mutator('a', () => ({ count: -1 })), mutator('b')],
    expected: {
      status: 'failed',
      failures: ['x/a bad-output closed'],
      skipped: ['x/b after-failure'],
      order: 'a',
    },
  },
  ...(['text', 7, ['title'], new Map([['title', 'x']])] as const).map(
    (result): Scenario => ({
      name: `a mutator that returns ${Object.prototype.toString.call(result)} is bad output (§3.2)`,
      handlers: [mutator('a', () => result)],
      expected: { failures: ['x/a bad-output open'], order: 'a' },
    }),
  ),
];
