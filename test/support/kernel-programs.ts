import fc from 'fast-check';
import { allow, ask, cancel, type HandlerClass, select } from '../../src/kernel/internal.js';
import type { LabCall, LabContribution, LabHandler, LabKernel } from './kernel-lab.js';

/** A generated handler: what it does is a pure function of what it is called with. */
export interface Program {
  readonly id: string;
  readonly class: HandlerClass;
  readonly returns: (call: LabCall) => unknown;
  readonly options: Partial<Pick<LabContribution, 'failClosed' | 'recheck' | 'match'>>;
}

const text = fc.constantFrom('', 'a', 'bad', 'hello', 'ü\ud800');
const keys = fc.constantFrom('a', 'b', 'constructor', 'x-y', '0');

/** A patch of the lab's payload that fits its schema. */
export const goodPatch: fc.Arbitrary<Record<string, unknown>> = fc.record(
  {
    title: text,
    count: fc.nat(3),
    tags: fc.option(fc.array(text, { maxLength: 2 })),
    capped: fc.array(text, { maxLength: 2 }),
    model: fc.option(text),
    headers: fc.option(fc.dictionary(keys, fc.option(text), { maxKeys: 2, noNullPrototype: true })),
    intro: fc.option(text),
    outro: text,
    body: fc.record({ lines: fc.array(text, { maxLength: 2 }) }),
  },
  { requiredKeys: [] },
);

/** A patch that may be refused. */
export const anyPatch: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: goodPatch },
  {
    weight: 1,
    arbitrary: fc
      .tuple(
        goodPatch,
        fc.constantFrom({ count: -1 }, { titel: 'x' }, { title: null }, { secret: 's' }),
      )
      .map(([patch, bad]) => ({ ...patch, ...bad })),
  },
);

/** A payload of the lab. */
export const payloads: fc.Arbitrary<Record<string, unknown>> = goodPatch.map((fields) => ({
  title: 'hello',
  ...fields,
}));

type Returns = Program['returns'];

const throws: Returns = () => {
  throw new Error('boom');
};

const bodies: Readonly<Record<HandlerClass, fc.Arbitrary<Returns>>> = {
  observer: fc.constantFrom<Returns>(
    () => undefined,
    () => null,
    throws,
    () => ({ title: 'x' }),
  ),
  augmenter: fc
    .record(
      { notes: fc.array(text, { maxLength: 2 }), mood: text, language: text },
      { requiredKeys: [] },
    )
    .map((notes) => () => structuredClone(notes)),
  mutator: fc.oneof(
    { weight: 6, arbitrary: anyPatch.map((patch) => () => structuredClone(patch)) },
    { weight: 1, arbitrary: fc.constant(throws) },
  ),
  veto: fc.constantFrom<Returns>(
    () => allow(),
    () => undefined,
    ({ payload }) => (payload.title === 'bad' ? cancel('policy') : allow()),
    ({ payload }) => (payload.count === 3 ? cancel('quiet', { text: 'three' }) : undefined),
    () => cancel('policy'),
    throws,
  ),
  resolver: fc
    .tuple(fc.constantFrom('a', 'b', 'NOT VALID'), fc.boolean(), fc.integer({ min: -1, max: 1 }))
    .map(
      ([to, explicit, rank]) =>
        () =>
          select({ to }, { explicit, rank }),
    ),
};

/** Vetoes that cancel, ask, allow or fail, by what they are called with. */
const asking: fc.Arbitrary<Returns> = fc.constantFrom<Returns>(
  () => ask({ title: 'May I?' }),
  ({ payload }) => (payload.title === 'bad' ? ask({ title: 'It is bad.' }) : allow()),
  ({ payload }) => (payload.title === 'bad' ? allow() : ask({ title: 'It is good.' })),
  ({ pass }) => (pass === 'recheck' ? throws(undefined as never) : ask({ title: 'Once?' })),
  () => ask({ title: '' }),
  () => ask({ title: 'May I?' }),
  () => cancel('policy'),
  () => allow(),
  () => allow(),
  () => undefined,
  throws,
);

/** Lists of handlers, vetoes among them that ask. */
export function askingPrograms(maxLength = 7): fc.Arbitrary<Program[]> {
  const other = fc
    .constantFrom<HandlerClass>('mutator', 'augmenter', 'resolver')
    .chain((name) =>
      fc.record({ class: fc.constant(name), returns: bodies[name], options: fc.constant({}) }),
    );
  const veto = fc.record({
    class: fc.constant<HandlerClass>('veto'),
    returns: asking,
    options: fc.constantFrom({}, {}, { failClosed: true }, { recheck: false }),
  });
  return fc
    .array(fc.oneof({ weight: 2, arbitrary: veto }, other), { maxLength })
    .map((list) => list.map((program, i) => ({ ...program, id: `h${i}` })));
}

/** Lists of handlers, of the classes given, with ids in run order: `h0`, `h1`, ... */
export function programs(
  classes: readonly HandlerClass[] = ['observer', 'augmenter', 'mutator', 'veto', 'resolver'],
  maxLength = 7,
): fc.Arbitrary<Program[]> {
  const one = fc.constantFrom(...classes).chain((name) =>
    fc.record({
      class: fc.constant(name),
      returns: bodies[name],
      options: name === 'veto' ? fc.constantFrom({}, { failClosed: true }) : fc.constant({}),
    }),
  );
  return fc
    .array(one, { maxLength })
    .map((list) => list.map((program, i) => ({ ...program, id: `h${i}` })));
}

/** Registers programs of one extension, `x`; the default order is that of their ids. */
export function install(
  kernel: LabKernel,
  family: string,
  list: readonly Program[],
  priorityOf: (program: Program, index: number) => number = () => 0,
  wrap: (handler: LabHandler, program: Program) => LabHandler = (handler) => handler,
): void {
  list.forEach((program, i) => {
    const { id, class: name, returns, options } = program;
    kernel.contribute({
      family,
      class: name,
      extensionId: 'x',
      id,
      priority: priorityOf(program, i),
      ...options,
      handler: wrap(returns, program),
    });
  });
}
