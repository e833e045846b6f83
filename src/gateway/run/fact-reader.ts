import { definedFields } from '../../kernel/index.js';
import type { AgentEventPayload } from '../../stream/index.js';
import type { OtherAgentEvent } from '../protocol/agent-event.js';
import type { ChatEvent } from '../protocol/chat-event.js';
import { type RunEndFact, type RunFact, toolFactOf } from './run-fact.js';

/** Reads what a gateway tells of one run, from both kinds of events: stream §4.3. */
export class FactReader {
  readonly #tell: (fact: RunFact) => void;
  readonly #silent = new SilentReply();

  constructor(tell: (fact: RunFact) => void) {
    this.#tell = tell;
  }

  agent({ seq, stream, data }: AgentEventPayload): void {
    if (stream === 'thinking') this.#snapshot('thinking', data);
    else if (stream === 'assistant') this.#snapshot('text', data);
    else if (stream === 'tool') this.#tool(data);
    else if (stream === 'lifecycle') this.#lifecycle(data);
    // a number from 1 up is the gateway's; with 0 the client says that the run is lost
    else this.#end(failed(seq === 0 ? 'gateway' : 'agent', reasonOf(data)));
  }

  other({ stream, data }: OtherAgentEvent): void {
    if (stream !== 'compaction' || (data.phase !== 'start' && data.phase !== 'end')) return;
    this.#flush();
    this.#tell({ kind: 'compaction', phase: data.phase, willRetry: data.willRetry === true });
  }

  /** Reads the ends that only `chat` events tell: of a command, which is no agent run, and of an abort. */
  chat({ state, text, errorMessage, lost }: ChatEvent): void {
    if (state === 'final') this.#end({ kind: 'end', how: 'done', ...definedFields({ text }) });
    else if (state === 'aborted') this.#end({ kind: 'end', how: 'aborted' });
    else if (state === 'error')
      this.#end(failed(lost === undefined ? 'agent' : 'gateway', errorMessage ?? noReason));
  }

  #snapshot(kind: 'thinking' | 'text', { text, delta }: Readonly<Record<string, unknown>>): void {
    if (typeof text !== 'string') return; // no snapshot: the next one has it
    const opens = delta === text;
    if (kind === 'text' && this.#silent.holds(text)) return;
    this.#tell({ kind, text, opens, continues: !opens && typeof delta === 'string' });
  }

  #tool(data: Readonly<Record<string, unknown>>): void {
    const fact = toolFactOf(data);
    if (fact === undefined) return;
    this.#flush();
    this.#tell(fact);
  }

  #lifecycle(data: Readonly<Record<string, unknown>>): void {
    if (data.phase === 'error') this.#end(failed('agent', reasonOf(data)));
    else if (data.phase === 'end')
      this.#end(
        data.aborted === true ? { kind: 'end', how: 'aborted' } : { kind: 'end', how: 'done' },
      );
  }

  /** Tells a text that was held back, now that it is known to be said. */
  #flush(): void {
    const text = this.#silent.take();
    if (text !== undefined) this.#tell({ kind: 'text', text, opens: true, continues: false });
  }

  #end(fact: RunEndFact): void {
    this.#flush();
    this.#tell(fact);
  }
}

const noReason = 'the agent failed and gave no reason';

function reasonOf({ error, message }: Readonly<Record<string, unknown>>): string {
  for (const one of [error, message]) if (typeof one === 'string' && one !== '') return one;
  return noReason;
}

function failed(by: 'agent' | 'gateway', message: string): RunEndFact {
  return { kind: 'end', how: 'failed', by, message, reachedAgent: true };
}

/** The answer of an agent that has nothing to say. The gateway hides it from its own chats. */
const silence = 'NO_REPLY';

/** Holds back a text that may become `NO_REPLY`, until it is clear that it does not. */
class SilentReply {
  #held: string | undefined;

  /** Tells whether a text is held back for now. */
  holds(text: string): boolean {
    const said = text.trim();
    const holds = said !== '' && silence.startsWith(said);
    this.#held = holds ? text : undefined;
    return holds;
  }

  /** The text that was held back, unless it is the silence. Forgets it. */
  take(): string | undefined {
    const held = this.#held;
    this.#held = undefined;
    return held?.trim() === silence ? undefined : held;
  }
}
