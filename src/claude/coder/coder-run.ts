import { Recent } from '@sluice/sdk/stream/internal';
import { definedFields, oneLine } from 'sluice-kernel/internal';
import type { Arrival } from '../frames/arrivals.js';
import type { CsdkCallback } from '../frames/callback.js';
import {
  type CsdkBlock,
  type Fields,
  isFields,
  isTyped,
  type KnownFrame,
  knownFrame,
  textField,
} from '../frames/frame.js';
import { FrameIds } from '../frames/frame-ids.js';
import { assistantText } from './blocks/assistant-text.js';
import type { CoderBody } from './blocks/coder-body.js';
import type { CoderStreamEvent, PermissionDecision } from './blocks/coder-event.js';
import { flatRow } from './blocks/flat-message.js';
import { type CoderSink, coderSink } from './coder-sink.js';
import { frameProgress } from './frame-progress.js';
import { mainThread } from './main-thread.js';
import { runOutcome } from './run-outcome.js';
import {
  flatPermission,
  flatToolResult,
  flatToolUse,
  initOf,
  partialText,
  unnamed,
} from './to-coder-events.js';

/** The state of one run of real frames behind `coderStream`. */
export class CoderRun {
  readonly #ids = new FrameIds();
  readonly #sink: CoderSink;
  readonly #thread: ReturnType<typeof mainThread>;
  readonly #permissions: ReturnType<typeof permissionsTold>;
  readonly #outcome: ReturnType<typeof runOutcome>;
  /** The session that was told last. */
  #threadId: string | undefined;

  constructor(now: () => number, goesOn: string | undefined) {
    this.#sink = coderSink(now);
    this.#thread = mainThread(this.#sink);
    this.#permissions = permissionsTold(this.#sink.emit);
    this.#outcome = runOutcome(this.#sink);
    this.#threadId = goesOn;
  }

  /** The events since the last time. */
  take(): readonly CoderStreamEvent[] {
    return this.#sink.take();
  }

  /** Reads what came. @returns whether that was the end of the run. */
  read(next: Arrival, { endsAtResult, signal }: Reading): boolean {
    switch (next.kind) {
      case 'frame':
        this.#frame(next.frame);
        if (!endsAtResult || !this.#outcome.isDecided()) return false;
        return this.#over({ reason: 'completed' }, () => this.#outcome.finish());
      case 'callback':
        this.#sink.about(next.callback);
        if (next.callback.kind === 'hook') this.#hook(next.callback);
        else this.#permission(next.callback);
        return false;
      case 'callbacksFailed': // the run goes on without them
        this.#sink.about(next.error);
        this.#progress('callbacks/threw', oneLine(next.error));
        return false;
      case 'ended':
        return this.#over({ reason: 'completed' }, () => this.#outcome.finish());
      case 'threw':
        return this.#over(next.error, () => this.#outcome.threw(next.error));
      case 'aborted':
        return this.#over({ reason: signal?.reason }, () => this.#outcome.abort(signal?.reason));
      case 'timedOut':
      case 'left':
      case 'closed':
        return true;
    }
  }

  #over(item: unknown, how: () => void): true {
    this.#sink.about(item);
    this.#thread.settle();
    how();
    return true;
  }

  #progress(label: string, detail: string | undefined): void {
    this.#sink.emit({ type: 'progress', label, ...definedFields({ detail }) });
  }

  #frame(frame: unknown): void {
    if (isFields(frame) && this.#ids.isRepeated(textField(frame, 'type') ?? '', frame.uuid)) return;
    this.#sink.about(frame);
    if (!isFields(frame)) return void this.#progress(unnamed, undefined);
    const known = isTyped(frame) ? knownFrame(frame) : undefined;
    const isInit = this.#session(frame, known === undefined);
    if (known !== undefined) this.#known(frame, known);
    else if (!isInit) this.#other(frame);
  }

  #hook({ event, input, toolUseId }: Extract<CsdkCallback, { kind: 'hook' }>): void {
    this.#progress(`hook/${event}`, textField(input, 'tool_name') ?? toolUseId);
  }

  #permission(callback: Exclude<CsdkCallback, { kind: 'hook' }>): void {
    const { toolUseId, toolName, agentId, requestId } = callback;
    const request = { toolUseId, toolName, ...definedFields({ agentId, requestId }) };
    if (callback.kind === 'permission_decision') {
      this.#permissions.decide(request, callback.decision);
      return;
    }
    // the SDK may ask before the frame with the call has come: nobody is asked about a call that was not told
    if (agentId === undefined) this.#thread.call(toolUseId, toolName, callback.input);
    this.#permissions.request({ ...request, input: callback.input });
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
    if (begins) this.#outcome.turn(false);
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
    this.#outcome.turn(known.kind !== 'user');
    if (known.kind === 'stream_event') this.#thread.streamEvent(known.event);
    else if (known.kind === 'user') this.#thread.user(known);
    else this.#assistant(frame, known);
  }

  #assistant(frame: Fields, known: Extract<KnownFrame, { kind: 'assistant' }>): void {
    if (Array.isArray(frame.supersedes) && frame.supersedes.length > 0)
      this.#progress('supersedes', frame.supersedes.join(', '));
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
    const toolUseId = textField(denial, 'tool_use_id') ?? '';
    const toolName = textField(denial, 'tool_name') ?? 'unknown';
    const more = definedFields({ input, agentId: textField(denial, 'agent_id') });
    this.#permissions.decide({ toolUseId, toolName, ...more }, 'denied');
  }

  /** Every other frame: flat ones of older SDKs by their rows, the rest as progress. */
  #other(frame: Fields): void {
    const row = flatRow(textField(frame, 'type') ?? '');
    const thread = this.#thread;
    if (row !== undefined) this.#outcome.turn(true);
    if (row === 'partial') this.#piece(partialText(frame));
    else if (row === 'assistant') this.#text(assistantText(frame), '');
    else if (row === 'tool_use') {
      const { callId = '', name, args } = flatToolUse(frame);
      thread.call(callId, name, args);
    } else if (row === 'tool_result') thread.flatAnswer(flatToolResult(frame));
    else if (row === 'permission') this.#sink.emit(flatPermission(frame));
    else if (row === 'completion') this.#result(frame);
    else if (frame.type === 'system' && frame.subtype === 'permission_denied')
      this.#denied(frame, undefined);
    else {
      if (frame.type === 'conversation_reset') thread.reset();
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

/** How a run is read. */
interface Reading {
  /** It is over at the first result that no queued turn follows. */
  readonly endsAtResult: boolean;
  readonly signal: AbortSignal | undefined;
}

type SubagentFrame = Extract<KnownFrame, { kind: 'assistant' | 'user' }>;

/**
 * Makes progress of a subagent's texts, calls and answers: they are never the main thread's text. Its deltas are left
 * out, for its complete frames say the same.
 */
function subagentProgress(frame: SubagentFrame): CoderBody {
  const blocks = frame.kind === 'assistant' ? frame.message.content : frame.content;
  const detail = blocks.map(detailOf).filter(Boolean).join('\n');
  return { type: 'progress', label: 'subagent', ...(detail !== '' && { detail }) };
}

function detailOf(block: CsdkBlock): string | undefined {
  switch (block.type) {
    case 'text':
      return textField(block, 'text');
    case 'tool_use':
      return `calls ${textField(block, 'name') ?? 'a tool'}`;
    case 'tool_result':
      return block.is_error === true ? 'a tool failed' : 'a tool answered';
    default:
      return undefined;
  }
}

/** A tool call that wants leave. */
interface PermissionRequest {
  readonly toolUseId: string;
  readonly toolName: string;
  readonly input?: unknown;
  /** The subagent that asks; absent in the main thread. */
  readonly agentId?: string;
  readonly requestId?: string;
}

interface Told {
  readonly request: PermissionRequest;
  /** The last one; nothing while it waits. */
  decision: PermissionDecision | undefined;
}

/** So many calls are remembered. */
const calls = 256;

/**
 * Tells each request for leave once, and each decision once, however many tell of it: the host's callbacks, a
 * frame on an automatic denial, and the result's list of denials (C9).
 */
function permissionsTold(emit: (body: CoderBody) => void) {
  const toldCalls = new Recent<string, Told>(calls);
  const known = ({ toolUseId }: PermissionRequest): Told | undefined =>
    toolUseId === '' ? undefined : toldCalls.get(toolUseId);

  function ask(request: PermissionRequest): Told {
    const told: Told = { request, decision: undefined };
    toldCalls.set(request.toolUseId, told);
    emit({ type: 'permission', request });
    return told;
  }

  return {
    request(request: PermissionRequest): void {
      if (known(request) === undefined) ask(request);
    },

    /** Tells a decision. If no request came before, the request is told first. */
    decide(request: PermissionRequest, decision: PermissionDecision): void {
      const told = known(request) ?? ask(request);
      if (told.decision === decision) return;
      told.decision = decision;
      emit({ type: 'permission', request: told.request, decision });
    },
  };
}
