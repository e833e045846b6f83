import fc from 'fast-check';
import { normalizeSession } from '../../../src/claude/index.js';
import type { SessionEvent } from '../../../src/sdk/stream/index.js';
import { type RecordedFrames, recordedFrames } from '../../support/recorded-frames.js';
import { visibleTexts } from '../../support/recordings.js';
import { replySetting } from './program-arbitrary.js';
import type { ReplyProgram, ReplySetting } from './reply-program.js';

/** A recorded run of the Claude Agent SDK, as session events. */
export interface RecordedRun {
  readonly name: string;
  readonly events: readonly SessionEvent[];
  /** What people saw of it, message by message. */
  readonly texts: readonly string[];
}

export async function recordedRuns(): Promise<readonly RecordedRun[]> {
  return Promise.all(
    recordedFrames().map(async (run) => ({
      name: run.name,
      events: await eventsOf(run),
      texts: visibleTexts(run.lines),
    })),
  );
}

/** The messages of an event are live: a copy says what they held when it came. */
async function eventsOf({ frames }: RecordedFrames): Promise<SessionEvent[]> {
  const events: SessionEvent[] = [];
  for await (const event of normalizeSession(frames))
    events.push(JSON.parse(JSON.stringify(event)) as SessionEvent);
  return events;
}

/** Each run heard by hosts of several settings, always the same ones. */
export function recordedPrograms(runs: readonly RecordedRun[], each: number): ReplyProgram[] {
  const settings = fc.sample(replySetting, { numRuns: each, seed: 1 });
  return runs.flatMap(({ events }) =>
    settings.map((setting): ReplyProgram => ({ events, setting, feed: 'settled' })),
  );
}

/** A host that takes every text whole. */
export const plainHost: ReplySetting = {
  verboseLevel: 'off',
  reasoningMode: 'off',
  blockReplyBreak: 'message_end',
  toolResultFormat: 'markdown',
  enforceFinalTag: false,
  flush: 'sync',
  hasBlockReply: true,
  hasReasoningStream: true,
};
