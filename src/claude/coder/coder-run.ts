import { Recent } from '@sluice/sdk/stream/internal';
import { definedFields, oneLine } from 'sluice-kernel/internal';
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
import { coderSink } from './coder-sink.js';
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
export function coderRun(now: () => number, goesOn: string | undefined) {
  const ids = new FrameIds();
  const sink = coderSink(now);
  const thread = mainThread(sink);
  const permissions = permissionsTold(sink.emit);
  const outcome = runOutcome(sink);
  /** The session that was told last. */
  let threadId = goesOn;

  function message(frame: Fields): void {
    const known = isTyped(frame) ? knownFrame(frame) : undefined;
    const isInit = session(frame, known === undefined);
    if (known !== undefined) takeKnown(frame, known);
    else if (!isInit) other(frame);
  }

  function hook({ event, input, toolUseId }: Extract<CsdkCallback, { kind: 'hook' }>): void {
    const detail = textField(input, 'tool_name') ?? toolUseId;
    const label = `hook/${event}`;
    sink.emit({ type: 'progress', label, ...definedFields({ detail }) });
  }

  function permission(callback: Exclude<CsdkCallback, { kind: 'hook' }>): void {
    const { toolUseId, toolName, agentId, requestId } = callback;
    const request = { toolUseId, toolName, ...definedFields({ agentId, requestId }) };
    if (callback.kind === 'permission_decision') {
      permissions.decide(request, callback.decision);
      return;
    }
    // the SDK may ask before the frame with the call has come: nobody is asked about a call that was not told
    if (agentId === undefined) thread.call(toolUseId, toolName, callback.input);
    permissions.request({ ...request, input: callback.input });
  }

  function over(item: unknown, how: () => void): void {
    sink.about(item);
    thread.settle();
    how();
  }

  /** Tells a session that begins, or another one. @returns whether the frame says nothing else. */
  function session(frame: Fields, isOther: boolean): boolean {
    const type = textField(frame, 'type');
    const id = textField(frame, 'session_id');
    const begins =
      type === 'system'
        ? frame.subtype === 'init' || frame.subtype === undefined
        : isOther && type !== undefined && flatRow(type) === 'init';
    if (!begins && (!id || id === threadId)) return false;
    sink.emit(initOf(frame, threadId));
    if (id) threadId = id;
    if (begins) outcome.turn(false);
    return begins || type === undefined;
  }

  function takeKnown(frame: Fields, known: KnownFrame): void {
    if (known.kind === 'result') result(known.result);
    else if (known.lane === null) main(frame, known);
    else if (known.kind !== 'stream_event') {
      thread.subagent(known);
      sink.emit(subagentProgress(known));
    }
  }

  function main(frame: Fields, known: Exclude<KnownFrame, { kind: 'result' }>): void {
    if (known.kind === 'user' && frame.isReplay === true) return; // history, or the host's own message
    outcome.turn(known.kind !== 'user');
    if (known.kind === 'stream_event') thread.streamEvent(known.event);
    else if (known.kind === 'user') thread.user(known);
    else assistant(frame, known);
  }

  function assistant(frame: Fields, known: Extract<KnownFrame, { kind: 'assistant' }>): void {
    if (Array.isArray(frame.supersedes) && frame.supersedes.length > 0)
      sink.emit({ type: 'progress', label: 'supersedes', detail: frame.supersedes.join(', ') });
    const content = isFields(frame.message) ? frame.message.content : undefined;
    if (typeof content === 'string') text(content, known.message.id);
    else thread.assistant(known);
  }

  function result(result: Fields): void {
    thread.settle();
    const denials = Array.isArray(result.permission_denials) ? result.permission_denials : [];
    for (const denial of denials.filter(isFields)) denied(denial, denial.tool_input);
    outcome.result(result);
  }

  /** Without asking anyone. */
  function denied(denial: Fields, input: unknown): void {
    permissions.decide(
      {
        toolUseId: textField(denial, 'tool_use_id') ?? '',
        toolName: textField(denial, 'tool_name') ?? 'unknown',
        ...definedFields({ input, agentId: textField(denial, 'agent_id') }),
      },
      'denied',
    );
  }

  /** Every other frame: flat ones of older SDKs by their rows, the rest as progress. */
  function other(frame: Fields): void {
    const row = flatRow(textField(frame, 'type') ?? '');
    if (row !== undefined) outcome.turn(true);
    if (row === 'partial') piece(partialText(frame));
    else if (row === 'assistant') text(assistantText(frame), '');
    else if (row === 'tool_use') {
      const { callId = '', name, args } = flatToolUse(frame);
      thread.call(callId, name, args);
    } else if (row === 'tool_result') thread.flatAnswer(flatToolResult(frame));
    else if (row === 'permission') sink.emit(flatPermission(frame));
    else if (row === 'completion') result(frame);
    else if (frame.type === 'system' && frame.subtype === 'permission_denied')
      denied(frame, undefined);
    else {
      if (frame.type === 'conversation_reset') thread.reset();
      sink.emit(frameProgress(frame));
    }
  }

  function piece(text: string): void {
    const delta = { type: 'text_delta', text };
    thread.streamEvent({ type: 'content_block_delta', index: 0, delta });
  }

  function text(text: string, id: string): void {
    const content = [{ type: 'text', text }];
    const message = { id, content, model: undefined, stopReason: undefined, usage: undefined };
    thread.assistant({ message });
  }

  return {
    /** The events since the last time. */
    take: (): readonly CoderStreamEvent[] => sink.take(),

    /** A result of the run's own is there, and no turn is known to follow it. */
    isDecided: (): boolean => outcome.isDecided(),

    frame(frame: unknown): void {
      if (isFields(frame) && ids.isRepeated(textField(frame, 'type') ?? '', frame.uuid)) return;
      sink.about(frame);
      if (isFields(frame)) message(frame);
      else sink.emit({ type: 'progress', label: unnamed });
    },

    /** A call of the SDK to its host. */
    call(callback: CsdkCallback): void {
      sink.about(callback);
      if (callback.kind === 'hook') hook(callback);
      else permission(callback);
    },

    /** The callbacks have failed. The run goes on without them. */
    callsThrew(error: unknown): void {
      sink.about(error);
      sink.emit({ type: 'progress', label: 'callbacks/threw', detail: oneLine(error) });
    },

    /** The frames have ended. */
    end: (): void => over({ reason: 'completed' }, () => outcome.finish()),
    abort: (reason: unknown): void => over({ reason }, () => outcome.abort(reason)),
    threw: (error: unknown): void => over(error, () => outcome.threw(error)),
  };
}

/** The parts of `coderRun` that others use. */
export type CoderRun = ReturnType<typeof coderRun>;

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
