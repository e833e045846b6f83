import type * as acp from '@agentclientprotocol/sdk';
import { MessageWriter, type SessionEvent, type SessionUsage, type ToolCall } from 'sluice/stream';
import type { KnownSession } from './program.js';

type Fields = Readonly<Record<string, unknown>>;

/** A tool call of the program, as far as it is known. */
interface KnownCall {
  readonly toolCallId: string;
  toolName: string;
  args: Fields;
  /** The title and the paths of it. */
  about: Fields;
  result: unknown;
  state: 'announced' | 'running' | 'ended';
  /** The program has asked if it may run. */
  isAsked: boolean;
  /** The reason why it may not run. */
  refusal?: string;
}

/** The parts of a turn that its events are made with. */
interface TurnEventsOptions {
  readonly by: { readonly provider: string; readonly model: string };
  readonly session: Pick<KnownSession, 'spentUsd'>;
  readonly now: () => number;
  readonly emit: (event: SessionEvent) => void;
  /** Is told of a call that runs although the program has not asked about it, or was told no. */
  readonly onUngated: (toolName: string, wasRefused: boolean) => void;
}

const marks = { completed: 'x', in_progress: '>', pending: ' ' };

/** The ends of a turn that are failures. */
const failures: Partial<Record<acp.StopReason, string>> = {
  refusal: 'the agent refuses to go on',
  max_turn_requests: 'the agent has asked its model as often as it may in one turn',
};

/** Turns the updates of one turn of a program into session events. */
export class TurnEvents {
  readonly #options: TurnEventsOptions;
  readonly #writer: MessageWriter;
  readonly #calls = new Map<string, KnownCall>();
  #messageId: string | undefined;
  #usage: SessionUsage | undefined;

  constructor(options: TurnEventsOptions) {
    this.#options = options;
    this.#writer = new MessageWriter(options.by, options.now);
  }

  take(update: acp.SessionUpdate): void {
    switch (update.sessionUpdate) {
      case 'agent_message_chunk':
      case 'agent_thought_chunk': {
        const id = update.messageId ?? this.#messageId;
        const isNext = this.#messageId !== undefined && id !== this.#messageId;
        if (isNext) this.#emit(this.#writer.end());
        this.#messageId = id;
        const type = update.sessionUpdate === 'agent_message_chunk' ? 'text' : 'thinking';
        this.#emit(this.#writer.grow(type, blockText(update.content)));
        return;
      }
      case 'plan': {
        const lines = update.entries.map((one) => `- [${marks[one.status]}] ${one.content}\n`);
        this.#emit(this.#writer.grow('thinking', `Plan:\n${lines.join('')}`));
        return;
      }
      case 'tool_call':
      case 'tool_call_update':
        this.#tool(update);
        return;
      case 'usage_update':
        this.#used(update.used, update.cost);
        return;
      default: // it tells about the program, and is no part of a turn
    }
  }

  /** A call that the program asks about. */
  asked(update: acp.ToolCallUpdate): ToolCall & { readonly about: Fields } {
    const call = this.#known(update);
    call.isAsked = true;
    this.#start(call);
    return call;
  }

  /** A call that the program asks about may not run. */
  refuse(toolCallId: string, reason: string): void {
    const call = this.#calls.get(toolCallId);
    if (call !== undefined) call.refusal = reason;
  }

  /** Ends all that is open. */
  end(stopReason: acp.StopReason, isStopped: boolean): void {
    const isAborted = isStopped || stopReason === 'cancelled';
    const message = isAborted ? undefined : failures[stopReason];
    const isCut = stopReason === 'max_tokens' && { stopReason: 'length' as const };
    const failed = message !== undefined && { stopReason: 'error' as const, errorMessage: message };
    const aborted = isAborted && { stopReason: 'aborted' as const };
    this.#emit(this.#writer.end({ ...isCut, ...failed, ...aborted }));
    for (const call of this.#calls.values())
      if (call.state === 'running')
        this.#endCall(call, call.refusal ?? 'the turn ended before the tool did', true);
    this.#options.emit({
      ...{ type: 'agent_end', messages: this.#writer.messages },
      ...(isAborted && { aborted: true }),
      ...(message !== undefined && { error: { subtype: stopReason, message } }),
      ...(this.#usage !== undefined && { usage: this.#usage }),
    });
  }

  #emit(events: readonly SessionEvent[]): void {
    for (const event of events) this.#options.emit(event);
  }

  #tool(update: acp.ToolCallUpdate): void {
    const call = this.#known(update);
    if (call.state === 'ended') return;
    const { status } = update;
    const isOver = status === 'completed' || status === 'failed';
    const runs = isOver || status === 'in_progress';
    const hasDefied = call.refusal !== undefined && status === 'completed';
    if (runs && (!call.isAsked || hasDefied)) this.#options.onUngated(call.toolName, hasDefied);
    if (runs || Object.keys(call.args).length > 0) this.#start(call);
    if (isOver) this.#endCall(call, call.refusal, status === 'failed');
    else if (call.state === 'running' && call.result !== undefined) {
      const { toolCallId, toolName, args, result: partialResult } = call;
      const shown = { toolCallId, toolName, args, partialResult };
      this.#options.emit({ type: 'tool_execution_update', ...shown });
    }
  }

  /** The call of an update, with what the update adds to it. A program may ask about a call that it has not announced. */
  #known(update: acp.ToolCallUpdate): KnownCall {
    const { toolCallId, name, kind, title, rawInput, locations } = update;
    const call: KnownCall = this.#calls.get(toolCallId) ?? {
      ...{ toolCallId, toolName: 'other', args: {}, about: {}, result: undefined },
      ...{ state: 'announced', isAsked: false },
    };
    this.#calls.set(toolCallId, call);
    call.result = resultOf(update) ?? call.result;
    const paths = locations?.map(({ path }) => path) ?? [];
    call.about = { ...call.about, ...(title && { title }), ...(paths.length > 0 && { paths }) };
    if (typeof rawInput === 'object' && rawInput !== null) call.args = { ...rawInput };
    if (call.state === 'announced') call.toolName = name ?? kind ?? call.toolName;
    return call;
  }

  /** Tells that a call begins, once. A program that shows no arguments shows at least what the call is about. */
  #start(call: KnownCall): void {
    if (call.state !== 'announced') return;
    call.state = 'running';
    if (Object.keys(call.args).length === 0) call.args = call.about;
    const { toolCallId, toolName, args } = call;
    this.#emit(this.#writer.call({ id: toolCallId, name: toolName, arguments: args }));
    this.#emit(this.#writer.end());
    this.#options.emit({ type: 'tool_execution_start', toolCallId, toolName, args });
  }

  #endCall(call: KnownCall, refusal: string | undefined, hasFailed: boolean): void {
    call.state = 'ended';
    const { toolCallId, toolName, result = '' } = call;
    const isError = hasFailed || refusal !== undefined;
    const end = { toolCallId, toolName, result: refusal ?? result, isError };
    this.#options.emit({ type: 'tool_execution_end', ...end });
  }

  /** The protocol tells how full the context is, and what the session has cost from its beginning. */
  #used(totalTokens: number, cost: acp.Cost | null | undefined): void {
    const { session } = this.#options;
    const amount = cost?.currency === 'USD' ? cost.amount : undefined;
    let { costUsd } = this.#usage ?? {};
    if (amount !== undefined && session.spentUsd !== undefined)
      costUsd = (costUsd ?? 0) + amount - session.spentUsd;
    session.spentUsd = amount ?? session.spentUsd;
    const tokens = { input: totalTokens, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens };
    this.#usage = { ...tokens, ...(costUsd !== undefined && { costUsd }) };
  }
}

/** The text of a block; anything else than text is named. */
function blockText(block: acp.ContentBlock): string {
  if (block.type === 'text') return block.text;
  if (block.type === 'resource_link') return `[${block.name}](${block.uri})`;
  return `[${block.type}]`;
}

/** The text that a tool shows, or else its output as data. Nothing if an update has neither. */
function resultOf({ content, rawOutput }: acp.ToolCallUpdate): unknown {
  const text = (content ?? []).map(contentText).join('\n');
  return text === '' ? (rawOutput ?? undefined) : text;
}

function contentText(part: acp.ToolCallContent): string {
  if (part.type === 'content') return blockText(part.content);
  if (part.type === 'terminal') return `[terminal ${part.terminalId}]`;
  const before = part.oldText?.replace(/^/gm, '- ').concat('\n') ?? '';
  return `${part.path}\n${before}${part.newText.replace(/^/gm, '+ ')}`;
}
