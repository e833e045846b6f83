import { definedFields, type Outcome } from '../../kernel/index.js';
import type { SendParts } from '../parts/parts.js';
import type { SendFact } from '../way/way-record.js';

type Prepared = Pick<Outcome<'egress.preparing'>, 'event' | 'payload' | 'selection'>;

/** Records a step of a send. The final of a stream is a step of the send that the stream has opened. */
export function tellSend(
  { way }: SendParts,
  { event, payload, selection }: Prepared,
  step: Pick<SendFact, 'state' | 'attempts' | 'cause' | 'reason'>,
): void {
  way.record(() => {
    const { channel, accountId } = { ...payload, ...selection?.target };
    const id = event.payload.openedBy ?? event.eventId;
    const { correlationId } = event;
    const about = { kind: 'send', id, correlationId, sendKind: event.payload.kind } as const;
    return { ...about, ...definedFields({ channel, accountId }), ...step };
  });
}
