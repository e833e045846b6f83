import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allow } from '../../src/kernel/internal.js';
import { byName, createLab, type LabCall, type LabOutcome } from '../support/kernel-lab.js';
import { install, type Program, payloads, programs } from '../support/kernel-programs.js';

/** More programs with `LAW_RUNS=10000`. */
const numRuns = Number(process.env['LAW_RUNS'] ?? 150);

const kinds = ['a', 'ab', 'abc', 'b', '', 'ä'];
const cities = ['Rome', 'Roma', 'Paris'];
const channels = ['telegram', 'tele', 'pigeon'];

type Wanted = Readonly<Record<string, readonly (string | boolean | number)[]>>;

const some = <T>(...of: readonly T[]) =>
  fc.uniqueArray(fc.constantFrom(...of), { minLength: 1, maxLength: 3 });

const conditions: fc.Arbitrary<Wanted> = fc.record(
  {
    kind: some(...kinds, 'a*', 'ab*', '*'),
    urgent: some(true, false),
    'place.city': some(...cities, 'Rom*', 'P*'),
    'place.floor': some(0, 1, 2),
    'accountRef.channel': some(...channels, 'tele*'),
  },
  { requiredKeys: [] },
);

const wanted = fc.oneof(
  { weight: 1, arbitrary: fc.constant<Wanted>({}) },
  { weight: 2, arbitrary: conditions },
);

const situations = fc.record({
  payload: fc
    .tuple(
      payloads,
      fc.record(
        {
          kind: fc.constantFrom(...kinds, null),
          urgent: fc.boolean(),
          place: fc.record(
            { city: fc.constantFrom(...cities), floor: fc.nat(2) },
            { requiredKeys: ['city'] },
          ),
          target: fc.constant('there'),
        },
        { requiredKeys: [] },
      ),
    )
    .map(([payload, more]): Record<string, unknown> => ({ ...payload, ...more })),
  channel: fc.option(fc.constantFrom(...channels)),
});

/** The condition as an author would write it in a handler: from the envelope alone. */
function holds(match: Wanted, { event }: LabCall, unknown: boolean): boolean {
  return Object.entries(match).every(([key, values]) => {
    const [head = '', ...rest] = key.split('.');
    const root = head === 'accountRef' ? event : event['payload'];
    const value = [head, ...rest].reduce<unknown>((at, name) => Object(at)[name], root);
    if (value === undefined || value === null) return unknown;
    return values.some((one) =>
      typeof one === 'string' && one.endsWith('*')
        ? String(value).startsWith(one.slice(0, -1)) && typeof value === 'string'
        : one === value,
    );
  });
}

function facts(outcome: LabOutcome, calls: readonly string[]) {
  return {
    status: outcome.status,
    payload: outcome.payload,
    annotations: outcome.annotations,
    changes: outcome.changes.map((one) => `${byName(one)} ${one.path}`),
    failures: outcome.failures.map((one) => `${byName(one)} ${one.kind} ${one.policy}`),
    cancel: outcome.cancel,
    selected: outcome.selection?.target,
    candidates: outcome.candidates.map((one) => [byName(one), one.invalid]),
    stale: outcome.staleApprovals.map(byName),
    calls,
  };
}

/** Puts a veto before the others that allows, so that it judges again what they change. */
const beside =
  (family: string) =>
  (list: readonly Program[]): Program[] =>
    family === 'lab.parallel'
      ? [...list]
      : [{ id: 'h', class: 'veto', returns: () => allow(), options: {} }, ...list];

describe('a match', () => {
  it.each(['lab.parallel', 'lab.sequential', 'lab.sync', 'lab.sequential-closed'])(
    'comes on %s to the same as its condition in the handler: outcome, order and second judgement (judgement §2.5)',
    async (family) => {
      const classes = family === 'lab.parallel' ? (['observer'] as const) : undefined;
      const list = programs(classes, 8)
        .map(beside(family))
        .chain((made) =>
          fc.tuple(
            fc.constant(made),
            fc.array(wanted, { minLength: made.length, maxLength: made.length }),
            fc.array(fc.nat(2), { minLength: made.length, maxLength: made.length }),
            fc.boolean(),
          ),
        );
      const seen = { called: 0, leftOut: 0, rechecked: 0 };
      await fc.assert(
        fc.asyncProperty(
          list,
          situations,
          async ([made, matches, priorities, isAsync], situation) => {
            const run = async (withMatch: boolean) => {
              const { kernel } = createLab();
              const calls: string[] = [];
              const own = made.map((program, i): Program => {
                const match = matches[i] ?? {};
                const isStrict =
                  program.class === 'veto' &&
                  (program.options.failClosed === true || family.endsWith('closed'));
                const returns = (call: LabCall): unknown => {
                  if (!holds(match, call, isStrict)) {
                    if (withMatch) throw new Error('called without a match');
                    seen.leftOut++;
                    return program.class === 'veto' ? allow() : undefined;
                  }
                  seen.called++;
                  if (call.pass === 'recheck') seen.rechecked++;
                  calls.push(`${program.id} ${call.pass} ${JSON.stringify(call.payload)}`);
                  return program.returns(call);
                };
                const awaited = isAsync && i % 2 === 0 && family.startsWith('lab.sequential');
                return {
                  ...program,
                  returns: awaited ? async (call) => returns(call) : returns,
                  options: { ...program.options, ...(withMatch && { match }) },
                };
              });
              install(kernel, family, own, ({ id }, i) => (id === 'h' ? 9 : (priorities[i] ?? 0)));
              const { channel, payload } = situation;
              const given = channel === null ? {} : { accountRef: { channel, id: '1' } };
              return facts(await kernel.run(family, structuredClone(payload), given), calls);
            };
            expect(await run(true)).toEqual(await run(false));
          },
        ),
        { numRuns: 5 * numRuns }, // a second judgement that a match decides on is rare
      );
      expect(Math.min(seen.called, seen.leftOut)).toBeGreaterThan(50); // the programs do something
      if (family !== 'lab.parallel') expect(seen.rechecked).toBeGreaterThan(0);
    },
  );
});
