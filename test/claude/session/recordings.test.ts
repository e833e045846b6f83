import { describe, expect, it } from 'vitest';
import {
  checkOrdering,
  normalizeSession,
  type SessionDiagnostic,
} from '../../../src/claude/index.js';
import type { SessionEvent } from '../../../src/sdk/stream/index.js';
import { recordedFrames } from '../../support/recorded-frames.js';
import { recordings, visibleTexts } from '../../support/recordings.js';
import { streamedTexts, wholeTexts } from '../../support/shown-texts.js';

const runs = recordedFrames();

async function eventsOf(
  ...given: Parameters<typeof normalizeSession>
): Promise<readonly SessionEvent[]> {
  const events: SessionEvent[] = [];
  for await (const event of normalizeSession(...given)) events.push(event);
  return events;
}

describe('the recordings', () => {
  it.each(recordings())(
    '$name: each visible text comes once, as deltas and as messages',
    async ({ name, lines }) => {
      const own = runs.filter((run) => run.name.startsWith(`${name} `));
      const events = (await Promise.all(own.map(({ frames }) => eventsOf(frames)))).flat();
      expect(wholeTexts(events)).toEqual(visibleTexts(lines));
      expect(streamedTexts(events)).toEqual(visibleTexts(lines));
    },
  );

  it.each(runs)('$name: its order is right, whatever is asked for', async ({ frames }) => {
    for (const toolStart of ['block', 'messageEnd'] as const)
      for (const subagents of ['nest', 'drop'] as const)
        for (const end of ['firstResult', 'idle'] as const)
          expect(checkOrdering(await eventsOf(frames, { toolStart, subagents, end }))).toEqual([]);
  });

  it.each(runs)(
    '$name: nothing in it is unknown, malformed, or said otherwise',
    async ({ frames }) => {
      const told: SessionDiagnostic['kind'][] = [];
      const resets = frames.filter(({ type }) => type === 'conversation_reset'); // told: csdk §8.4
      await eventsOf(frames, { onDiagnostic: ({ kind }) => void told.push(kind) });
      const usual = ['subagent_left_out', 'repeated_compaction'];
      expect(told.filter((kind) => !usual.includes(kind))).toEqual(resets.map(() => 'reset'));
    },
  );

  it('tell a manual compaction once: its status and its boundary are one (csdk §5.3)', async () => {
    const manual = runs.filter(({ name }) => name.startsWith('compaction-manual.jsonl'));
    const events = (await Promise.all(manual.map(({ frames }) => eventsOf(frames)))).flat();
    const told = events.filter(({ type }) => type.startsWith('auto_compaction'));
    expect(told.length === 0 || told.length === 2).toBe(true); // the recording may not be at hand
    expect(manual.length === 0 || told.length === 2).toBe(true);
  });

  it('end an interrupted run as an error where nothing says who interrupted it (csdk §6.4)', async () => {
    for (const { frames } of runs.filter(({ name }) => name.startsWith('abort-mid-text')))
      expect((await eventsOf(frames)).at(-1)).toMatchObject({
        error: { subtype: 'stream_closed' },
      });
  });
});
