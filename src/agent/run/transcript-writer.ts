import type {
  AssistantContent,
  SessionMessage,
  ToolResultMessage,
  TranscriptEntry,
} from '@sluice/sdk/stream';
import { inOrder } from '@sluice/sdk/stream/internal';
import { definedFields, isThenable, oneLine, type StopSignal } from 'sluice-kernel/internal';
import { isSuspended, RunFailure } from './run-failure.js';
import type { RunSession } from './run-fields.js';
import type { Trail } from './trail.js';

/**
 * Writes a run's messages through the two transcript stages: exactly the messages that they pass, in order, and none that
 * they cancel. A fail-closed handler that fails leaves a placeholder: no message is lost, and none is written unjudged (§15.14). A tool's result waits until the message that called it is whole, whichever comes first. If another system
 * writes the transcript (the session has no `append`), the stages can only observe.
 *
 * @param signal stops the run. If it suspends the run, a failure of a tool is the stop's own: it is not written, and neither is what
 *   its agent makes of it (judgement §4.33).
 */
export function transcriptWriter(
  trail: Trail,
  session: RunSession,
  runId: string,
  signal: StopSignal | undefined,
) {
  const written: TranscriptEntry[] = [];
  let waiting: ToolResultMessage[] = [];
  let messageIsOpen = false;
  /** Nothing more of the agent is written: at once, or when the message that is open is whole. */
  let cut: 'now' | 'after message' | undefined;
  const { agentId, sessionKey, sessionId } = session;
  const ids = Object.freeze({ agentId, sessionKey, sessionId, runId });
  const gate = session.append === undefined ? 'observe-only' : 'enforce';

  function flush(): Promise<void> | undefined {
    const results = waiting;
    waiting = [];
    return inOrder(...results.map((result) => () => passResult(result)));
  }

  function passResult(result: ToolResultMessage): Promise<void> | undefined {
    const { toolName, toolCallId } = result;
    const about = { ...ids, toolName, toolCallId, isSynthetic: false };
    const payload = { ...about, message: { ...result } };
    const outcome = trail.dispatchSync('transcript.tool-result.persisting', payload, { gate });
    return pass(
      outcome.status === 'failed' ? placeholderOf({ ...result }) : outcome.payload.message,
    );
  }

  function pass(message: TranscriptEntry): Promise<void> | undefined {
    const outcome = trail.dispatchSync('transcript.message.writing', { ...ids, message }, { gate });
    if (outcome.status === 'cancelled') return undefined; // the outcome names who did
    const passed = outcome.status === 'failed' ? placeholderOf(message) : outcome.payload.message;
    written.push(passed); // before the wait, so that a reader meanwhile finds the message
    const failed = (error: unknown): never => {
      written.splice(written.indexOf(passed), 1);
      throw new RunFailure('not-written', `the transcript was not written: ${oneLine(error)}`);
    };
    try {
      const writing: unknown = session.append?.(passed); // from outside: it may be no promise
      return isThenable(writing)
        ? Promise.resolve(writing).then(() => undefined, failed)
        : undefined;
    } catch (error) {
      return failed(error);
    }
  }

  return {
    written,

    /** A message of the model begins: results wait for it. */
    openMessage(): void {
      messageIsOpen = true;
    },

    /** Writes a whole message, then the results that waited for it. */
    write(message: SessionMessage): Promise<void> | undefined {
      return inOrder(
        () => (cut === 'now' ? undefined : pass({ ...message })),
        () => {
          if (message.role !== 'assistant') return undefined;
          messageIsOpen = false;
          if (cut !== undefined) cut = 'now';
          return flush();
        },
      );
    },

    /** Writes a tool's result, now or when the open message is whole. */
    writeResult(result: ToolResultMessage): Promise<void> | undefined {
      const isOfStop = result.isError && isSuspended(signal);
      if (isOfStop) cut ??= messageIsOpen ? 'after message' : 'now';
      else waiting.push(result);
      return messageIsOpen ? undefined : flush();
    },
    /** Writes the results that still wait: at the end of a run whose last message never ended. */
    close: flush,
  };
}

/**
 * Stands for a message that a fail-closed handler could not judge: its role and the ids of its calls, and none of its words. Such a
 * call is not made again: nobody knows its arguments.
 */
export function placeholderOf({ role, content, ...rest }: TranscriptEntry): TranscriptEntry {
  const text = '[withheld: a handler that guards the transcript failed]';
  const { timestamp, toolCallId, toolName, isError } = rest;
  const ids = definedFields({ timestamp, toolCallId, toolName, isError });
  if (!Array.isArray(content)) return { role, content: text, ...ids };
  const calls = content.flatMap((block: AssistantContent) =>
    block.type === 'toolCall' ? [{ ...block, arguments: {}, withheld: true }] : [],
  );
  return { role, content: [{ type: 'text', text }, ...calls], ...ids };
}

/** The parts of `transcriptWriter` that others use. */
export type TranscriptWriter = ReturnType<typeof transcriptWriter>;
