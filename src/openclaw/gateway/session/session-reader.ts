import { MessageWriter, type SessionEvent } from '@sluice/sdk/stream';
import type { Clock } from 'sluice-kernel';
import {
  isAnotherMessage,
  type RunEndFact,
  type RunFact,
  type SnapshotFact,
  type ToolFact,
} from '../run/run-fact.js';

/** The facts that each message names. */
interface SessionReaderOptions {
  readonly provider: string;
  readonly model: string;
  readonly clock: Clock;
}

/** The text of the open message that was shown, of each kind. */
const nothing = { text: '', thinking: '' };

/**
 * Makes session events of one run's facts, in the order that `checkOrdering` asks for, whatever the gateway leaves out or
 * says twice (stream §6). Snapshots become deltas (§6.2). `agent_start` is its reader's.
 */
export class SessionReader {
  readonly #writer: MessageWriter;
  readonly #tools = new Map<string, { readonly fact: ToolFact; isRunning: boolean }>();
  #shown: Record<SnapshotFact['kind'], string> = { ...nothing };
  /** The whole text of the open message, if the gateway has corrected the text that was shown. */
  #truth: string | undefined;
  #isCompacting = false;
  #hasSaid = false;

  constructor({ provider, model, clock }: SessionReaderOptions) {
    this.#writer = new MessageWriter({ provider, model }, () => clock.now());
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

  /** A snapshot that takes something back changes the final message only. */
  *#snapshot(fact: SnapshotFact): Generator<SessionEvent> {
    const { kind, text, opens } = fact;
    if (text === '') return;
    if (kind === 'text') {
      this.#hasSaid = true;
      if (isAnotherMessage(this.#truth ?? this.#shown.text, fact)) yield* this.#endMessage();
    }
    const shown = this.#shown[kind];
    if (kind === 'thinking' && opens && shown !== '' && text !== shown) {
      yield* this.#writer.endBlock();
      this.#shown.thinking = '';
    } else if (!text.startsWith(shown) || (this.#truth !== undefined && kind === 'text')) {
      if (kind === 'text') this.#truth = text;
      return;
    }
    const delta = text.slice(this.#shown[kind].length);
    if (delta === '') return;
    this.#shown[kind] = text;
    yield* this.#writer.grow(kind, delta);
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
    yield* this.#corrected();
    yield* this.#writer.call({ id: toolCallId, name: toolName, arguments: args });
    yield* this.#endMessage();
    this.#tools.set(toolCallId, { fact, isRunning: true });
    yield { type: 'tool_execution_start', toolCallId, toolName, args };
  }

  *#compaction(phase: 'start' | 'end', willRetry: boolean): Generator<SessionEvent> {
    const isStart = phase === 'start';
    if (isStart === this.#isCompacting) return;
    if (isStart) yield* this.#endMessage();
    this.#isCompacting = isStart;
    yield isStart
      ? { type: 'auto_compaction_start', reason: 'threshold' }
      : { type: 'auto_compaction_end', aborted: false, willRetry };
  }

  *#end(end: RunEndFact): Generator<SessionEvent> {
    if (end.how === 'done' && !this.#hasSaid && end.text !== undefined)
      yield* this.#snapshot({ kind: 'text', text: end.text, opens: true, continues: false });
    if (end.how === 'done') yield* this.#endMessage();
    else if (end.how === 'aborted') yield* this.#endMessage({ stopReason: 'aborted' });
    else yield* this.#endMessage({ stopReason: 'error', errorMessage: end.message });
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
      messages: this.#writer.messages,
      ...(end.how === 'aborted' && { aborted: true }),
      ...(end.how === 'failed' && { error: { subtype: end.by, message: end.message } }),
    };
  }

  *#endMessage(how: Parameters<MessageWriter['end']>[0] = {}): Generator<SessionEvent> {
    yield* this.#corrected();
    yield* this.#writer.end(how);
    this.#shown = { ...nothing };
  }

  *#corrected(): Generator<SessionEvent> {
    if (this.#truth !== undefined) yield* this.#writer.correct(this.#truth);
    this.#truth = undefined;
  }
}
