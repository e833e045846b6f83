import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { CallPieces } from '../src/answer/chat-calls.js';
import { turnOf } from './agent-lab.js';
import { done, part, says, scripted } from './model-server.js';

/** Random runs; .ci/run --long tries 1,000. */
const runs = Math.min(1_000, Number(process.env['LAW_RUNS'] ?? 60));

type Piece = Readonly<Record<string, unknown>>;

/** The calls that an agent makes of pieces: each a list of one delta. */
async function made(...deltas: readonly (readonly Piece[])[]) {
  const steps = deltas.map((tool_calls) => ({ tool_calls }));
  const { calls, failure } = await turnOf([
    scripted([...steps, part({}, 'tool_calls'), done]),
    says('Done.'),
  ]);
  expect(failure).toBeUndefined();
  expect(new Set(calls.map(({ id }) => id)).size).toBe(calls.length);
  expect(calls.map(({ id }) => id)).not.toContain('');
  return calls.map(({ name, arguments: args }) => ({ name, args }));
}

const fn = (name?: string, args?: unknown): Piece => ({
  function: { ...(name !== undefined && { name }), ...(args !== undefined && { arguments: args }) },
});

interface Call {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** The ways in which servers send calls. Each gives the deltas of some calls; `cut` is a place in a text. */
const styles: Readonly<
  Record<string, (calls: readonly Call[], cut: (text: string) => number) => Piece[][]>
> = {
  'as OpenAI does': (calls, cut) =>
    calls.flatMap(({ name, args }, index) => {
      const text = JSON.stringify(args);
      return [
        [{ index, id: `call-${index}`, ...fn(name, '') }],
        [{ index, ...fn(undefined, text.slice(0, cut(text))) }],
        [{ index, ...fn(undefined, text.slice(cut(text))) }],
      ];
    }),
  'side by side, by index': (calls, cut) => [
    calls.map(({ name }, index) => ({ index, id: `call-${index}`, ...fn(name, '') })),
    calls.map(({ args }, index) => ({
      index,
      ...fn(undefined, JSON.stringify(args).slice(0, cut(JSON.stringify(args)))),
    })),
    calls.map(({ args }, index) => ({
      index,
      ...fn(undefined, JSON.stringify(args).slice(cut(JSON.stringify(args)))),
    })),
  ],
  'with another id in each piece': (calls, cut) =>
    calls.flatMap(({ name, args }, index) => {
      const text = JSON.stringify(args);
      return [
        [{ index, id: `a-${index}`, ...fn(name, '') }],
        [{ index, id: `b-${index}`, ...fn(undefined, text.slice(0, cut(text))) }],
        [{ index, id: `c-${index}`, ...fn(undefined, text.slice(cut(text))) }],
      ];
    }),
  'with the name in each piece': (calls, cut) =>
    calls.flatMap(({ name, args }, index) => {
      const text = JSON.stringify(args);
      return [
        [{ index, id: `a-${index}`, ...fn(name, text.slice(0, cut(text))) }],
        [{ index, id: `a-${index}`, ...fn(name, text.slice(cut(text))) }],
      ];
    }),
  'whole, all with the index 0 and no id': (calls) =>
    calls.map(({ name, args }) => [{ index: 0, id: '', ...fn(name, JSON.stringify(args)) }]),
  'whole, in one delta without index and id': (calls) => [
    calls.map(({ name, args }) => fn(name, JSON.stringify(args))),
  ],
  'with objects for arguments': (calls) => [calls.map(({ name, args }) => fn(name, args))],
  'without index, by id': (calls, cut) =>
    calls.flatMap(({ name, args }, at) => {
      const text = JSON.stringify(args);
      return [
        [{ id: `a-${at}`, ...fn(name, '') }],
        [{ id: `a-${at}`, ...fn(undefined, text.slice(0, cut(text))) }],
        [{ id: `a-${at}`, ...fn(undefined, text.slice(cut(text))) }],
      ];
    }),
  'without index and id': (calls, cut) =>
    calls.flatMap(({ name, args }) => {
      const text = JSON.stringify(args);
      return [
        [fn(name, '')],
        [fn(undefined, text.slice(0, cut(text)))],
        [fn(undefined, text.slice(cut(text)))],
      ];
    }),
  'side by side, by id, all with the index 0': (calls, cut) => {
    const rest = (from: number, to: number) =>
      calls.map(({ args }, at) => {
        const text = JSON.stringify(args);
        const [first, last] = [from * cut(text), to === 2 ? text.length : to * cut(text)];
        return { index: 0, id: `a-${at}`, ...fn(undefined, text.slice(first, last)) };
      });
    const named = calls.map(({ name }, at) => ({ index: 0, id: `a-${at}`, ...fn(name, '') }));
    return [named, rest(0, 1), rest(1, 2)];
  },
  'all with one id': (calls) =>
    calls.map(({ name, args }) => [{ index: 0, id: 'same', ...fn(name, JSON.stringify(args)) }]),
  'with the whole call again at the end': (calls, cut) =>
    calls.flatMap(({ name, args }, index) => {
      const text = JSON.stringify(args);
      return [
        [{ index, id: `a-${index}`, ...fn(name, text.slice(0, cut(text))) }],
        [{ index, ...fn(undefined, text.slice(cut(text))) }],
        [{ index, id: `a-${index}`, ...fn(name, text) }],
      ];
    }),
  'with "{}" in the place of arguments that come': (calls, cut) =>
    calls.flatMap(({ name, args }, index) => {
      const text = JSON.stringify(args);
      return [
        [{ index, id: `a-${index}`, ...fn(name, '{}') }],
        [{ index, ...fn(undefined, text.slice(0, cut(text))) }],
        [{ index, ...fn(undefined, text.slice(cut(text))) }],
      ];
    }),
};

describe('pieces of tool calls are put together by one rule', () => {
  const call = fc.record({
    name: fc.constantFrom('add', 'mul', 'adder'),
    args: fc.dictionary(fc.string({ maxLength: 5 }), fc.jsonValue({ maxDepth: 1 }), {
      minKeys: 1,
      maxKeys: 3,
    }),
  });
  const distinct = { selector: (one: unknown) => JSON.stringify(one), minLength: 1, maxLength: 4 };

  it.each(Object.entries(styles))('%s', async (_, style) => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(call, distinct),
        fc.double({ min: 0, max: 1, noNaN: true }),
        async (calls, at) => {
          const plain = JSON.parse(JSON.stringify(calls));
          // a call is begun, and not finished, where its first piece is no blank and not all of it
          const cut = (text: string) => 1 + Math.floor(at * (text.length - 2));
          expect(await made(...style(plain, cut))).toEqual(plain);
        },
      ),
      { numRuns: runs },
    );
  });

  it('two calls of one tool without arguments are two', async () => {
    const now = { name: 'now', args: {} };
    expect(await made([fn('now'), fn('now')])).toEqual([now, now]);
    expect(
      await made(
        [{ index: 0, id: 'a', ...fn('now', '') }],
        [{ index: 0, id: 'b', ...fn('now', '') }],
      ),
    ).toEqual([now, now]);
    expect(
      await made([{ index: 0, ...fn('now', '{}') }], [{ index: 0, ...fn('now', '{}') }]),
    ).toEqual([now, now]);
  });

  it('another name begins another call, though the one before has no arguments', async () => {
    const both = [
      { name: 'now', args: {} },
      { name: 'date', args: {} },
    ];
    expect(await made([{ index: 0, ...fn('now', '') }], [{ index: 0, ...fn('date') }])).toEqual(
      both,
    );
    expect(await made([{ id: 'a', ...fn('now', '') }], [{ id: 'a', ...fn('date') }])).toEqual(both);
  });

  it.each<[string, unknown]>([
    ['null', 'null'],
    ['a text with JSON in it', '"{}"'],
    ['no field', undefined],
    ['null in their place', null],
  ])('%s for arguments is none', async (_, args) => {
    expect(await made([{ index: 0, id: 'a', ...fn('now', args) }])).toEqual([
      { name: 'now', args: {} },
    ]);
  });

  it('calls that come in a message alone, behind a text in deltas, are made once', async () => {
    const tool_calls = [{ id: 'a', function: { name: 'add', arguments: '{"a":1}' } }];
    const last = { delta: {}, message: { content: 'Well.', tool_calls }, finish_reason: 'stop' };
    const { calls, text } = await turnOf([
      scripted([{ content: 'Well.' }, { choices: [last] }, { choices: [last] }, done]),
      says(''),
    ]);
    expect(calls).toMatchObject([{ name: 'add', arguments: { a: 1 } }]);
    expect(text).toBe('Well.');
  });

  it('a function call of the first form of the protocol is one', async () => {
    const steps = [
      { function_call: { name: 'add', arguments: '{"a":' } },
      { function_call: { arguments: '1}' } },
      part({}, 'function_call'),
    ];
    const { calls } = await turnOf([scripted(steps), says('Done.')]);
    expect(calls).toMatchObject([{ name: 'add', arguments: { a: 1 } }]);
  });

  it('arguments that grow piece by piece are parsed when they are whole, and not with each piece', () => {
    const args = {
      steps: Array.from({ length: 300 }, (_, at) => ({ at, text: 'a } in "words" \\' })),
    };
    const text = JSON.stringify(args);
    const calls = new CallPieces();
    const parse = vi.spyOn(JSON, 'parse');
    for (let from = 0; from < text.length; from += 3)
      calls.add(
        [{ index: 0, ...fn(from === 0 ? 'plan' : undefined, text.slice(from, from + 3)) }],
        false,
      );
    expect(calls.wished(String, 'stop')).toMatchObject([{ toolName: 'plan', args }]);
    expect(parse).toHaveBeenCalledTimes(2); // when its last brace came, and for the call
    parse.mockRestore();
  });
});
