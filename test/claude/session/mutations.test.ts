import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CsdkFrame, checkOrdering, type NormalizeOptions } from '../../../src/claude/index.js';
import { SessionNormalizer } from '../../../src/claude/session/session-normalizer.js';
import type { SessionEvent } from '../../../src/sdk/stream/index.js';
import { scriptFrames } from '../../support/csdk-script.js';
import { mutated, mutations } from '../../support/mutated-frames.js';
import { recordedFrames } from '../../support/recorded-frames.js';
import { furtherCases, workedCases } from './cases.js';

/** A new one each time, unless the environment has one to repeat. */
const seed = Number(process.env.SLUICE_SEED ?? Date.now() % 2 ** 31);
const runsPerCombination = 5_000;

const combinations: readonly NormalizeOptions[] = (['block', 'messageEnd'] as const).flatMap(
  (toolStart) =>
    (['nest', 'drop'] as const).flatMap((subagents) =>
      (['firstResult', 'idle'] as const).map((end) => ({ toolStart, subagents, end })),
    ),
);

/** With a uuid each: some recordings have lost theirs. */
function identified(frames: readonly CsdkFrame[]): readonly CsdkFrame[] {
  return frames.map((frame, index) => ({ ...frame, uuid: `u${index}` }));
}

const recorded = recordedFrames().map(({ frames }) => identified(frames));
const written = [...workedCases, ...furtherCases].map(({ input }) =>
  identified(scriptFrames(input)),
);

/** One of some streams, by its number: a counterexample then names it, and does not print it. */
function oneOf(streams: readonly (readonly CsdkFrame[])[]) {
  const pick = (index: number): readonly CsdkFrame[] => streams[index] ?? [];
  return { index: fc.nat({ max: streams.length - 1 }), pick };
}

function normalize(
  frames: readonly CsdkFrame[],
  options: NormalizeOptions,
): readonly SessionEvent[] {
  const events: SessionEvent[] = [];
  const session = new SessionNormalizer(
    options,
    (event) => events.push(event),
    () => undefined,
  );
  for (const frame of frames) session.take(frame);
  session.sourceEnded();
  return events;
}

/** What each block of a message showed. */
function shownTexts(events: readonly SessionEvent[]): readonly string[] {
  return events.flatMap((event) =>
    event.type === 'message_update' && event.assistantMessageEvent.type === 'text_end'
      ? [event.assistantMessageEvent.content]
      : [],
  );
}

/** Each text that was streamed came as a complete frame as well: no response was cut off in its middle. */
function isComplete(frames: readonly CsdkFrame[]): boolean {
  const whole = frames.filter(({ type }) => type === 'assistant');
  const withoutDeltas = frames.filter(({ type }) => type !== 'stream_event');
  return (
    whole.length > 0 &&
    frames.at(-1)?.type === 'result' &&
    isDeepStrictEqual(shownTexts(normalize(withoutDeltas, {})), shownTexts(normalize(frames, {})))
  );
}

describe(`mutated streams (SLUICE_SEED=${seed})`, () => {
  it.each(combinations)('keep every invariant: %j', (options) => {
    for (const { index, pick } of [oneOf(recorded), oneOf(written)])
      fc.assert(
        fc.property(index, mutations, (stream, changes) => {
          expect(checkOrdering(normalize(mutated(pick(stream), changes), options))).toEqual([]);
        }),
        { seed, numRuns: runsPerCombination },
      );
  });

  it('show nothing twice because a frame came twice', () => {
    const { index, pick } = oneOf(recorded);
    const twice = fc.array(
      fc.record({
        kind: fc.constant('duplicate' as const),
        at: fc.double({ min: 0, max: 0.999, noNaN: true }),
      }),
      { minLength: 1, maxLength: 20 },
    );
    fc.assert(
      fc.property(index, twice, (stream, changes) => {
        const frames = pick(stream);
        const shown = shownTexts(normalize(mutated(frames, changes), {}));
        expect(shown).toEqual(shownTexts(normalize(frames, {})));
      }),
      { seed, numRuns: 1_000 },
    );
  });

  it('show every text once though any of the deltas are lost: the complete frames have them', () => {
    const isDelta = ({ type, event }: CsdkFrame) =>
      type === 'stream_event' && (event as { type: string }).type === 'content_block_delta';
    const { index, pick } = oneOf(recorded.filter(isComplete));
    fc.assert(
      fc.property(index, fc.infiniteStream(fc.boolean()), (stream, coins) => {
        const frames = pick(stream);
        const [...texts] = shownTexts(normalize(frames, {}));
        const cut = new Set<unknown>();
        const kept = frames.filter((frame) => {
          // A lost delta loses all that follow in its block: a transport drops a tail, never a middle.
          const block = isDelta(frame) ? (frame.event as { index: number }).index : undefined;
          if (frame.type === 'stream_event' && block === undefined) cut.clear();
          if (block === undefined) return true;
          if (coins.next().value === true) cut.add(block);
          return !cut.has(block);
        });
        expect(shownTexts(normalize(kept, {}))).toEqual(texts);
      }),
      { seed, numRuns: 1_000 },
    );
  });
});
