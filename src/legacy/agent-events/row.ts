import type { FamilyName, PayloadOf } from '../../kernel/index.js';
import type { AgentEvent, AgentRunContext } from './event.js';

/** What a row makes a payload of. */
export interface AgentEventSource {
  readonly event: AgentEvent;
  readonly data: Record<string, unknown>;
  readonly context: AgentRunContext;
  /** What the tool call of the event was called with, where its start was heard. */
  readonly params: unknown;
}

/** One kind of agent event, and what it is in the pipeline. */
export interface AgentEventRow {
  readonly stream: string;
  /** The phase in its data; absent where the stream has none. */
  readonly phase?: string;
  /** The family that it becomes, and what listeners are there; none where only listeners hear it. */
  readonly parts: readonly { readonly family: FamilyName; readonly class: 'observer' }[];
  /** The payload, but for what every run event has. It is checked before it is dispatched. */
  readonly payload?: (source: AgentEventSource) => object;
  /** The bus cannot be answered: a patch or cancel there has no effect, and is told. */
  readonly observeOnly?: true;
  /** Where a host calls the plugin hook runner, that one dispatches this fact: it comes later, and can answer. */
  readonly leftToHooks?: true;
  readonly status: 'bridged' | 'observe-only';
  /** What is to be known of it. */
  readonly why: string;
}

/** What listeners hear of a dispatch that a turn or another bridge made. */
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
