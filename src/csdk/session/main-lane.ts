import type { SessionEvent } from '../../stream/index.js';
import type { CsdkCallback } from '../frames/callback.js';
import {
  blocksOf,
  type CsdkFrame,
  type CsdkMessage,
  isFields,
  isTyped,
  messageOf,
  textField,
} from '../frames/frame.js';
import { type ToolAnswer, toolAnswers } from '../frames/tool-answer.js';
import { argumentsOf } from '../messages/block.js';
import { messageReader } from '../messages/message-reader.js';
import { compactions } from './compaction.js';
import { sessionMessageWriter } from './message-writer.js';
import { providerErrorOf } from './provider-error.js';
import type { DiagnosticFact } from './session-diagnostic.js';
import { type KnownCall, toolCalls } from './tool-calls.js';
import { progressPartial } from './tool-partial.js';

/** The main lane: what the model says to its user, the tools that it calls, and its compactions. */
export function mainLane(
  emit: (event: SessionEvent) => void,
  tell: (fact: DiagnosticFact) => void,
  startsAtMessageEnd: boolean,
) {
  /** Calls of the open message that start after its end. */
  let waiting: [id: string, call: KnownCall][] = [];
  const tools = toolCalls(emit, tell);
  const compaction = compactions(emit, tell, () => reader);
  const writer = sessionMessageWriter({
    emit,
    tell,
    call: began,
    answer: answered,
    compaction: compaction.block,
    messageEnded,
  });
  const reader = messageReader(writer, Number.POSITIVE_INFINITY);

  /** A message begins, or goes on: another one that is open ends, and so does a compaction. */
  function turnsTo(message: CsdkMessage): void {
    if (reader.open !== undefined && reader.open.id !== message.id) reader.displace();
    compaction.modelSpoke();
  }

  /** A call of the open message. */
  function callOf(id: string): KnownCall | undefined {
    const block = reader.open?.call(id);
    return block && { name: block.name, args: argumentsOf(block) ?? {} };
  }

  function began(id: string, call: KnownCall, isLate: boolean): void {
    if (startsAtMessageEnd && !isLate) waiting.push([id, call]);
    else tools.start(id, call);
  }

  function messageEnded(): void {
    const deferred = waiting;
    waiting = [];
    for (const [id, call] of deferred) tools.start(id, call);
    compaction.messageEnded();
  }

  function answered({ callId: id, structured, content, ...how }: ToolAnswer): void {
    tools.start(id, callOf(id));
    if (how.isDetached) tools.detach(id);
    else if (how.isLaunch) tools.launch(id, structured);
    else tools.end(id, structured ?? content, how.isError);
  }

  function askedFor(id: string, call: KnownCall): void {
    tools.note(id, call);
    if (!startsAtMessageEnd) tools.start(id);
  }

  function hook({ event, input, toolUseId }: Extract<CsdkCallback, { kind: 'hook' }>): void {
    if (event === 'PreToolUse' && toolUseId !== undefined && input.agent_id === undefined)
      askedFor(toolUseId, {
        ...named(input),
        args: isFields(input.tool_input) ? input.tool_input : undefined,
      });
    else compaction.hook(event, input);
  }

  function malformed(frame: CsdkFrame, problem: string): void {
    tell({ kind: 'malformed_frame', type: frame.type, problem });
  }

  return {
    compaction,
    tools,
    reader,
    writer,
    /** A raw event of the Messages API. */
    streamEvent(frame: CsdkFrame): void {
      const { event } = frame;
      if (!isTyped(event)) {
        malformed(frame, 'its event has no type');
        return;
      }
      if (event.type === 'message_start') {
        const message = messageOf(event.message);
        if (message === undefined) {
          malformed(frame, 'it starts no message');
          return;
        }
        turnsTo(message);
      }
      reader.event(event);
    },
    /** A complete frame of the model: a block, or a whole message. */
    assistant(frame: CsdkFrame): void {
      const message = messageOf(frame.message);
      if (message === undefined) {
        malformed(frame, 'it has no message');
        return;
      }
      turnsTo(message);
      const open = reader.complete(message, frame);
      if (open === undefined) return;
      const error = providerErrorOf(frame);
      if (error !== undefined) reader.stop({ reason: 'error', code: error.code });
      else if (frame.aborted === true) reader.stop({ reason: 'aborted' });
      else if (message.stopReason !== undefined && !open.isStreamed) reader.stop();
    },
    /** A frame of the host. Only its tool results count. */
    user(frame: CsdkFrame): void {
      if (frame.isReplay === true) return;
      if (!isFields(frame.message)) {
        malformed(frame, 'it has no message');
        return;
      }
      for (const answer of toolAnswers(blocksOf(frame.message.content), frame.tool_use_result))
        answered(answer);
    },
    toolProgress(frame: CsdkFrame): void {
      const id = textField(frame, 'tool_use_id') ?? '';
      tools.start(id, { ...callOf(id), ...named(frame) });
      tools.update(id, progressPartial(frame));
    },
    toolSummary(frame: CsdkFrame): void {
      const ids: readonly unknown[] = Array.isArray(frame.preceding_tool_use_ids)
        ? frame.preceding_tool_use_ids
        : [];
      const summary = textField(frame, 'summary') ?? '';
      for (const id of ids)
        if (typeof id === 'string') tools.update(id, { kind: 'summary', summary });
    },
    /** A call of the SDK to its host. */
    callback(callback: CsdkCallback): void {
      if (callback.kind === 'hook') {
        hook(callback);
        return;
      }
      if (callback.agentId !== undefined) return; // a subagent's call: not of this lane
      const { toolUseId: id, toolName: name } = callback;
      const args = callback.kind === 'permission_request' ? callback.input : callback.updatedInput;
      askedFor(id, { name, args });
    },
    /** A turn's result, or the run's end: nothing stays open but, on request, what goes on in the background. */
    closeAll(how: { readonly aborted: boolean; readonly keepDetached: boolean }): void {
      reader.displace();
      tools.endAll(how);
      compaction.end(how.aborted);
    },
  };
}

function named(fields: Readonly<Record<string, unknown>>): { readonly name?: string } {
  const name = textField(fields, 'tool_name');
  return name === undefined ? {} : { name };
}
