import type { AssistantMessage, SessionEvent, StopReason } from '@sluice/sdk/stream';
import type { Clock } from 'sluice-kernel';
import type { RunEndFact, RunFact, SnapshotFact, ToolFact } from '../run/run-fact.js';
import { OpenMessage } from './open-message.js';

/** The facts that each message names. */
interface SessionReaderOptions {
  readonly provider: string;
  readonly model: string;
  readonly clock: Clock;
}

/**
 * Makes session events of one run's facts, in the order that `checkOrdering` asks for, whatever the gateway leaves out or
 * says twice (stream §6). `agent_start` is its reader's.
 */
export class SessionReader {
  readonly #with: SessionReaderOptions;
  readonly #messages: AssistantMessage[] = [];
  readonly #tools = new Map<string, { readonly fact: ToolFact; isRunning: boolean }>();
  #open: OpenMessage | undefined;
  #isCompacting = false;
  #hasSaid = false;

  constructor(options: SessionReaderOptions) {
    this.#with = options;
  }

  /** The events of one fact. After an `end` nothing may follow. */
  *take(fact: RunFact): Generator<SessionEvent> {
    switch (fact.kind) {
      case 'thinking':
      case 'text':
        return yield* this.#snapshot(fact);
      case 'tool':
        return yield* this.#tool(fact);
      case 'compaction':
        return yield* this.#compaction(fact.phase, fact.willRetry);
      case 'end':
        return yield* this.#end(fact);
    }
  }

  *#snapshot(fact: SnapshotFact): Generator<SessionEvent> {
    if (fact.text === '') return;
    if (this.#open?.isAnother(fact) === true) yield* this.#endMessage('stop');
    if (fact.kind === 'text') this.#hasSaid = true;
    yield* (yield* this.#message()).take(fact);
  }

  *#tool(fact: ToolFact): Generator<SessionEvent> {
    const { phase, toolCallId, result } = fact;
    const known = this.#tools.get(toolCallId);
    if (known === undefined) yield* this.#call(fact);
    const call = this.#tools.get(toolCallId);
    if (call?.isRunning !== true || phase === 'start') return; // told already
    const { toolName, args } = call.fact;
    if (phase === 'update') {
      const partialResult = result;
      yield { type: 'tool_execution_update', toolCallId, toolName, args, partialResult };
      return;
    }
    call.isRunning = false;
    yield { type: 'tool_execution_end', toolCallId, toolName, result, isError: fact.isError };
  }

  /** A call ends the message that makes it: each call is in one message, also where that says nothing. */
  *#call(fact: ToolFact): Generator<SessionEvent> {
    const { toolCallId, toolName, args } = fact;
    yield* this.#message();
    yield* this.#endMessage('toolUse', {
      call: { type: 'toolCall', id: toolCallId, name: toolName, arguments: args },
    });
    this.#tools.set(toolCallId, { fact, isRunning: true });
    yield { type: 'tool_execution_start', toolCallId, toolName, args };
  }

  *#compaction(phase: 'start' | 'end', willRetry: boolean): Generator<SessionEvent> {
    const isStart = phase === 'start';
    if (isStart === this.#isCompacting) return;
    if (isStart) yield* this.#endMessage('stop');
    this.#isCompacting = isStart;
    yield isStart
      ? { type: 'auto_compaction_start', reason: 'threshold' }
      : { type: 'auto_compaction_end', aborted: false, willRetry };
  }

  *#end(end: RunEndFact): Generator<SessionEvent> {
    if (end.how === 'done' && !this.#hasSaid && end.text !== undefined)
      yield* this.#snapshot({ kind: 'text', text: end.text, opens: true, continues: false });
    if (end.how === 'done') yield* this.#endMessage('stop');
    else if (end.how === 'aborted') yield* this.#endMessage('aborted');
    else yield* this.#endMessage('error', { errorMessage: end.message });
    for (const [toolCallId, call] of this.#tools) {
      if (!call.isRunning) continue;
      call.isRunning = false;
      const { toolName } = call.fact;
      const ended = { toolCallId, toolName, result: 'no result', isError: true };
      yield { type: 'tool_execution_end', ...ended };
    }
    if (this.#isCompacting) yield { type: 'auto_compaction_end', aborted: true, willRetry: false };
    yield {
      type: 'agent_end',
      messages: this.#messages,
      ...(end.how === 'aborted' && { aborted: true }),
      ...(end.how === 'failed' && { error: { subtype: end.by, message: end.message } }),
    };
  }

  *#message(): Generator<SessionEvent, OpenMessage> {
    if (this.#open !== undefined) return this.#open;
    const { provider, model, clock } = this.#with;
    const message = new OpenMessage({ provider, model, timestamp: clock.now() });
    this.#open = message;
    yield message.started;
    return message;
  }

  *#endMessage(stopReason: StopReason, how: Parameters<OpenMessage['end']>[1] = {}) {
    const message = this.#open;
    this.#open = undefined;
    if (message !== undefined) this.#messages.push(yield* message.end(stopReason, how));
  }
}
