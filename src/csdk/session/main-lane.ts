import { type SessionEvent, textOf } from '../../stream/index.js';
import type { CsdkCallback } from '../frames/callback.js';
import {
  blockIndex,
  type CsdkBlock,
  type CsdkFrame,
  type CsdkMessage,
  isFields,
  isTyped,
  messageOf,
  textField,
} from '../frames/frame.js';
import { Compaction } from './compaction.js';
import { CompactionSignals } from './compaction-signals.js';
import { argumentsOf, blockKind } from './open-block.js';
import type { MessageSink } from './open-message.js';
import { providerErrorOf } from './provider-error.js';
import type { DiagnosticFact } from './session-diagnostic.js';
import { type KnownCall, ToolCalls } from './tool-calls.js';
import { progressPartial } from './tool-partial.js';
import { Turns } from './turn.js';

type Tell = (fact: DiagnosticFact) => void;

/** The main lane: what the model says to its user, the tools that it calls, and its compactions. */
export class MainLane {
  readonly turns: Turns;
  readonly tools: ToolCalls;
  readonly compaction: CompactionSignals;
  readonly #tell: Tell;
  readonly #startsAtMessageEnd: boolean;
  /** Calls of the open message that start after its end. */
  #deferred: [id: string, call: KnownCall][] = [];

  constructor(emit: (event: SessionEvent) => void, tell: Tell, startsAtMessageEnd: boolean) {
    this.#tell = tell;
    this.#startsAtMessageEnd = startsAtMessageEnd;
    this.tools = new ToolCalls(emit, tell);
    const compaction = new Compaction(emit, tell);
    const sink: MessageSink = {
      emit,
      tell,
      call: (block) => this.#call(block.id, { name: block.name, args: argumentsOf(block) }),
      serverResult: (raw) => this.#toolResult(raw, undefined, isServerError(raw)),
      compaction: (phase) => {
        if (phase === 'start') compaction.block();
        else compaction.blockEnded();
      },
    };
    this.turns = new Turns(sink, () => this.#messageEnded());
    this.compaction = new CompactionSignals(compaction, this.turns);
  }

  /** A raw event of the Messages API. */
  streamEvent(frame: CsdkFrame): void {
    const { event } = frame;
    if (!isTyped(event)) {
      this.#malformed(frame, 'its event has no type');
      return;
    }
    const index = blockIndex(event);
    switch (event.type) {
      case 'content_block_delta':
        if (isTyped(event.delta)) this.#delta(index, event.delta);
        return;
      case 'content_block_start':
        if (isTyped(event.content_block))
          this.turns.streaming()?.blockStart(index, event.content_block);
        return;
      case 'content_block_stop':
        this.turns.streaming()?.blockStop(index);
        return;
      case 'message_start': {
        const message = messageOf(event.message);
        if (message === undefined) {
          this.#malformed(frame, 'it starts no message');
          return;
        }
        this.#turnsTo(message);
        this.turns.announce(message);
        return;
      }
      case 'message_delta': {
        const streaming = this.turns.streaming();
        if (isFields(event.delta)) streaming?.stopsFor(textField(event.delta, 'stop_reason'));
        if (isFields(event.usage)) streaming?.uses(event.usage);
        return;
      }
      case 'message_stop':
        if (this.turns.streaming() !== undefined) this.turns.close();
        return;
      default: // ping, and what is yet to come
    }
  }

  /** A complete frame of the model: a block, or a whole message. */
  assistant(frame: CsdkFrame): void {
    const message = messageOf(frame.message);
    if (message === undefined) {
      this.#malformed(frame, 'it has no message');
      return;
    }
    this.#turnsTo(message);
    const error = providerErrorOf(frame);
    const open = this.turns.assembling(message, error);
    if (open === undefined) {
      this.#late(message);
      return;
    }
    for (const block of message.content) open.complete(block);
    open.stopsFor(message.stopReason);
    open.uses(message.usage);
    if (error !== undefined) this.turns.close('error', textOf(open.message) || error.code);
    else if (frame.aborted === true) this.turns.close('aborted');
    else if (message.stopReason !== undefined && this.turns.isAssembling) this.turns.close();
  }

  /** What the host sent: of it, the results of tools. */
  user(frame: CsdkFrame): void {
    if (frame.isReplay === true) return;
    if (!isFields(frame.message)) {
      this.#malformed(frame, 'it has no message');
      return;
    }
    const { content } = frame.message;
    const results = (Array.isArray(content) ? content : []).filter(isToolResult);
    // The structured twin does not say whose it is: with several results it could be any one's.
    const structured = results.length === 1 ? frame.tool_use_result : undefined;
    for (const block of results) this.#toolResult(block, structured, block.is_error === true);
  }

  toolProgress(frame: CsdkFrame): void {
    const id = textField(frame, 'tool_use_id') ?? '';
    this.tools.start(id, { ...this.turns.open?.callOf(id), ...named(frame) });
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

  /** What the SDK told by a call. */
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
    this.turns.displace();
    this.tools.endAll(how);
    this.compaction.end(how.aborted);
  }

  #delta(index: number, delta: CsdkBlock): void {
    const streaming = this.turns.streaming();
    if (streaming !== undefined) {
      streaming.blockDelta(index, delta);
      return;
    }
    const block = delta.type === 'text_delta' ? 'text' : 'thinking';
    const chars = textField(delta, block)?.length ?? 0;
    if (chars > 0) this.#tell({ kind: 'late_text', messageId: '', block, chars });
  }

  /** A message begins, or goes on: another one that is open ends, and so does a compaction. */
  #turnsTo(message: CsdkMessage): void {
    if (this.turns.open !== undefined && this.turns.open.id !== message.id) this.turns.displace();
    this.compaction.modelSpoke();
  }

  /** A frame of a message that has ended: its text was shown, its calls may be new. */
  #late(message: CsdkMessage): void {
    for (const raw of message.content) {
      const kind = blockKind(raw);
      if (kind === 'call')
        this.tools.start(textField(raw, 'id') ?? '', {
          name: textField(raw, 'name'),
          args: isFields(raw.input) ? raw.input : undefined,
        });
      else if (kind === 'serverResult') this.#toolResult(raw, undefined, isServerError(raw));
      else if (kind === 'text' || kind === 'thinking') {
        const chars = textField(raw, kind)?.length ?? 0;
        if (chars > 0) this.#tell({ kind: 'late_text', messageId: message.id, block: kind, chars });
      }
    }
  }

  #call(id: string, call: KnownCall): void {
    if (this.#startsAtMessageEnd) this.#deferred.push([id, call]);
    else this.tools.start(id, call);
  }

  #messageEnded(): void {
    const deferred = this.#deferred;
    this.#deferred = [];
    for (const [id, call] of deferred) this.tools.start(id, call);
    this.compaction.messageEnded();
  }

  #toolResult(block: CsdkBlock, structured: unknown, isError: boolean): void {
    const id = textField(block, 'tool_use_id') ?? '';
    this.tools.start(id, this.turns.open?.callOf(id));
    if (isFields(structured) && structured.detachedToolCall === true) this.tools.detach(id);
    else if (isLaunch(structured)) this.tools.launch(id, structured);
    else this.tools.end(id, structured ?? block.content, isError);
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
    this.#tell({ kind: 'malformed_frame', type: frame.type, problem });
  }
}

function named(fields: Readonly<Record<string, unknown>>): { readonly name?: string } {
  const name = textField(fields, 'tool_name');
  return name === undefined ? {} : { name };
}

function isToolResult(block: unknown): block is CsdkBlock {
  return isTyped(block) && block.type === 'tool_result';
}

/** The answer of the Agent tool when its subagent goes on in the background: the SDK's default since 0.3.330. */
function isLaunch(structured: unknown): boolean {
  return isFields(structured) && structured.status === 'async_launched';
}

function isServerError({ is_error, content }: CsdkBlock): boolean {
  return is_error === true || (isTyped(content) && content.type.endsWith('_error'));
}
