import type { SessionEvent, SessionMessage } from '../stream/index.js';
import {
  type CsdkFrame,
  type CsdkMessage,
  type CsdkStreamEvent,
  isTyped,
  type KnownFrame,
  knownFrame,
  messageOf,
  textField,
} from './frame.js';
import { OpenMessage } from './open-message.js';
import { sessionUsage } from './usage.js';

/**
 * Turns the frames of one CSDK run into session events: text and thinking, complete messages, tool calls and
 * results, and the end. Each visible text is emitted once, with partial messages or without. It ends at the first
 * result, or with the stream; a stream that ends or throws before its result ends in an error.
 *
 * This first version reads the main lane only: what a subagent says or does is left out. So are server tools,
 * tool progress, compaction, permission callbacks and de-duplication by frame id.
 *
 * @example
 * for await (const event of normalizeSession(frames)) if (event.type === 'message_end') console.log(event.message);
 */
export async function* normalizeSession(
  frames: AsyncIterable<CsdkFrame> | Iterable<CsdkFrame>,
): AsyncGenerator<SessionEvent> {
  const session = new Session();
  yield { type: 'agent_start' };
  try {
    for await (const frame of frames) {
      const known = knownFrame(frame);
      if (known !== undefined) session.take(known);
      yield* session.drain();
      if (session.ended) return;
    }
    session.end({
      error: { subtype: 'stream_closed', message: 'the stream ended before its result' },
    });
  } catch (thrown) {
    session.end({ error: { subtype: 'threw', message: String(thrown) } });
  }
  yield* session.drain();
}

interface RunningTool {
  readonly name: string;
  ended: boolean;
}

type End = Omit<Extract<SessionEvent, { type: 'agent_end' }>, 'type' | 'messages'>;

/** The state of one run. Facts 3.2, rules R1 to R10, R13 and R14, as far as the main lane needs them. */
class Session {
  ended = false;
  #events: SessionEvent[] = [];
  readonly #messages: SessionMessage[] = [];
  readonly #tools = new Map<string, RunningTool>();
  readonly #closedIds = new Set<string>();
  #open: OpenMessage | undefined;
  /** A message that was announced and has nothing in it yet: it opens with its first block. */
  #announced: CsdkMessage | undefined;

  /** The events since the last time. */
  *drain(): Generator<SessionEvent> {
    const events = this.#events;
    this.#events = [];
    yield* events;
  }

  take(frame: KnownFrame): void {
    if (frame.kind === 'result') this.#result(frame.result);
    else if (frame.lane !== null)
      return; // a subagent's: never main text
    else if (frame.kind === 'stream_event') this.#streamEvent(frame.event);
    else if (frame.kind === 'assistant') this.#assistant(frame);
    else
      for (const block of frame.content)
        if (block.type === 'tool_result') this.#toolResult(block, frame.toolUseResult);
  }

  end(end: End): void {
    if (this.ended) return;
    this.#displaceMessage();
    for (const [id, tool] of this.#tools)
      if (!tool.ended) this.#endTool(id, tool, 'no result', true);
    this.#emit({ type: 'agent_end', messages: this.#messages, ...end });
    this.ended = true;
  }

  #streamEvent(event: CsdkStreamEvent): void {
    const index = typeof event.index === 'number' ? event.index : 0;
    switch (event.type) {
      case 'message_start':
        this.#displaceMessage();
        this.#announced = messageOf(event.message);
        return;
      case 'content_block_start':
        if (isTyped(event.content_block)) this.#streamed()?.blockStart(index, event.content_block);
        return;
      case 'content_block_delta':
        if (isTyped(event.delta)) this.#streamed()?.blockDelta(index, event.delta);
        return;
      case 'content_block_stop':
        this.#open?.blockStop(index);
        return;
      case 'message_delta': {
        const { delta, usage } = event;
        this.#streamed()?.stopsFor(textField(Object(delta), 'stop_reason'));
        this.#open?.uses(Object(usage));
        return;
      }
      case 'message_stop':
        this.#streamed();
        this.#closeMessage();
        return;
      default: // ping, and what is yet to come
    }
  }

  #assistant(frame: Extract<KnownFrame, { kind: 'assistant' }>): void {
    const { message, error, aborted } = frame;
    if (this.#closedIds.has(message.id)) {
      for (const block of message.content) if (block.type === 'tool_use') this.#lateToolUse(block);
      return;
    }
    if (this.#announced?.id === message.id) this.#streamed();
    if (this.#open?.id !== message.id || message.id === '') {
      this.#displaceMessage();
      this.#openMessage(message, false);
    }
    const open = this.#open;
    if (open === undefined) return;
    for (const block of message.content) open.snapshot(block);
    open.stopsFor(message.stopReason);
    open.uses(message.usage);
    if (error !== undefined) this.#closeMessage('error', error);
    else if (aborted) this.#closeMessage('aborted');
    else if (!open.streamed && message.stopReason !== undefined) this.#closeMessage();
  }

  #lateToolUse(block: Readonly<Record<string, unknown>>): void {
    const input = block.input;
    this.#startTool(
      textField(block, 'id') ?? '',
      textField(block, 'name') ?? 'unknown',
      typeof input === 'object' && input !== null ? { ...input } : {},
    );
  }

  #toolResult(block: Readonly<Record<string, unknown>>, structured: unknown): void {
    const id = textField(block, 'tool_use_id') ?? '';
    if (!this.#tools.has(id)) this.#startTool(id, 'unknown', {});
    const tool = this.#tools.get(id);
    if (tool === undefined || tool.ended) return;
    this.#endTool(id, tool, structured ?? block.content, block.is_error === true);
  }

  #result(result: Readonly<Record<string, unknown>>): void {
    const subtype = textField(result, 'subtype') ?? 'result';
    const reason = textField(result, 'terminal_reason');
    const usage = sessionUsage(
      typeof result.usage === 'object' ? Object(result.usage) : undefined,
      result.total_cost_usd,
    );
    const failed = result.is_error === true || subtype.startsWith('error');
    const told = usage === undefined ? {} : { usage };
    if (reason?.startsWith('aborted_') === true) this.end({ aborted: true, ...told });
    else if (failed)
      this.end({ error: { subtype, message: messageOfError(result, subtype) }, ...told });
    else this.end(told);
  }

  #startTool(toolCallId: string, toolName: string, args: Readonly<Record<string, unknown>>): void {
    if (this.#tools.has(toolCallId)) return;
    this.#tools.set(toolCallId, { name: toolName, ended: false });
    this.#emit({ type: 'tool_execution_start', toolCallId, toolName, args });
  }

  #endTool(toolCallId: string, tool: RunningTool, result: unknown, isError: boolean): void {
    tool.ended = true;
    this.#emit({ type: 'tool_execution_end', toolCallId, toolName: tool.name, result, isError });
  }

  /** The message that streams: opened now where it was only announced, or not even that. */
  #streamed(): OpenMessage | undefined {
    const announced = this.#announced;
    if (announced !== undefined) {
      this.#announced = undefined;
      this.#openMessage(announced, true);
    }
    return this.#open;
  }

  #openMessage(message: CsdkMessage, streamed: boolean): void {
    this.#announced = undefined;
    this.#open = new OpenMessage(
      { id: message.id, model: message.model, streamed },
      (event) => this.#emit(event),
      (id, name, args) => this.#startTool(id, name, args),
    );
    this.#open.uses(message.usage);
  }

  /** Closes a message that something else takes the place of: one that streams was not done. */
  #displaceMessage(): void {
    this.#closeMessage(this.#open?.streamed === true ? 'aborted' : undefined);
  }

  #closeMessage(...how: Parameters<OpenMessage['end']>): void {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    if (open.id !== '') this.#closedIds.add(open.id);
    this.#messages.push(open.end(...how));
  }

  #emit(event: SessionEvent): void {
    this.#events.push(event);
  }
}

function messageOfError(result: Readonly<Record<string, unknown>>, subtype: string): string {
  const errors = Array.isArray(result.errors) ? result.errors : [];
  const told = errors.find(
    (error) => typeof error === 'string' && !error.startsWith('[ede_diagnostic]'),
  );
  return String(told ?? textField(result, 'result') ?? subtype);
}
