import type { ToolExecutionEnd, ToolExecutionStart, ToolExecutionUpdate } from '@sluice/sdk/stream';
import { definedFields } from 'sluice-kernel/internal';
import type { ReplyEmitter } from '../emit/reply-emitter.js';
import type {
  FinishedToolCall,
  ReplyCallbackOptions,
  ReplyWording,
  ToolTraits,
} from '../emit/reply-options.js';
import { readDirectives } from '../text/directives/read-directives.js';
import type { MessagingSends } from './messaging-sends.js';
import { makesGood, type ToolFailure } from './tool-failures.js';
import {
  allowedMedia,
  failureReason,
  isFailedResult,
  passableResult,
  resultText,
  toolMedia,
} from './tool-result.js';

/** A tool call, as a host's summary names it. */
export interface ToolMeta {
  readonly toolName: string;
  readonly meta?: string;
}

interface RunningCall {
  readonly params: Readonly<Record<string, unknown>>;
  readonly startedAt: number;
  /** Its description, and its mutation; absent if the run has started over since. */
  readonly said?: {
    readonly meta: string | undefined;
    readonly mutation: ReturnType<ToolTraits['mutationOf']>;
  };
}

/** The parts of a run's replies that tools need. */
export interface ToolScope {
  readonly options: ReplyCallbackOptions;
  readonly emitter: ReplyEmitter;
  readonly sends: MessagingSends;
  readonly wording: ReplyWording;
  readonly traits: ToolTraits;
  readonly now: () => number;
}

/** Shows a host the tools of a run. */
export class ToolReplies {
  /** Live: the finished calls of the run, in order. */
  readonly metas: ToolMeta[] = [];
  /** The last failure: of a call that changes nothing until the next that succeeds, else until the same does. */
  lastFailure: ToolFailure | undefined;
  readonly #scope: ToolScope;
  readonly #running = new Map<string, RunningCall>();
  readonly #summarized = new Set<string>();

  constructor(scope: ToolScope) {
    this.#scope = scope;
  }

  /** A tool is about to run, and all that came before it was handed over. */
  start(event: ToolExecutionStart): void {
    const { emitter, sends, traits, wording, now } = this.#scope;
    const { toolCallId, args } = event;
    const name = traits.normalizeName(event.toolName);
    const meta = wording.describeTool(name, args);
    const said = { meta, mutation: traits.mutationOf(name, args, meta) };
    this.#running.set(toolCallId, { params: args, startedAt: now(), said });
    emitter.report('tool', { phase: 'start', name, toolCallId }, { args });
    if (emitter.has('onToolResult') && this.#showsCalls() && !this.#summarized.has(toolCallId)) {
      this.#summarized.add(toolCallId);
      this.#show(name, this.#summary(name, meta));
    }
    sends.start(toolCallId, name, args);
  }

  update({ toolCallId, toolName, partialResult }: ToolExecutionUpdate): void {
    const { emitter, traits, wording } = this.#scope;
    const name = traits.normalizeName(toolName);
    const passed = passableResult(partialResult, wording.cutMark);
    emitter.report('tool', { phase: 'update', name, toolCallId }, { partialResult: passed });
  }

  /** A tool is done. @returns true where it asks people for approval. */
  end(event: ToolExecutionEnd): boolean {
    const { emitter, sends, traits, wording, now, options } = this.#scope;
    const { toolCallId } = event;
    const name = traits.normalizeName(event.toolName);
    const result = passableResult(event.result, wording.cutMark);
    const isError = event.isError || isFailedResult(result);
    const call = this.#running.get(toolCallId);
    const { meta, mutation = {} } = call?.said ?? {};
    this.#running.delete(toolCallId);
    this.#summarized.delete(toolCallId);
    const named = meta === undefined ? {} : { meta };
    const error = isError ? failureReason(result) : undefined;
    const reason = error === undefined ? {} : { error };
    this.metas.push({ toolName: name, ...named });
    const ended = { toolName: name, ...named, ...reason, ...mutation };
    if (isError) this.lastFailure = ended;
    else if (this.lastFailure?.mutatingAction !== true || makesGood(this.lastFailure, ended))
      this.lastFailure = undefined;
    sends.end(toolCallId, name, result, isError);
    emitter.report(
      'tool',
      { phase: 'result', name, toolCallId, ...named, isError },
      result === undefined ? {} : { result },
    );
    const isAsking = this.#showEnd(name, meta, result, event.result, isError);
    const finished: FinishedToolCall = {
      toolName: name,
      toolCallId,
      params: call?.params ?? {},
      ...definedFields({ result }),
      ...reason,
      ...(call !== undefined && { durationMs: now() - call.startedAt }),
    };
    emitter.runHook('onAfterToolCall', options.onAfterToolCall, finished);
    return isAsking;
  }

  /** The run starts over. */
  clear(): void {
    this.metas.length = 0;
    this.lastFailure = undefined;
    for (const [id, { said: _, ...call }] of this.#running) this.#running.set(id, call);
    this.#summarized.clear();
  }

  #showEnd(
    name: string,
    meta: string | undefined,
    result: unknown,
    whole: unknown,
    isError: boolean,
  ): boolean {
    const { emitter, traits, wording } = this.#scope;
    if (!emitter.has('onToolResult')) return false;
    const approval = isError ? undefined : wording.formatApproval(name, whole);
    if (approval !== undefined) {
      void emitter.call('onToolResult', approval);
      return true;
    }
    if (this.#showsOutput()) {
      const text = resultText(result);
      if (text !== undefined)
        this.#show(name, `${this.#summary(name, meta)}\n${this.#framed(text)}`);
      return false;
    }
    if (isError) return false;
    const mediaUrls = toolMedia(result, traits.mayNameFiles(name));
    if (mediaUrls.length > 0) void emitter.call('onToolResult', { mediaUrls });
    return false;
  }

  #show(name: string, said: string): void {
    const { text, mediaUrls: named } = readDirectives(said);
    const mediaUrls = allowedMedia(named, this.#scope.traits.mayNameFiles(name));
    if (text === '' && mediaUrls.length === 0) return;
    const media = mediaUrls.length === 0 ? {} : { mediaUrls };
    void this.#scope.emitter.call('onToolResult', { text, ...media });
  }

  #summary(name: string, meta: string | undefined): string {
    return this.#scope.wording.summarizeTool(name, meta, this.#isMarkdown());
  }

  #framed(text: string): string {
    return this.#isMarkdown() ? `\`\`\`txt\n${text}\n\`\`\`` : text;
  }

  #isMarkdown(): boolean {
    return this.#scope.options.toolResultFormat !== 'plain';
  }

  #showsCalls(): boolean {
    const { shouldEmitToolResult, verboseLevel = 'off' } = this.#scope.options;
    return shouldEmitToolResult?.() ?? verboseLevel !== 'off';
  }

  #showsOutput(): boolean {
    const { shouldEmitToolOutput, verboseLevel = 'off' } = this.#scope.options;
    return shouldEmitToolOutput?.() ?? verboseLevel === 'full';
  }
}
