import { definedFields } from 'sluice-kernel/internal';
import type { UpdateFact } from './way-record.js';
import type { WayRecorder } from './way-recorder.js';

/** Records a step of an update. */
export function tellUpdate(
  { way }: { readonly way: WayRecorder },
  eventId: string,
  state: UpdateFact['state'],
  more: {
    readonly [F in 'channel' | 'accountId' | 'outcome' | 'agentId' | 'sessionKey' | 'reason']?:
      | UpdateFact[F]
      | undefined;
  } & { readonly attempt?: number; readonly joinedTo?: string } = {},
): void {
  const { channel, accountId, outcome, agentId, sessionKey, reason, attempt, joinedTo } = more;
  way.record(() => ({
    kind: 'update',
    id: eventId,
    correlationId: eventId,
    state,
    ...definedFields({ channel, accountId, outcome, agentId, sessionKey, reason }),
    ...definedFields({ attempt, joinedTo }),
  }));
}
