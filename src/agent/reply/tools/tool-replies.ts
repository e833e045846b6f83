import { definedFields } from '../../../kernel/index.js';
import type {
  ToolExecutionEnd,
  ToolExecutionStart,
  ToolExecutionUpdate,
} from '../../../stream/index.js';
import type { ReplyEmitter } from '../emit/reply-emitter.js';
import type {
  FinishedToolCall,
  ReplyCallbackOptions,
  ReplyWording,
  ToolTraits,
} from '../emit/reply-options.js';
import { readDirectives } from '../text/directives/read-directives.js';
import type { MessagingSends } from './messaging-sends.js';
import { ToolFailures } from './tool-failures.js';
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
}

interface Description {
  readonly meta: string | undefined;
  readonly mutation: ReturnType<ToolTraits['mutationOf']>;
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
  readonly failures = new ToolFailures();
  readonly #with: ToolScope;
  readonly #running = new Map<string, RunningCall>();
  /** The description of each call that runs, and its mutation. */
  readonly #described = new Map<string, Description>();
  readonly #summarized = new Set<string>();

  constructor(scope: ToolScope) {
    this.#with = scope;
  }

  /** A tool is about to run, and all that came before it was handed over. */
  start(event: ToolExecutionStart): void {
    const { emitter, sends, wording, traits, now } = this.#with;
    const { toolCallId, args } = event;
    const name = traits.normalizeName(event.toolName);
    const meta = wording.describeTool(name, args);
    this.#running.set(toolCallId, { params: args, startedAt: now() });
    this.#described.set(toolCallId, { meta, mutation: traits.mutationOf(name, args, meta) });
    emitter.report('tool', { phase: 'start', name, toolCallId }, { args });
    if (emitter.has('onToolResult') && this.#showsCalls() && !this.#summarized.has(toolCallId)) {
      this.#summarized.add(toolCallId);
      this.#show(name, this.#summary(name, meta));
    }
    sends.start(toolCallId, name, args);
  }

  update({ toolCallId, toolName, partialResult }: ToolExecutionUpdate): void {
    const { emitter, wording, traits } = this.#with;
    const name = traits.normalizeName(toolName);
    const passed = passableResult(partialResult, wording.cutMark);
    emitter.report('tool', { phase: 'update', name, toolCallId }, { partialResult: passed });
  }

  /** A tool is done. @returns true where it asks people for approval. */
  end(event: ToolExecutionEnd): boolean {
    const { options, emitter, sends, wording, traits, now } = this.#with;
    const { toolCallId } = event;
    const name = traits.normalizeName(event.toolName);
    const result = passableResult(event.result, wording.cutMark);
    const isError = event.isError || isFailedResult(result);
    const call = this.#running.get(toolCallId);
    const { meta, mutation = {} } = this.#described.get(toolCallId) ?? {};
    this.#running.delete(toolCallId);
    this.#described.delete(toolCallId);
    this.#summarized.delete(toolCallId);
    const named = meta === undefined ? {} : { meta };
    const error = isError ? failureReason(result) : undefined;
    const reason = error === undefined ? {} : { error };
    this.metas.push({ toolName: name, ...named });
    this.failures.add({ toolName: name, ...named, ...reason, ...mutation }, isError);
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
    this.failures.clear();
    this.#described.clear();
    this.#summarized.clear();
  }

  #showEnd(
    name: string,
    meta: string | undefined,
    result: unknown,
    whole: unknown,
    isError: boolean,
  ): boolean {
    const { emitter, wording, traits } = this.#with;
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
    const mediaUrls = allowedMedia(named, this.#with.traits.mayNameFiles(name));
    if (text === '' && mediaUrls.length === 0) return;
    const media = mediaUrls.length === 0 ? {} : { mediaUrls };
    void this.#with.emitter.call('onToolResult', { text, ...media });
  }

  #summary(name: string, meta: string | undefined): string {
    return this.#with.wording.summarizeTool(name, meta, this.#isMarkdown());
  }

  #framed(text: string): string {
    return this.#isMarkdown() ? `\`\`\`txt\n${text}\n\`\`\`` : text;
  }

  #isMarkdown(): boolean {
    return this.#with.options.toolResultFormat !== 'plain';
  }

  #showsCalls(): boolean {
    const { shouldEmitToolResult, verboseLevel = 'off' } = this.#with.options;
    return shouldEmitToolResult?.() ?? verboseLevel !== 'off';
  }

  #showsOutput(): boolean {
    const { shouldEmitToolOutput, verboseLevel = 'off' } = this.#with.options;
    return shouldEmitToolOutput?.() ?? verboseLevel === 'full';
  }
}
