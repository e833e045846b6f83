import type { Trail } from '@sluice/agent';
import { judgeAsking } from '@sluice/agent/run';
import {
  type CancelRecord,
  definedFields,
  type Outcome,
  type PayloadOf,
  type StopSignal,
} from 'sluice-kernel/internal';
import type { SendParts } from '../parts/parts.js';
import type { SendEntry } from '../timeline/timeline-entry.js';

/** A message that is to go out, before anybody has judged it. */
export type OutgoingMessage = Omit<
  PayloadOf<'egress.preparing'>,
  'accounts' | 'streaming' | 'attachments' | 'metadata'
> &
  Partial<Pick<PayloadOf<'egress.preparing'>, 'attachments' | 'metadata'>>;

/** A message that `egress.preparing` has judged, whatever it said. It ends by `endSend`, once. */
export interface PreparedSend {
  readonly outcome: Outcome<'egress.preparing'>;
  /** Why it does not go out, if a veto or a human says so, also where the outcome passed. */
  readonly cancel?: CancelRecord;
  /** Milliseconds since 1970: when it began to be judged. */
  readonly startedAtMs: number;
  /** Why the journal could not keep it: then it does not go out. */
  readonly unpersisted?: string;
  /** It could not be kept because its message is suspended (durability §6.13). The journal may have it all the same. */
  readonly isSuspended?: boolean;
  /** The journal has it as given to its channel: the first attempt need not be kept apart. */
  readonly isSending: boolean;
  /** An attempt of a host before this one may have sent it. */
  readonly mayBeOut?: boolean;
}

/** How a message is judged. */
interface PrepareOptions {
  /** Parts of it are to be shown before it is whole. */
  readonly streaming: boolean;
  readonly signal: StopSignal;
  /** It was prepared before the host was started again, under this id: it is persisted already. */
  readonly again?: string;
  /** The id that it is judged under, instead of the next of its message. */
  readonly eventId?: string;
  /** Nothing is done with it before its channel has it, if it passes. */
  readonly goesOut?: boolean;
  /** The kind that the journal has for the final of a stream: a block, a reply. */
  readonly persistedAs?: OutgoingMessage['kind'];
}

/**
 * Has a message judged by `egress.preparing`: the one way to an approval.
 *
 * @throws what the kernel throws where it cannot dispatch: nothing is prepared then.
 */
export async function prepareSend(
  parts: SendParts,
  trail: Trail,
  outgoing: OutgoingMessage,
  { streaming, signal, again, goesOut = false, persistedAs: kind, ...how }: PrepareOptions,
): Promise<PreparedSend> {
  const accounts = parts.accounts.offered();
  const startedAtMs = parts.clock.now();
  const correlationId = trail.correlationId;
  const eventId = again ?? how.eventId ?? parts.outbox.nextId(correlationId, outgoing.openedBy);
  const { runId, sessionKey } = outgoing;
  const judged = await judgeAsking({
    family: 'egress.preparing',
    approvals: streaming ? undefined : parts.asking, // the whole text is asked about
    signal,
    dispatch: (again) =>
      trail.dispatch(
        'egress.preparing',
        again?.payload ?? { attachments: [], metadata: {}, ...outgoing, streaming, accounts },
        {
          signal,
          valid: (target) => isOffered(target, accounts),
          ...definedFields({ eventId: again?.given.after.event.eventId ?? eventId }),
          ...again?.given,
        },
      ),
    ...definedFields({ runId, sessionKey }),
  });
  const { outcome } = judged;
  const cancel = judged.cancel ?? (judged.use && (await judged.use()));
  if (again !== undefined)
    return { outcome, startedAtMs, isSending: false, ...definedFields({ cancel }) };
  const passed = outcome.status === 'passed' && cancel === undefined;
  const isSending = goesOut && passed && !signal.aborted && hasAccount(parts, outcome);
  // after a restart it is judged again as it was emitted
  const persisted = {
    event: judged.first.event,
    payload: outcome.payload,
    selection: outcome.selection,
  };
  const keep = { isSending, ...definedFields({ kind }) };
  const writing = parts.outbox.prepare(parts, persisted, keep);
  const unpersisted = writing && (await writing);
  reportSend(parts, outcome, { state: isSending ? 'sending' : 'prepared' });
  const isSuspended = unpersisted === undefined ? undefined : parts.suspension?.isSuspended;
  const problem = definedFields({ cancel, unpersisted, isSuspended });
  return { outcome, startedAtMs, isSending, ...problem };
}

/** Returns whether a message passed, and the account that it goes out by runs. */
function hasAccount({ accounts }: SendParts, outcome: PreparedSend['outcome']): boolean {
  const { channel, accountId } = { ...outcome.payload, ...outcome.selection?.target };
  const isNamed = outcome.status === 'passed' && channel !== undefined && accountId !== undefined;
  return isNamed && accounts.find(channel, accountId) !== undefined;
}

function isOffered(
  target: { readonly channel: string; readonly accountId: string },
  accounts: readonly { readonly channel: string; readonly accountId: string }[],
): true | string {
  return (
    accounts.some(
      ({ channel, accountId }) => channel === target.channel && accountId === target.accountId,
    ) || `no account "${target.accountId}" of channel "${target.channel}" is running`
  );
}

type Prepared = Pick<Outcome<'egress.preparing'>, 'event' | 'payload' | 'selection'>;

/** Records a step of a send. The final of a stream is a step of the send that the stream has opened. */
export function reportSend(
  { timeline }: SendParts,
  { event, payload, selection }: Prepared,
  step: Pick<SendEntry, 'state' | 'attempts' | 'cause' | 'reason'>,
): void {
  timeline.record(() => {
    const { channel, accountId } = { ...payload, ...selection?.target };
    const id = event.payload.openedBy ?? event.eventId;
    const { correlationId } = event;
    const about = { kind: 'send', id, correlationId, sendKind: event.payload.kind } as const;
    return { ...about, ...definedFields({ channel, accountId }), ...step };
  });
}
