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
export function toolReplies(scope: ToolScope) {
  const { emitter, sends, wording, traits, now, options } = scope;
  /** Live: the finished calls of the run, in order. */
  const metas: ToolMeta[] = [];
  /** The last failure: of a call that changes nothing until the next that succeeds, else until the same does. */
  let lastFailure: ToolFailure | undefined;
  const running = new Map<string, RunningCall>();
  const summarized = new Set<string>();

  function showEnd(
    name: string,
    meta: string | undefined,
    result: unknown,
    whole: unknown,
    isError: boolean,
  ): boolean {
    if (!emitter.has('onToolResult')) return false;
    const approval = isError ? undefined : wording.formatApproval(name, whole);
    if (approval !== undefined) {
      void emitter.call('onToolResult', approval);
      return true;
    }
    if (showsOutput()) {
      const text = resultText(result);
      if (text !== undefined) show(name, `${summary(name, meta)}\n${framed(text)}`);
      return false;
    }
    if (isError) return false;
    const mediaUrls = toolMedia(result, traits.mayNameFiles(name));
    if (mediaUrls.length > 0) void emitter.call('onToolResult', { mediaUrls });
    return false;
  }

  function show(name: string, said: string): void {
    const { text, mediaUrls: named } = readDirectives(said);
    const mediaUrls = allowedMedia(named, traits.mayNameFiles(name));
    if (text === '' && mediaUrls.length === 0) return;
    const media = mediaUrls.length === 0 ? {} : { mediaUrls };
    void emitter.call('onToolResult', { text, ...media });
  }
  const summary = (name: string, meta: string | undefined): string =>
    wording.summarizeTool(name, meta, isMarkdown());
  const framed = (text: string): string => (isMarkdown() ? `\`\`\`txt\n${text}\n\`\`\`` : text);
  const isMarkdown = (): boolean => options.toolResultFormat !== 'plain';

  function showsCalls(): boolean {
    const { shouldEmitToolResult, verboseLevel = 'off' } = options;
    return shouldEmitToolResult?.() ?? verboseLevel !== 'off';
  }

  function showsOutput(): boolean {
    const { shouldEmitToolOutput, verboseLevel = 'off' } = options;
    return shouldEmitToolOutput?.() ?? verboseLevel === 'full';
  }

  return {
    metas,
    lastFailure: () => lastFailure,

    /** A tool is about to run, and all that came before it was handed over. */
    start(event: ToolExecutionStart): void {
      const { toolCallId, args } = event;
      const name = traits.normalizeName(event.toolName);
      const meta = wording.describeTool(name, args);
      const said = { meta, mutation: traits.mutationOf(name, args, meta) };
      running.set(toolCallId, { params: args, startedAt: now(), said });
      emitter.report('tool', { phase: 'start', name, toolCallId }, { args });
      if (emitter.has('onToolResult') && showsCalls() && !summarized.has(toolCallId)) {
        summarized.add(toolCallId);
        show(name, summary(name, meta));
      }
      sends.start(toolCallId, name, args);
    },

    update({ toolCallId, toolName, partialResult }: ToolExecutionUpdate): void {
      const name = traits.normalizeName(toolName);
      const passed = passableResult(partialResult, wording.cutMark);
      emitter.report('tool', { phase: 'update', name, toolCallId }, { partialResult: passed });
    },

    /** A tool is done. @returns true where it asks people for approval. */
    end(event: ToolExecutionEnd): boolean {
      const { toolCallId } = event;
      const name = traits.normalizeName(event.toolName);
      const result = passableResult(event.result, wording.cutMark);
      const isError = event.isError || isFailedResult(result);
      const call = running.get(toolCallId);
      const { meta, mutation = {} } = call?.said ?? {};
      running.delete(toolCallId);
      summarized.delete(toolCallId);
      const named = meta === undefined ? {} : { meta };
      const error = isError ? failureReason(result) : undefined;
      const reason = error === undefined ? {} : { error };
      metas.push({ toolName: name, ...named });
      const ended = { toolName: name, ...named, ...reason, ...mutation };
      if (isError) lastFailure = ended;
      else if (lastFailure?.mutatingAction !== true || makesGood(lastFailure, ended))
        lastFailure = undefined;
      sends.end(toolCallId, name, result, isError);
      emitter.report(
        'tool',
        { phase: 'result', name, toolCallId, ...named, isError },
        result === undefined ? {} : { result },
      );
      const isAsking = showEnd(name, meta, result, event.result, isError);
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
    },

    /** The run starts over. */
    clear(): void {
      metas.length = 0;
      lastFailure = undefined;
      for (const [id, { said: _, ...call }] of running) running.set(id, call);
      summarized.clear();
    },
  };
}
