import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CsdkFrame, NormalizeOptions } from '../../../src/claude/index.js';
import { coderStream } from '../../../src/claude/index.js';
import type { DiagnosticFact } from '../../../src/claude/session/session-diagnostic.js';
import { SessionNormalizer } from '../../../src/claude/session/session-normalizer.js';
import type { AssistantMessage, SessionEvent } from '../../../src/sdk/stream/index.js';
import { scriptFrames } from '../../support/csdk-script.js';
import { mutated, mutations } from '../../support/mutated-frames.js';
import { recordedFrames } from '../../support/recorded-frames.js';
import { furtherCases, workedCases } from './cases.js';

/** A new one each time, unless the environment has one to repeat. */
const seed = Number(process.env.SLUICE_SEED ?? Date.now() % 2 ** 31);

const streams = [
  ...recordedFrames().map(({ frames }) => frames),
  ...[...workedCases, ...furtherCases].map(({ input }) => scriptFrames(input)),
].map((frames, stream) =>
  frames.map((frame, index) => ({ ...frame, uuid: `u-${stream}-${index}` })),
);
const someStream = fc.nat({ max: streams.length - 1 });

const options: fc.Arbitrary<NormalizeOptions> = fc.record({
  toolStart: fc.constantFrom('block', 'messageEnd'),
  subagents: fc.constantFrom('nest', 'drop'),
  end: fc.constantFrom('firstResult', 'idle'),
});

interface Run {
  readonly events: readonly SessionEvent[];
  readonly told: readonly DiagnosticFact[];
}

function normalized(frames: readonly CsdkFrame[], given: NormalizeOptions): Run {
  const events: SessionEvent[] = [];
  const told: DiagnosticFact[] = [];
  const session = new SessionNormalizer(
    given,
    (event) => events.push(event),
    (fact) => told.push(fact),
  );
  for (const frame of frames) session.take(frame);
  session.sourceEnded();
  return { events, told };
}

/** The laws of fault 43 that a run breaks, found without the project's own checker. */
function broken({ events, told }: Run): readonly string[] {
  const laws: string[] = [];
  const count = (type: SessionEvent['type']) => events.filter((one) => one.type === type).length;
  if (events[0]?.type !== 'agent_start' || count('agent_start') !== 1) laws.push('starts first');
  if (events.at(-1)?.type !== 'agent_end' || count('agent_end') !== 1) laws.push('ends last');
  const running = new Set<string>();
  const seen = new Set<string>();
  const shown = new Map<AssistantMessage, Map<string, string>>();
  let open: AssistantMessage | undefined;
  for (const event of events) {
    if (event.type === 'tool_execution_start') {
      if (seen.has(event.toolCallId)) laws.push(`${event.toolCallId} starts twice`);
      seen.add(event.toolCallId);
      running.add(event.toolCallId);
    }
    if (event.type === 'tool_execution_update' && !running.has(event.toolCallId))
      laws.push(`${event.toolCallId} is told of while it does not run`);
    if (event.type === 'tool_execution_end' && !running.delete(event.toolCallId))
      laws.push(`${event.toolCallId} ends without a start`);
    if (event.type === 'message_start') open = event.message;
    if (event.type !== 'message_update') continue;
    if (open !== event.message) laws.push('a message grows before it starts');
    const update = event.assistantMessageEvent;
    const texts = shown.get(event.message) ?? new Map<string, string>();
    shown.set(event.message, texts);
    const key = String(update.contentIndex);
    if ('delta' in update) texts.set(key, (texts.get(key) ?? '') + update.delta);
    if ('content' in update && update.content !== (texts.get(key) ?? ''))
      laws.push('a text ends as something else than it grew');
  }
  if (running.size > 0) laws.push('a tool never ends');
  for (const [message, texts] of shown) {
    const whole = message.content.flatMap((block) =>
      block.type === 'text' ? [block.text] : block.type === 'thinking' ? [block.thinking] : [],
    );
    const differs = [...texts.values()].some((text) => text !== '' && !whole.includes(text));
    if (differs && !told.some(({ kind }) => kind === 'diverging_text'))
      laws.push('a text was taken back, and nobody was told');
  }
  return laws;
}

describe(`fault 43: agent streams (SLUICE_SEED=${seed})`, () => {
  it('start before anything, end once and last, have a start for each tool’s end, and texts that grow or are flagged (csdk §1.1, §3.6, §4.1, §4.4)', () => {
    fc.assert(
      fc.property(someStream, mutations, options, (stream, changes, given) => {
        expect(broken(normalized(mutated(streams[stream] ?? [], changes), given))).toEqual([]);
      }),
      { seed, numRuns: 10_000 },
    );
  });

  const unknown = fc.record({
    type: fc.constantFrom('tomorrow', 'system', 'result_v2', 'final_answer', ''),
    subtype: fc.constantFrom('of_tomorrow', 'error_of_tomorrow'),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
  });

  it('let message kinds that nobody knows pass as opaque: no event changes, and each is told (csdk §8.2, C15)', async () => {
    const added = fc.array(unknown, { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(someStream, added, async (stream, news) => {
        const frames: readonly CsdkFrame[] = streams[stream] ?? [];
        const strange = new Set<unknown>();
        const all = [...frames];
        for (const [index, { at, ...frame }] of news.entries()) {
          const one = { ...frame, uuid: `new-${index}`, payload: { text: 'opaque' } };
          strange.add(one);
          all.splice(Math.floor(at * all.length), 0, one);
        }
        const [before, after] = [normalized(frames, {}), normalized(all, {})];
        expect(after.events).toEqual(before.events);
        const kinds = after.told.filter(
          ({ kind }) => kind === 'unknown_frame' || kind === 'after_end',
        );
        const known = before.told.filter(
          ({ kind }) => kind === 'unknown_frame' || kind === 'after_end',
        );
        expect(kinds).toHaveLength(known.length + news.length);
        const passed = [];
        for await (const event of coderStream(all, { now: () => 7 }))
          if (strange.has(event.originalItem)) passed.push(event.type);
        expect(passed).toEqual(news.map(() => 'progress'));
      }),
      { seed, numRuns: 1_000 },
    );
  });

  it.each([
    ['agent_start', 'starts first'],
    ['message_start', 'a message grows before it starts'],
    ['text_delta', 'a text ends as something else than it grew'],
    ['tool_execution_start', 't1 ends without a start'],
    ['tool_execution_end', 'a tool never ends'],
    ['agent_end', 'ends last'],
  ])('are caught if they lose %s: %s', (type, law) => {
    const script = 'ms(m1) bs0:text d0"Hel" d0"lo" bx0 bs1:tu t1 Bash bx1 mx U[tr t1 ok "x"] R(ok)';
    const { events, told } = normalized(scriptFrames(script), {});
    expect(broken({ events, told })).toEqual([]);
    const kind = (event: SessionEvent) =>
      event.type === 'message_update' ? event.assistantMessageEvent.type : event.type;
    const at = events.findIndex((event) => kind(event) === type);
    expect(at).not.toBe(-1);
    expect(broken({ events: events.toSpliced(at, 1), told })).toContain(law);
  });
});
