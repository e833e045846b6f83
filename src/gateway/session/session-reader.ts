import type { Clock } from '../../kernel/index.js';
import type { AssistantMessage, SessionEvent, StopReason } from '../../stream/index.js';
import type { RunEndFact, RunFact, SnapshotFact, ToolFact } from '../run/run-fact.js';
import { type OpenMessage, openMessage } from './open-message.js';

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
export function sessionReader(options: SessionReaderOptions) {
  const { provider, model, clock } = options;
  const messages: AssistantMessage[] = [];
  const tools = new Map<string, { readonly fact: ToolFact; isRunning: boolean }>();
  let open: OpenMessage | undefined;
  let isCompacting = false;
  let hasSaid = false;

  function* snapshot(fact: SnapshotFact): Generator<SessionEvent> {
    if (fact.text === '') return;
    if (open?.isAnother(fact) === true) yield* endMessage('stop');
    if (fact.kind === 'text') hasSaid = true;
    yield* (yield* message()).take(fact);
  }

  function* tool(fact: ToolFact): Generator<SessionEvent> {
    const { phase, toolCallId, result } = fact;
    const known = tools.get(toolCallId);
    if (known === undefined) yield* beginCall(fact);
    const call = tools.get(toolCallId);
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
  function* beginCall(fact: ToolFact): Generator<SessionEvent> {
    const { toolCallId, toolName, args } = fact;
    yield* message();
    yield* endMessage('toolUse', {
      call: { type: 'toolCall', id: toolCallId, name: toolName, arguments: args },
    });
    tools.set(toolCallId, { fact, isRunning: true });
    yield { type: 'tool_execution_start', toolCallId, toolName, args };
  }

  function* compaction(phase: 'start' | 'end', willRetry: boolean): Generator<SessionEvent> {
    const isStart = phase === 'start';
    if (isStart === isCompacting) return;
    if (isStart) yield* endMessage('stop');
    isCompacting = isStart;
    yield isStart
      ? { type: 'auto_compaction_start', reason: 'threshold' }
      : { type: 'auto_compaction_end', aborted: false, willRetry };
  }

  function* end(end: RunEndFact): Generator<SessionEvent> {
    if (end.how === 'done' && !hasSaid && end.text !== undefined)
      yield* snapshot({ kind: 'text', text: end.text, opens: true, continues: false });
    if (end.how === 'done') yield* endMessage('stop');
    else if (end.how === 'aborted') yield* endMessage('aborted');
    else yield* endMessage('error', { errorMessage: end.message });
    for (const [toolCallId, call] of tools) {
      if (!call.isRunning) continue;
      call.isRunning = false;
      const { toolName } = call.fact;
      yield {
        type: 'tool_execution_end',
        toolCallId,
        toolName,
        result: 'no result',
        isError: true,
      };
    }
    if (isCompacting) yield { type: 'auto_compaction_end', aborted: true, willRetry: false };
    yield {
      type: 'agent_end',
      messages: messages,
      ...(end.how === 'aborted' && { aborted: true }),
      ...(end.how === 'failed' && { error: { subtype: end.by, message: end.message } }),
    };
  }

  function* message(): Generator<SessionEvent, OpenMessage> {
    if (open !== undefined) return open;
    const message = openMessage({ provider, model, timestamp: clock.now() });
    open = message;
    yield message.started();
    return message;
  }

  function* endMessage(
    stopReason: StopReason,
    how: Parameters<OpenMessage['end']>[1] = {},
  ): Generator<SessionEvent> {
    const message = open;
    open = undefined;
    if (message !== undefined) messages.push(yield* message.end(stopReason, how));
  }

  return {
    /** The events of one fact. After an `end` nothing may follow. */
    *take(fact: RunFact): Generator<SessionEvent> {
      switch (fact.kind) {
        case 'thinking':
        case 'text':
          return yield* snapshot(fact);
        case 'tool':
          return yield* tool(fact);
        case 'compaction':
          return yield* compaction(fact.phase, fact.willRetry);
        case 'end':
          return yield* end(fact);
      }
    },
  };
}

/** The parts of `sessionReader` that others use. */
export type SessionReader = ReturnType<typeof sessionReader>;
