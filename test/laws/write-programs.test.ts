import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contributor, createLab, type LabCall } from '../support/kernel-lab.js';
import { labSample } from '../support/kernel-stages.js';

/** A write as sloppy code makes it. An error of it is swallowed: whoever writes to others' data does so. */
const sloppy = (body: string): ((payload: object) => void) =>
  new Function('payload', `try { ${body} } catch {}`) as (payload: object) => void; // its text is a test's own

const writes = [
  "payload.title = 'X'",
  'payload.count = 99',
  'delete payload.title',
  'payload.planted = 1',
  "Object.defineProperty(payload, 'title', { get: () => 'X', configurable: false })",
  'Object.freeze(payload)',
  'Object.seal(payload)',
  "Object.setPrototypeOf(payload, { title: 'X' })",
  "payload.tags.push('X')",
  "payload.headers.a = 'X'",
  "payload.body.lines.push('X')",
  'const { title } = payload; delete payload.title; payload.title = title',
  "payload[Symbol('X')] = 1",
].map(sloppy);

const patches = [
  { title: 'p' },
  { count: 7 },
  { tags: ['t'] },
  { headers: { a: 'v' } },
  { body: { lines: ['l'] } },
  { model: 'm' },
  { intro: 'i' },
];

/** Writes through the n-th call that a dishonest handler has kept; `readsFirst` says that the call is read before. */
const poke = fc.record({
  call: fc.nat(20),
  write: fc.nat(writes.length - 1),
  readsFirst: fc.boolean(),
});

const handler = fc.record({
  kind: fc.constantFrom('mutator', 'observer', 'dishonest'),
  /** Microtasks before it ends; only in a stage that waits. */
  ticks: fc.nat(3),
  hangs: fc.integer({ min: 0, max: 11 }).map((at) => at === 0),
  throws: fc.integer({ min: 0, max: 5 }).map((at) => at === 0),
  patch: fc.nat(patches.length - 1),
  reads: fc.boolean(),
  /** Writes that others make while it runs, as far as they have a call. */
  pokes: fc.array(poke, { maxLength: 3 }),
});

type Program = readonly (typeof handler extends fc.Arbitrary<infer T> ? T : never)[];

/** Everything that honest handlers and the caller see of a program, with its writes or without. */
async function seenIn(family: string, program: Program, areMade: boolean): Promise<string[]> {
  const { kernel, clock } = createLab();
  const add = contributor(kernel, family);
  const isSync = family === 'lab.sync';
  const kept: LabCall[] = [];
  const seen: string[] = [];
  const makeWrites = (pokes: Program[number]['pokes']): void => {
    for (const { call: at, write, readsFirst } of pokes) {
      const call = kept[at % Math.max(1, kept.length)];
      if (call === undefined) continue;
      if (readsFirst) void call.payload;
      if (areMade) writes[write]?.(call.payload);
    }
  };
  for (const [at, { kind, ticks, hangs, throws, patch, reads, pokes }] of program.entries()) {
    const id = `h${at}`;
    const look = ({ payload }: LabCall): void => {
      seen.push(`${id} ${JSON.stringify(payload)} ${Object.keys(payload)}`);
    };
    const honest = (call: LabCall): unknown => {
      if (reads) look(call);
      const end = (): unknown => {
        makeWrites(pokes);
        look(call);
        return kind === 'mutator' ? patches[patch] : undefined;
      };
      if (isSync || ticks === 0) return end();
      return (async () => {
        for (let tick = 0; tick < ticks; tick++) await makeWrites(pokes);
        return end();
      })();
    };
    const dishonest = (call: LabCall): unknown => {
      kept.push(call);
      if (reads) void call.payload;
      queueMicrotask(() => makeWrites(pokes));
      if (throws) throw new Error('it was to throw');
      if (isSync || ticks === 0) return undefined;
      return hangs ? new Promise(() => undefined) : Promise.resolve();
    };
    add(kind === 'mutator' ? 'mutator' : 'observer', id, kind === 'dishonest' ? dishonest : honest);
  }
  const payload = { ...labSample(), tags: ['s'], headers: { a: 'o' }, body: { lines: ['q'] } };
  const dispatched = kernel.run(family, payload);
  for (let step = 0; step < 20; step++) await clock.advance(450);
  const outcome = await dispatched;
  const show = (): void => {
    const { payload: last, changes, event, status } = outcome;
    seen.push(JSON.stringify([last, changes, event, status]).replaceAll(event.eventId, 'id'));
  };
  show();
  makeWrites(program.flatMap(({ pokes }) => pokes));
  show();
  const isHonest = (id: string): boolean => program[Number(id.slice(1))]?.kind !== 'dishonest';
  for (const { contributionId, kind } of outcome.failures)
    if (contributionId !== undefined && isHonest(contributionId))
      seen.push(`${contributionId} ${kind}`);
  return seen;
}

describe('writes through calls that handlers have kept', () => {
  it.each(['lab.sync', 'lab.sequential'])(
    'are seen by nobody else, and blamed on nobody else, in %s (§1.5, §5.7; property)',
    async (family) => {
      await fc.assert(
        fc.asyncProperty(fc.array(handler, { minLength: 3, maxLength: 9 }), async (program) => {
          const untouched = await seenIn(family, program, false);
          expect(await seenIn(family, program, true)).toEqual(untouched);
        }),
        { numRuns: Number(process.env['WRITE_PROGRAMS'] ?? 150) },
      );
    },
  );
});
