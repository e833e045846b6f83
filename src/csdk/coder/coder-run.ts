import { oneLine } from '../../kernel/index.js';
import type { CsdkCallback } from '../frames/callback.js';
import { isFields, isTyped, type KnownFrame, knownFrame, textField } from '../frames/frame.js';
import { FrameIds } from '../frames/frame-ids.js';
import { assistantText } from './blocks/assistant-text.js';
import type { CoderStreamEvent } from './blocks/coder-event.js';
import { flatRow } from './blocks/flat-message.js';
import { CoderSink } from './coder-sink.js';
import { frameProgress } from './frame-progress.js';
import { MainThread } from './main-thread.js';
import { Permissions } from './permissions.js';
import { RunOutcome } from './run-outcome.js';
import { subagentProgress } from './subagent-progress.js';
import {
  flatPermission,
  flatToolResult,
  flatToolUse,
  initOf,
  partialText,
  unnamed,
} from './to-coder-events.js';

type Fields = Readonly<Record<string, unknown>>;

/** The state of one run of real frames behind `coderStream`. */
export class CoderRun {
  readonly #sink: CoderSink;
  readonly #thread: MainThread;
  readonly #permissions: Permissions;
  readonly #outcome: RunOutcome;
  readonly #ids = new FrameIds();
  /** The session that was told last. */
  #threadId: string | undefined;

  constructor(now: () => number, threadId: string | undefined) {
    this.#sink = new CoderSink(now);
    this.#thread = new MainThread(this.#sink.emit);
    this.#permissions = new Permissions(this.#sink.emit);
    this.#outcome = new RunOutcome(this.#sink);
    this.#threadId = threadId;
  }

  /** The events since the last time. */
  take(): readonly CoderStreamEvent[] {
    return this.#sink.take();
  }

  /** A result of the run's own is there, and no turn is known to follow it. */
  get isDecided(): boolean {
    return this.#outcome.isDecided;
  }

  frame(frame: unknown): void {
    if (isFields(frame) && this.#ids.isRepeated(textField(frame, 'type') ?? '', frame.uuid)) return;
    this.#sink.about(frame);
    if (isFields(frame)) this.#message(frame);
    else this.#sink.emit({ type: 'progress', label: unnamed });
  }

  #message(frame: Fields): void {
    const known = isTyped(frame) ? knownFrame(frame) : undefined;
    const isInit = this.#session(frame, known === undefined);
    if (known !== undefined) this.#known(frame, known);
    else if (!isInit) this.#other(frame);
  }

  /** A call of the SDK to its host. */
  call(callback: CsdkCallback): void {
    this.#sink.about(callback);
    if (callback.kind === 'hook') this.#hook(callback);
    else this.#permission(callback);
  }

  #hook({ event, input, toolUseId }: Extract<CsdkCallback, { kind: 'hook' }>): void {
    const detail = textField(input, 'tool_name') ?? toolUseId;
    const label = `hook/${event}`;
    this.#sink.emit({ type: 'progress', label, ...(detail !== undefined && { detail }) });
  }

  #permission(callback: Exclude<CsdkCallback, { kind: 'hook' }>): void {
    const { toolUseId, toolName, agentId, requestId } = callback;
    const request = {
      toolUseId,
      toolName,
      ...(agentId !== undefined && { agentId }),
      ...(requestId !== undefined && { requestId }),
    };
    if (callback.kind === 'permission_decision') {
      this.#permissions.decide(request, callback.decision);
      return;
    }
    // the SDK may ask before the frame with the call has come: nobody is asked about a call that was not told
    if (agentId === undefined) this.#thread.call(toolUseId, toolName, callback.input);
    this.#permissions.request({ ...request, input: callback.input });
  }

  /** The callbacks have failed. The run goes on without them. */
  callsThrew(error: unknown): void {
    this.#sink.about(error);
    this.#sink.emit({ type: 'progress', label: 'callbacks/threw', detail: oneLine(error) });
  }

  /** The frames have ended. */
  end(): void {
    this.#over({ reason: 'completed' }, () => this.#outcome.finish());
  }

  abort(reason: unknown): void {
    this.#over({ reason }, () => this.#outcome.abort(reason));
  }

  threw(error: unknown): void {
    this.#over(error, () => this.#outcome.threw(error));
  }

  #over(item: unknown, how: () => void): void {
    this.#sink.about(item);
    this.#thread.settle();
    how();
  }

  /** Tells a session that begins, or another one. @returns whether the frame says nothing else. */
  #session(frame: Fields, isOther: boolean): boolean {
    const type = textField(frame, 'type');
    const id = textField(frame, 'session_id');
    const begins =
      type === 'system'
        ? frame.subtype === 'init' || frame.subtype === undefined
        : isOther && type !== undefined && flatRow(type) === 'init';
    if (!begins && (!id || id === this.#threadId)) return false;
    this.#sink.emit(initOf(frame, this.#threadId));
    if (id) this.#threadId = id;
    if (begins) this.#outcome.turn();
    return begins || type === undefined;
  }

  #known(frame: Fields, known: KnownFrame): void {
    if (known.kind === 'result') this.#result(known.result);
    else if (known.lane === null) this.#main(frame, known);
    else if (known.kind !== 'stream_event') {
      this.#thread.subagent(known);
      this.#sink.emit(subagentProgress(known));
    }
  }

  #main(frame: Fields, known: Exclude<KnownFrame, { kind: 'result' }>): void {
    if (known.kind === 'user' && frame.isReplay === true) return; // history, or the host's own message
    this.#outcome.turn();
    if (known.kind === 'stream_event') this.#thread.streamEvent(known.event);
    else if (known.kind === 'user') this.#thread.user(known);
    else this.#assistant(frame, known);
  }

  #assistant(frame: Fields, known: Extract<KnownFrame, { kind: 'assistant' }>): void {
    if (Array.isArray(frame.supersedes) && frame.supersedes.length > 0)
      this.#sink.emit({
        type: 'progress',
        label: 'supersedes',
        detail: frame.supersedes.join(', '),
      });
    const content = isFields(frame.message) ? frame.message.content : undefined;
    if (typeof content === 'string') this.#text(content, known.message.id);
    else this.#thread.assistant(known);
  }

  #result(result: Fields): void {
    this.#thread.settle();
    const denials = Array.isArray(result.permission_denials) ? result.permission_denials : [];
    for (const denial of denials.filter(isFields)) this.#denied(denial, denial.tool_input);
    this.#outcome.result(result);
  }

  /** Without asking anyone. */
  #denied(denial: Fields, input: unknown): void {
    const agentId = textField(denial, 'agent_id');
    this.#permissions.decide(
      {
        toolUseId: textField(denial, 'tool_use_id') ?? '',
        toolName: textField(denial, 'tool_name') ?? 'unknown',
        ...(input !== undefined && { input }),
        ...(agentId !== undefined && { agentId }),
      },
      'denied',
    );
  }

  /** Every other frame: flat ones of older SDKs by their rows, the rest as progress. */
  #other(frame: Fields): void {
    const row = flatRow(textField(frame, 'type') ?? '');
    if (row !== undefined) this.#outcome.turn();
    if (row === 'partial') this.#piece(partialText(frame));
    else if (row === 'assistant') this.#text(assistantText(frame), '');
    else if (row === 'tool_use') {
      const { callId = '', name, args } = flatToolUse(frame);
      this.#thread.call(callId, name, args);
    } else if (row === 'tool_result') this.#thread.flatAnswer(flatToolResult(frame));
    else if (row === 'permission') this.#sink.emit(flatPermission(frame));
    else if (row === 'completion') this.#result(frame);
    else if (frame.type === 'system' && frame.subtype === 'permission_denied')
      this.#denied(frame, undefined);
    else {
      if (frame.type === 'conversation_reset') this.#thread.reset();
      this.#sink.emit(frameProgress(frame));
    }
  }

  #piece(text: string): void {
    const delta = { type: 'text_delta', text };
    this.#thread.streamEvent({ type: 'content_block_delta', index: 0, delta });
  }

  #text(text: string, id: string): void {
    const content = [{ type: 'text', text }];
    const message = { id, content, model: undefined, stopReason: undefined, usage: undefined };
    this.#thread.assistant({ message });
  }
}
