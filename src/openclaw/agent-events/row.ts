import type { FamilyName, PayloadOf } from 'sluice-kernel';
import { definedRecordOf, type Field, payloadFields } from '../facts/field-table.js';
import type { AgentEvent, AgentRunContext } from './event.js';

/** The source of a row's payload. */
interface AgentEventSource {
  readonly event: AgentEvent;
  readonly data: Record<string, unknown>;
  readonly context: AgentRunContext;
  /** The arguments of the event's tool call, if its start was heard. */
  readonly params: unknown;
}

/** One kind of agent event, and its place in the pipeline. */
export interface AgentEventRow {
  readonly stream: string;
  /** The phase in its data; absent if the stream has none. */
  readonly phase?: string;
  /** The family that it becomes, and what listeners are there; none if only listeners hear it. */
  readonly parts: readonly { readonly family: FamilyName; readonly class: 'observer' }[];
  /** The payload, but for what every run event has. It is checked before it is dispatched. */
  readonly payload?: (source: AgentEventSource) => object;
  /** The data that listeners hear of a dispatch by a turn or another bridge; `undefined` if it is no event of this kind. */
  readonly heard?: (payload: object) => Record<string, unknown> | undefined;
  /** The bus cannot be answered: a patch or cancel there has no effect, and is told. */
  readonly observeOnly?: true;
  /** The plugin hook runner dispatches this fact if a host calls it: it comes later, and can answer. */
  readonly leftToHooks?: true;
  readonly status: 'bridged' | 'observe-only';
  /** Notes about the event. */
  readonly why: string;
}

/** The data of an event, over the payload of its family. The legacy types of its fields are nobody's. */
type Way<Payload> = Omit<AgentEventRow, 'parts' | 'payload' | 'heard' | 'status'> & {
  readonly data: Readonly<Record<string, (keyof Payload & string) | Field<unknown, Payload>>>;
  /** The fields of the payload that no single field of the data says. A field of the data wins. */
  adds?(source: AgentEventSource): object;
  /** Returns whether a dispatch of the family is this kind of event; by default every one is. */
  is?(payload: Payload): boolean;
};

/** Makes the row of an event that becomes a family: its data are read both ways. */
export function becomes<Family extends FamilyName>(
  family: Family,
  { data, adds, is, ...row }: Way<PayloadOf<Family>>,
): AgentEventRow {
  const isOf = (payload: object) => is === undefined || is(payload as PayloadOf<Family>); // asked of its own family alone
  return {
    ...row,
    parts: [{ family, class: 'observer' }],
    payload: (source) => ({ ...adds?.(source), ...payloadFields(data, source.data) }),
    heard: (payload) => (isOf(payload) ? definedRecordOf(data, payload) : undefined),
    status: row.observeOnly === true ? 'observe-only' : 'bridged',
  };
}
