import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CoderStreamEvent } from '../../src/claude/coder/blocks/coder-event.js';
import { coderStream } from '../../src/claude/coder/coder-stream.js';
import { toCoderEvents } from '../../src/claude/coder/to-coder-events.js';
import type { CsdkFrame } from '../../src/claude/frames/frame.js';
import { recordings, visibleTexts } from '../support/recordings.js';
import { eventsOf, textsOf } from './coder-frames.js';

const recorded = recordings().map(({ name, lines }) => ({
  name,
  lines,
  frames: lines.map((line) => JSON.parse(line) as CsdkFrame), // recordings hold one a line
}));

/** What holds of any run, however broken (C1, C10, C12). */
function expectWhole(events: readonly CoderStreamEvent[], frames: readonly CsdkFrame[]): void {
  const ends = events.filter(({ type }) => type === 'done' || type === 'error');
  expect(ends).toHaveLength(1);
  expect(events.at(-1)).toBe(ends[0]);
  const cancelled = events.findIndex(({ type }) => type === 'cancelled');
  if (cancelled !== -1) {
    expect(cancelled).toBe(events.length - 2);
    expect(events.at(-1)).toMatchObject({ type: 'error', code: 'interrupted' });
  }
  const known = new Set<unknown>(frames);
  const calls = new Set<string>();
  const answers = new Set<string>();
  for (const event of events) {
    expect(event.provider).toBe('claude');
    expect(event.ts).toBe(7);
    if (!known.has(event.originalItem))
      expect(event.originalItem).toEqual({ reason: expect.anything() });
    if (event.type === 'tool_use') {
      expect(event.name).not.toBe('');
      expect(calls).not.toContain(event.callId);
      calls.add(event.callId ?? '');
    }
    if (event.type === 'tool_result') {
      expect(event.name).not.toBe('');
      expect(answers).not.toContain(event.callId);
      answers.add(event.callId ?? '');
    }
  }
}

describe('the recordings', () => {
  it.each(recorded)('$name: each visible text once, by pieces and by wholes (C6)', async (one) => {
    const text = visibleTexts(one.lines).join('');
    expect(textsOf(await eventsOf(one.frames))).toEqual({ pieces: text, wholes: text });
  });

  it.each(recorded)('$name: each whole is what its pieces add up to (C6)', async ({ frames }) => {
    let pieces = '';
    for (const event of await eventsOf(frames)) {
      if (event.type !== 'message') continue;
      if (event.delta === true) pieces += event.text;
      else {
        expect(event.text).toBe(pieces);
        pieces = '';
      }
    }
    expect(pieces).toBe('');
  });

  it.each(recorded)('$name: one end, and everything named (C12)', async ({ frames }) => {
    const events = await eventsOf(frames);
    expectWhole(events, frames);
    const results = frames.filter(
      ({ type, usage }) => type === 'result' && usage instanceof Object,
    );
    expect(events.filter(({ type }) => type === 'usage')).toHaveLength(results.length);
  });

  it.each(recorded)('$name: every call of the main thread, with its answer (C10)', async (one) => {
    const blocks = one.frames
      .filter(({ parent_tool_use_id: lane }) => typeof lane !== 'string')
      .flatMap(({ message }) => (message as { content?: unknown } | undefined)?.content)
      .filter((block) => typeof block === 'object' && block !== null);
    const ids = (type: string, field: string): unknown[] =>
      blocks
        .filter((block) => 'type' in block && String(block.type).endsWith(type)) // server tools, too
        .map((block) => (block as never)[field]);
    const events = await eventsOf(one.frames);
    expect(events.flatMap((event) => (event.type === 'tool_use' ? [event.callId] : []))).toEqual(
      ids('tool_use', 'id'),
    );
    expect(events.flatMap((event) => (event.type === 'tool_result' ? [event.callId] : []))).toEqual(
      ids('tool_result', 'tool_use_id'),
    );
    expect(events.filter((event) => 'name' in event && event.name === 'unknown')).toEqual([]);
  });

  it('give by the table alone an init for each frame with a session (C2)', () => {
    for (const { frames } of recorded)
      for (const frame of frames)
        if (typeof frame.session_id === 'string' && frame.session_id !== '')
          expect(toCoderEvents(frame).map(({ type }) => type)).toEqual(['init']);
  });
});

type Mutation = readonly [kind: 'twice' | 'drop' | 'swap' | 'move' | 'cut', at: number, to: number];

const mutations: fc.Arbitrary<readonly Mutation[]> = fc.array(
  fc.tuple(fc.constantFrom('twice', 'drop', 'swap', 'move', 'cut'), fc.nat(200), fc.nat(200)),
  { minLength: 1, maxLength: 8 },
);

function mutated(frames: readonly CsdkFrame[], changes: readonly Mutation[]): CsdkFrame[] {
  const list = [...frames];
  for (const [kind, from, to] of changes) {
    if (list.length === 0) return list;
    const at = from % list.length;
    const [one] = list.slice(at, at + 1);
    if (one === undefined) continue;
    if (kind === 'cut') list.length = at;
    else if (kind === 'drop') list.splice(at, 1);
    else if (kind === 'twice') list.splice(at, 0, one);
    else if (kind === 'move') list.splice(to % list.length, 0, ...list.splice(at, 1));
    else {
      const other = list[to % list.length];
      if (other !== undefined) [list[at], list[to % list.length]] = [other, one];
    }
  }
  return list;
}

describe('a broken recording', () => {
  const broken = fc
    .tuple(fc.constantFrom(...recorded), mutations)
    .map(([{ frames }, changes]) => mutated(frames, changes));
  const runs = { numRuns: 3_000 };

  it('has one end, the last event, and every event is whole (C1, C10, C12)', async () => {
    await fc.assert(
      fc.asyncProperty(broken, async (frames) => {
        expectWhole(await eventsOf(frames), frames);
      }),
      runs,
    );
  });

  it('has them without ids to know frames by, too', async () => {
    const nameless = broken.map((frames) => frames.map(({ uuid, ...frame }) => frame as CsdkFrame));
    await fc.assert(
      fc.asyncProperty(nameless, async (frames) => {
        expectWhole(await eventsOf(frames), frames);
      }),
      { numRuns: 500 },
    );
  });

  it('says the same by its pieces, where frames came twice (C18)', async () => {
    const twice = fc.tuple(
      fc.constantFrom(...recorded.filter(({ lines }) => !lines.join().includes('"uuid":"<'))),
      fc.array(fc.nat(200), { minLength: 1, maxLength: 8 }),
    );
    await fc.assert(
      fc.asyncProperty(twice, async ([{ frames }, places]) => {
        const changes = places.map((at): Mutation => ['twice', at, 0]);
        const named = frames.map((frame, at) => ({ ...frame, uuid: `frame ${at}` }));
        expect(textsOf(await eventsOf(mutated(named, changes)))).toEqual(
          textsOf(await eventsOf(frames)),
        );
      }),
      { numRuns: 300 },
    );
  });

  it('ends when it is aborted at any event, at once (C13)', async () => {
    await fc.assert(
      fc.asyncProperty(broken, fc.nat(60), async (frames, at) => {
        const stop = new AbortController();
        const events: CoderStreamEvent[] = [];
        const options = { now: () => 7, signal: stop.signal };
        for await (const event of coderStream(frames, options)) {
          events.push(event);
          if (events.length === at) stop.abort('enough');
        }
        expectWhole(events, frames);
      }),
      { numRuns: 500 },
    );
  });
});
