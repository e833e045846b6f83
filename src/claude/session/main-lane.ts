import type { SessionEvent } from '@sluice/sdk/stream';
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
import { MessageReader } from '../messages/message-reader.js';
import { compactions } from './compaction.js';
import { SessionMessageWriter } from './message-writer.js';
import { providerErrorOf } from './provider-error.js';
import type { DiagnosticFact } from './session-diagnostic.js';
import { type KnownCall, type ToolCalls, toolCalls } from './tool-calls.js';
import { progressPartial } from './tool-partial.js';

type Report = (fact: DiagnosticFact) => void;

/** The main lane: what the model says to its user, the tools that it calls, and its compactions. */
export class MainLane {
  readonly writer: SessionMessageWriter;
  readonly reader: MessageReader;
  readonly tools: ToolCalls;
  readonly compaction: ReturnType<typeof compactions>;
  readonly #report: Report;
  readonly #startsAtMessageEnd: boolean;
  /** Calls of the open message that start after its end. */
  #deferred: [id: string, call: KnownCall][] = [];

  constructor(emit: (event: SessionEvent) => void, report: Report, startsAtMessageEnd: boolean) {
    this.#report = report;
    this.#startsAtMessageEnd = startsAtMessageEnd;
    this.tools = toolCalls((event) => {
      if (event.type !== 'tool_execution_update') this.reader.endText();
      emit(event);
    }, report);
    this.compaction = compactions(emit, report, () => this.reader);
    this.writer = new SessionMessageWriter({
      emit,
      report,
      call: (id, call, isLate) => this.#call(id, call, isLate),
      answer: (answer) => this.#answer(answer),
      compaction: this.compaction.block,
      messageEnded: () => this.#messageEnded(),
    });
    this.reader = new MessageReader(this.writer, Number.POSITIVE_INFINITY);
  }

  /** A raw event of the Messages API. */
  streamEvent(frame: CsdkFrame): void {
    const { event } = frame;
    if (!isTyped(event)) {
      this.#malformed(frame, 'its event has no type');
      return;
    }
    if (event.type === 'message_start') {
      const message = messageOf(event.message);
      if (message === undefined) {
        this.#malformed(frame, 'it starts no message');
        return;
      }
      this.#turnsTo(message);
    }
    this.reader.event(event);
  }

  /** A complete frame of the model: a block, or a whole message. */
  assistant(frame: CsdkFrame): void {
    const message = messageOf(frame.message);
    if (message === undefined) {
      this.#malformed(frame, 'it has no message');
      return;
    }
    this.#turnsTo(message);
    const open = this.reader.complete(message, frame);
    if (open === undefined) return;
    const error = providerErrorOf(frame);
    if (error !== undefined) this.reader.stop({ reason: 'error', code: error.code });
    else if (frame.aborted === true) this.reader.stop({ reason: 'aborted' });
    else if (message.stopReason !== undefined && !open.isStreamed) this.reader.stop();
  }

  /** A frame of the host. Only its tool results count. */
  user(frame: CsdkFrame): void {
    if (frame.isReplay === true) return;
    if (!isFields(frame.message)) {
      this.#malformed(frame, 'it has no message');
      return;
    }
    for (const answer of toolAnswers(blocksOf(frame.message.content), frame.tool_use_result))
      this.#answer(answer);
  }

  toolProgress(frame: CsdkFrame): void {
    const id = textField(frame, 'tool_use_id') ?? '';
    this.tools.start(id, { ...this.#callOf(id), ...named(frame) });
    this.tools.update(id, progressPartial(frame));
  }

  toolSummary(frame: CsdkFrame): void {
    const ids: readonly unknown[] = Array.isArray(frame.preceding_tool_use_ids)
      ? frame.preceding_tool_use_ids
      : [];
    const summary = textField(frame, 'summary') ?? '';
    for (const id of ids)
      if (typeof id === 'string') this.tools.update(id, { kind: 'summary', summary });
  }

  /** A call of the SDK to its host. */
  callback(callback: CsdkCallback): void {
    if (callback.kind === 'hook') {
      this.#hook(callback);
      return;
    }
    if (callback.agentId !== undefined) return; // a subagent's call: not of this lane
    const { toolUseId: id, toolName: name } = callback;
    const args = callback.kind === 'permission_request' ? callback.input : callback.updatedInput;
    this.#askedFor(id, { name, args });
  }

  /** A turn's result, or the run's end: nothing stays open but, on request, what goes on in the background. */
  closeAll(how: { readonly aborted: boolean; readonly keepDetached: boolean }): void {
    this.reader.displace();
    this.tools.endAll(how);
    this.compaction.end(how.aborted);
  }

  /** A message begins, or goes on: another one that is open ends, and so does a compaction. */
  #turnsTo(message: CsdkMessage): void {
    if (this.reader.open !== undefined && this.reader.open.id !== message.id)
      this.reader.displace();
    this.compaction.modelSpoke();
  }

  /** A call of the open message. */
  #callOf(id: string): KnownCall | undefined {
    const block = this.reader.open?.call(id);
    return block && { name: block.name, args: argumentsOf(block) ?? {} };
  }

  #call(id: string, call: KnownCall, isLate: boolean): void {
    if (this.#startsAtMessageEnd && !isLate) this.#deferred.push([id, call]);
    else this.tools.start(id, call);
  }

  #messageEnded(): void {
    const deferred = this.#deferred;
    this.#deferred = [];
    for (const [id, call] of deferred) this.tools.start(id, call);
    this.compaction.messageEnded();
  }

  #answer({ callId: id, structured, content, ...how }: ToolAnswer): void {
    this.tools.start(id, this.#callOf(id));
    if (how.isDetached) this.tools.detach(id);
    else if (how.isLaunch) this.tools.launch(id, structured);
    else this.tools.end(id, structured ?? content, how.isError);
  }

  #askedFor(id: string, call: KnownCall): void {
    this.tools.note(id, call);
    if (!this.#startsAtMessageEnd) this.tools.start(id);
  }

  #hook({ event, input, toolUseId }: Extract<CsdkCallback, { kind: 'hook' }>): void {
    if (event === 'PreToolUse' && toolUseId !== undefined && input.agent_id === undefined)
      this.#askedFor(toolUseId, {
        ...named(input),
        args: isFields(input.tool_input) ? input.tool_input : undefined,
      });
    else this.compaction.hook(event, input);
  }

  #malformed(frame: CsdkFrame, problem: string): void {
    this.#report({ kind: 'malformed_frame', type: frame.type, problem });
  }
}

function named(fields: Readonly<Record<string, unknown>>): { readonly name?: string } {
  const name = textField(fields, 'tool_name');
  return name === undefined ? {} : { name };
}
