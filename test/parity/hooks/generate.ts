import fc from 'fast-check';
import type { LegacyHookName } from '../../../src/openclaw/index.js';
import { rowsOf } from '../../../src/openclaw/profiles/index.js';
import { events } from './events.js';
import {
  type ErrorName,
  type Fields,
  type HandlerSpec,
  type HookSet,
  type Timing,
  untrustedPlugin,
} from './hook-set.js';
import { resultOf, writesOf } from './results.js';

const timings: Readonly<Record<'void' | 'modifying' | 'sync', fc.Arbitrary<Timing>>> = {
  void: weighted({ now: 6, async: 6, gated: 6, thenable: 1, never: 1 }),
  modifying: weighted({ now: 12, async: 12, gated: 8, thenable: 2, never: 1 }),
  sync: weighted({ now: 12, async: 1, thenable: 1 }),
};

const errors = weighted<ErrorName>({
  error: 6,
  'type-error': 3,
  text: 2,
  nothing: 1,
  null: 1,
  record: 1,
  unreadable: 1,
});

function weighted<T extends string>(
  weights: Readonly<Partial<Record<T, number>>>,
): fc.Arbitrary<T> {
  const entries = Object.entries(weights) as [T, number][]; // exactly the keys that are given
  return fc.oneof(...entries.map(([value, weight]) => ({ weight, arbitrary: fc.constant(value) })));
}

const priorities = fc.oneof(
  { weight: 8, arbitrary: fc.constant(undefined) },
  { weight: 12, arbitrary: fc.constantFrom<number>(0, 0, 10, -10, 5, -0.5, 1e9) },
  { weight: 1, arbitrary: fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY) },
);

const plugins = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom('alpha', 'beta', 'gamma', 'Zeta') },
  { weight: 1, arbitrary: fc.constant(untrustedPlugin) },
);

function handlerOf(hook: string, results: fc.Arbitrary<unknown>): fc.Arbitrary<HandlerSpec> {
  const { kind } = rowsOf('2026.9')[hook] ?? rowsOf('2026.3')[hook] ?? { kind: 'modifying' };
  return fc.record({
    pluginId: plugins,
    priority: priorities,
    timing: timings[kind === 'void' || kind === 'sync' ? kind : 'modifying'],
    release: fc.nat(3),
    writes: writesOf(hook as LegacyHookName),
    ends: fc.oneof(
      { weight: 6, arbitrary: results.map((returns) => ({ returns })) },
      { weight: 1, arbitrary: errors.map((throws) => ({ throws })) },
    ),
  });
}

/** So many of one plugin that their order by number is not their order as text. */
function manyOf(handler: fc.Arbitrary<HandlerSpec>): fc.Arbitrary<HandlerSpec[]> {
  const one = handler.map((spec) => ({ ...spec, pluginId: 'alpha', priority: undefined }));
  return fc.array(one, { minLength: 11, maxLength: 13 });
}

/** At most one handler that never settles: two would spend the budget of the whole stage. */
function hangingOnce(handlers: readonly HandlerSpec[]): HandlerSpec[] {
  const first = handlers.findIndex(({ timing }) => timing === 'never');
  return handlers.map((spec, at) =>
    spec.timing === 'never' && at !== first ? { ...spec, timing: 'async' } : spec,
  );
}

/** The handlers of a set. */
export function handlersOf(
  hook: string,
  results: fc.Arbitrary<unknown> = resultOf(hook as LegacyHookName),
): fc.Arbitrary<HandlerSpec[]> {
  const handler = handlerOf(hook, results);
  return fc
    .oneof(
      { weight: 2, arbitrary: fc.constant([]) },
      { weight: 60, arbitrary: fc.array(handler, { minLength: 1, maxLength: 5 }) },
      { weight: 1, arbitrary: manyOf(handler) },
    )
    .map(hangingOnce);
}

/** A set of handlers, with an event and a context. */
export function setOf<H extends string>(
  hook: H,
  about: { readonly event: fc.Arbitrary<Fields>; readonly ctx: fc.Arbitrary<Fields> },
  handlers: fc.Arbitrary<HandlerSpec[]>,
): fc.Arbitrary<HookSet<H>> {
  return fc.record({
    hook: fc.constant(hook),
    ...about,
    handlers,
    catchErrors: fc.oneof(
      { weight: 3, arbitrary: fc.constant(true) },
      { weight: 1, arbitrary: fc.constant(false) },
    ),
  }) as fc.Arbitrary<HookSet<H>>; // a record of exactly its fields
}

/** Sets of handlers for one hook, with a well-formed event of it. */
export function setsOf(hook: LegacyHookName): fc.Arbitrary<HookSet> {
  return setOf(hook, events[hook], handlersOf(hook));
}
