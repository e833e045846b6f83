import {
  allow,
  ask,
  cancel,
  createKernel,
  defineStage,
  explain,
  isSluiceError,
  select,
} from 'sluice-kernel';
import { createKernel as createCore } from 'sluice-kernel/core';

// One program for every runtime: it imports the kernel alone, and hands back data that all of them must agree on.

/** A misuse of a public function, and the code of its error. */
interface Misuse {
  readonly of: string;
  readonly code: string | undefined;
  readonly hint: boolean;
}

/** A Standard Schema, written out. */
const bill = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value: unknown) =>
      typeof Object(value).cents === 'number'
        ? { value: value as { readonly cents: number } }
        : { issues: [{ message: 'must be number', path: ['cents'] }] },
  },
} as const;

const row = {
  family: 'acme.billing.checking',
  classes: ['observer', 'mutator', 'veto'],
  mode: 'sequential',
  payload: bill,
  sample: { cents: 1 },
  laws: { cents: 'replace' },
  cancelCodes: ['over-budget'],
  asks: true,
} as const;

type Loose = Readonly<Record<string, unknown>>;

/** JavaScript, which no compiler has read. */
const untyped = {
  createKernel: createKernel as (options?: unknown) => ReturnType<typeof createKernel>,
  createCore: createCore as (options?: unknown) => ReturnType<typeof createKernel>,
  defineStage: defineStage as (given: unknown) => unknown,
};

/** Runs the program. */
export async function kernelAnywhere(): Promise<string> {
  const stage = defineStage(row);
  const kernel = untyped.createCore({ stages: [stage] });
  const contribute = (given: Loose) =>
    kernel.contribute({ family: row.family, extensionId: 'acme', ...given } as never);
  const dispatch = (payload: unknown, given?: unknown) =>
    kernel.dispatch(row.family as never, payload as never, given as never);
  const half = contribute({
    class: 'mutator',
    id: 'half',
    handler: ({ payload }: { payload: { cents: number } }) => ({ cents: payload.cents / 2 }),
  });
  contribute({
    class: 'veto',
    id: 'limit',
    handler: async ({ payload }: { payload: { cents: number } }) => {
      await Promise.resolve();
      if (payload.cents > 1000) return cancel('over-budget', { text: `${payload.cents} cents` });
      return payload.cents > 100 ? ask({ title: 'Pay?' }) : allow();
    },
  });
  const seen = await Promise.all([4000, 100, 400].map((cents) => dispatch({ cents })));
  const [, , asked] = seen;
  const answered = await dispatch(asked?.payload ?? {}, {
    after: asked,
    answered: [{ extensionId: 'acme', contributionId: 'limit' }],
  });
  contribute({ class: 'observer', id: 'slow', timeoutMs: 5, handler: () => new Promise(() => {}) });
  const timedOut = await dispatch({ cents: 2 });
  half[Symbol.dispose]();
  const outcomes = [...seen, answered, timedOut];
  const told = outcomes.map((outcome) => ({
    status: outcome.status,
    payload: outcome.payload,
    failures: outcome.failures.map(({ kind }) => kind),
    lines: explain(outcome)
      .map(({ words }) => words)
      .map((line) => line.replace(/\d+(\.\d+)? ms/g, 'N ms')),
  }));
  const misuses = await Promise.all(misusesOf(contribute, dispatch).map(tried));
  await kernel.close({ timeoutMs: 1 });
  misuses.push(await tried(['dispatch after close', () => dispatch({ cents: 1 })]));
  const families = createKernel().stages().length;
  return JSON.stringify({ told, families, rank: select('a', { rank: 2 }).rank, misuses });
}

type Try = readonly [of: string, run: () => unknown];

/** Each misuse of a public function. */
function misusesOf(
  contribute: (given: Loose) => unknown,
  dispatch: (payload: unknown, given?: unknown) => unknown,
): Try[] {
  const handler = () => undefined;
  const veto = { class: 'veto', id: 'x', handler };
  const kernel = createKernel({ limits: { refuseAt: 1 } });
  const loose = kernel as unknown as Record<string, (...args: readonly unknown[]) => unknown>;
  const sync = 'transcript.message.writing';
  return [
    ['defineStage without a row', () => untyped.defineStage(undefined)],
    ['defineStage without a payload', () => untyped.defineStage({ ...row, payload: undefined })],
    ['defineStage without a sample', () => untyped.defineStage({ ...row, sample: undefined })],
    ['defineStage with no class', () => untyped.defineStage({ ...row, classes: undefined })],
    [
      'createKernel with a family twice',
      () => createCore({ stages: [defineStage(row), defineStage(row)] as never }),
    ],
    ['createCore without stages', () => untyped.createCore({})],
    ['createCore without options', () => untyped.createCore()],
    ['createKernel with null', () => untyped.createKernel(null)],
    ['createKernel with a stage that is none', () => untyped.createKernel({ stages: [{}] })],
    [
      'createKernel with an override that is none',
      () => untyped.createKernel({ overrides: { 'a/b': { disabled: 'yes' } } }),
    ],
    ['contribute nothing', () => loose['contribute']?.(undefined)],
    ['contribute to no family', () => contribute({ ...veto, family: 'acme.billing.cheking' })],
    ['contribute a class that the stage lacks', () => contribute({ ...veto, class: 'resolver' })],
    ['contribute no function', () => contribute({ ...veto, handler: 'x' })],
    ['contribute a field that is none', () => contribute({ ...veto, prio: 1 })],
    ['contribute twice', () => contribute({ ...veto, id: 'limit' })],
    ['contribute a match that is none', () => contribute({ ...veto, match: { cents: 1 } })],
    [
      'contribute an async handler to a sync stage',
      () =>
        loose['contribute']?.({
          ...veto,
          family: sync,
          extensionId: 'acme',
          handler: async () => undefined,
        }),
    ],
    [
      'contribute too many',
      () => {
        loose['contribute']?.({ ...veto, family: sync, extensionId: 'acme' });
        return loose['contribute']?.({ ...veto, family: sync, extensionId: 'acme', id: 'y' });
      },
    ],
    ['dispatch no family', () => loose['dispatch']?.('egress.prepare', {})],
    ['dispatch a sync family', () => loose['dispatch']?.(sync, {})],
    ['dispatchSync an async family', () => loose['dispatchSync']?.('egress.preparing', {})],
    ['dispatch no payload', () => dispatch(undefined)],
    ['dispatch what cannot be frozen', () => dispatch({ cents: new Map() })],
    ['dispatch with a band that is none', () => dispatch({ cents: 1 }, { band: 'first' })],
    [
      'parsePayload of what does not fit',
      () => loose['parsePayload']?.('egress.preparing', { contnt: 1 }),
    ],
    ['plan of no family', () => loose['plan']?.('x.y')],
  ];
}

async function tried([of, run]: Try): Promise<Misuse> {
  try {
    await run();
    return { of, code: undefined, hint: false };
  } catch (error) {
    if (isSluiceError(error)) return { of, code: error.code, hint: error.hint !== '' };
    return { of, code: String(error), hint: false };
  }
}
