import type { FamilyName, PayloadOf } from '../../kernel/index.js';
import type { AgentEvent, AgentRunContext } from './event.js';

/** The source of a row's payload. */
export interface AgentEventSource {
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
  /** The bus cannot be answered: a patch or cancel there has no effect, and is told. */
  readonly observeOnly?: true;
  /** The plugin hook runner dispatches this fact if a host calls it: it comes later, and can answer. */
  readonly leftToHooks?: true;
  readonly status: 'bridged' | 'observe-only';
  /** Notes about the event. */
  readonly why: string;
}

/** The event that listeners hear of a dispatch by a turn or another bridge. */
export interface AgentEventSink {
  readonly family: FamilyName;
  read(payload: object): Pick<AgentEvent, 'stream' | 'data'> | undefined;
}

/** A sink, typed by its family. */
export function sink<F extends FamilyName>(
  family: F,
  read: (payload: Readonly<PayloadOf<F>>) => Pick<AgentEvent, 'stream' | 'data'> | undefined,
): AgentEventSink {
  return { family, read }; // only called with payloads of its own family
}
