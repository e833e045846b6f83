import { definedFields } from 'sluice-kernel/internal';
import type { UpdateEntry } from './timeline-entry.js';
import type { TimelineRecorder } from './timeline-recorder.js';

/** Records a step of an update. */
export function reportUpdate(
  { timeline }: { readonly timeline: TimelineRecorder },
  eventId: string,
  state: UpdateEntry['state'],
  more: { readonly [Field in keyof UpdateEntry]?: UpdateEntry[Field] | undefined } = {},
): void {
  const { channel, accountId, outcome, agentId, sessionKey, reason, attempt, joinedTo } = more;
  timeline.record(() => ({
    kind: 'update',
    id: eventId,
    correlationId: eventId,
    state,
    ...definedFields({ channel, accountId, outcome, agentId, sessionKey, reason }),
    ...definedFields({ attempt, joinedTo }),
  }));
}

/** Records that the turn of an update has come in the lane of its conversation, or of its session. */
export function reportLane(
  { timeline }: { readonly timeline: TimelineRecorder },
  of: 'conversation' | 'session',
  id: string,
  lane: string,
  waitedMs: () => number,
): void {
  timeline.record(() => ({ kind: 'lane', of, id, correlationId: id, lane, waitedMs: waitedMs() }));
}
