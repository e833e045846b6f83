import * as otel from '@opentelemetry/api';
import type { Outcome } from 'sluice';
import type { ExtensionCall } from 'sluice/extension';
import { isOf, runOf } from './outcome-of.js';
import { type SpanOptions, timeOf } from './span-options.js';

/** A run of an agent that is open. */
interface Run {
  readonly span: otel.Span;
  readonly context: otel.Context;
  readonly agent: string;
  /** When each tool call was let through, and its span if it runs in that. */
  readonly tools: Map<string, { readonly startedAtMs: number; span?: otel.Span }>;
  chat?: otel.Span;
  endedAtMs?: number;
}

/** The spans of the agent runs of one message: `invoke_agent`, with `chat` and `execute_tool` in it. */
export class RunSpans {
  readonly #runs = new Map<string, Run>();
  readonly #options: SpanOptions;
  readonly #root: otel.Context;

  constructor(options: SpanOptions, root: otel.Context) {
    this.#options = options;
    this.#root = root;
  }

  /** The context of the run that an outcome belongs to; that of the message if it belongs to none. */
  contextOf(outcome: Pick<Outcome, 'event'>): otel.Context {
    const runId = runOf(outcome);
    return (runId === undefined ? undefined : this.#runs.get(runId)?.context) ?? this.#root;
  }

  /** Opens a run with its first outcome. */
  opening(outcome: Outcome): void {
    const runId = runOf(outcome);
    if (runId === undefined || this.#runs.has(runId) || !isOf(outcome, 'agent.starting')) return;
    const { agentId: agent = 'main', sessionKey } = outcome.payload;
    const span = this.#options.tracer.startSpan(
      `invoke_agent ${agent}`,
      {
        kind: otel.SpanKind.INTERNAL,
        startTime: timeOf(outcome.event.occurredAt),
        attributes: {
          'gen_ai.operation.name': 'invoke_agent',
          'gen_ai.agent.name': agent,
          ...(sessionKey !== undefined && { 'gen_ai.conversation.id': sessionKey }),
        },
      },
      this.#root,
    );
    const context = otel.trace.setSpan(this.#root, span);
    this.#runs.set(runId, { span, context, agent, tools: new Map() });
  }

  /** Hears an outcome of a run, after the span of its stage was made. */
  hear(outcome: Outcome, endedAtMs: number): void {
    const run = this.#runs.get(runOf(outcome) ?? '');
    if (run === undefined) return;
    if (isOf(outcome, 'agent.llm.input')) this.#chat(run, outcome, endedAtMs);
    else if (isOf(outcome, 'agent.tool.calling')) {
      if (outcome.status === 'passed')
        run.tools.set(outcome.payload.toolCallId ?? outcome.payload.toolName, {
          startedAtMs: endedAtMs,
        });
    } else if (isOf(outcome, 'agent.tool.called')) this.#tool(run, outcome);
    else if (isOf(outcome, 'agent.completed')) {
      run.endedAtMs = outcome.payload.endedAtMs ?? endedAtMs;
      if (!outcome.payload.success) fail(run.span, outcome.payload.aborted ? 'aborted' : '_OTHER');
    } else if (isOf(outcome, 'agent.llm.output')) this.#answered(run, outcome);
  }

  /** Runs a tool inside of its span. */
  run<T>(call: () => T, { runId, toolCallId, toolName }: NonNullable<ExtensionCall['tool']>): T {
    const run = this.#runs.get(runId);
    const tool = run?.tools.get(toolCallId);
    if (run === undefined || tool === undefined) return call();
    tool.span = this.#execute(run, toolName, toolCallId, tool.startedAtMs);
    return otel.context.with(otel.trace.setSpan(run.context, tool.span), call);
  }

  /** Ends the runs that have not ended: their message has. */
  close(endedAtMs: number): void {
    for (const { span, chat, tools, endedAtMs: at = endedAtMs } of this.#runs.values()) {
      chat?.end(timeOf(at));
      for (const tool of tools.values()) tool.span?.end(timeOf(at));
      span.end(timeOf(at));
    }
    this.#runs.clear();
  }

  #chat(run: Run, { payload }: Outcome<'agent.llm.input'>, atMs: number): void {
    const { provider, model, prompt } = payload;
    run.chat?.end(timeOf(atMs)); // an attempt before this one
    run.chat = this.#options.tracer.startSpan(
      `chat ${model}`,
      {
        kind: otel.SpanKind.CLIENT,
        startTime: timeOf(atMs),
        attributes: {
          'gen_ai.operation.name': 'chat',
          'gen_ai.provider.name': provider,
          'gen_ai.request.model': model,
          ...(this.#options.captureContent && {
            'gen_ai.input.messages': this.#options.scrub(messages('user', [prompt])),
          }),
        },
      },
      run.context,
    );
  }

  #answered(run: Run, { payload, event }: Outcome<'agent.llm.output'>): void {
    const { usage = {}, stopReason, error, assistantTexts } = payload;
    const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
    const used = {
      ...(inputTokens !== undefined && {
        'gen_ai.usage.input_tokens': inputTokens + cacheReadTokens + cacheWriteTokens,
      }),
      ...(outputTokens !== undefined && { 'gen_ai.usage.output_tokens': outputTokens }),
    };
    const { chat, endedAtMs = event.occurredAt } = run;
    chat?.setAttributes({
      ...used,
      ...(stopReason !== undefined && { 'gen_ai.response.finish_reasons': [stopReason] }),
      ...(this.#options.captureContent && {
        'gen_ai.output.messages': this.#options.scrub(messages('assistant', assistantTexts)),
      }),
    });
    if (error !== undefined && chat !== undefined) fail(chat, '_OTHER');
    chat?.end(timeOf(endedAtMs));
    delete run.chat;
    run.span.setAttributes(used);
  }

  #tool(run: Run, { payload, event }: Outcome<'agent.tool.called'>): void {
    const { toolName, toolCallId, isError, params, result } = payload;
    const key = toolCallId ?? toolName;
    const tool = run.tools.get(key);
    if (tool === undefined) return; // it was cancelled, and did not run
    run.tools.delete(key);
    const span = tool.span ?? this.#execute(run, toolName, toolCallId, tool.startedAtMs);
    if (this.#options.captureContent)
      span.setAttributes({
        'gen_ai.tool.call.arguments': this.#options.scrub(JSON.stringify(params)),
        'gen_ai.tool.call.result': this.#options.scrub(JSON.stringify(result) ?? ''),
      });
    if (isError === true) fail(span, 'tool_error');
    span.end(timeOf(event.occurredAt));
  }

  #execute(run: Run, toolName: string, id: string | undefined, startedAtMs: number): otel.Span {
    const attributes = {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': toolName,
      'gen_ai.agent.name': run.agent,
      ...(id !== undefined && { 'gen_ai.tool.call.id': id }),
    };
    const startTime = timeOf(startedAtMs);
    return this.#options.tracer.startSpan(
      `execute_tool ${toolName}`,
      { kind: otel.SpanKind.INTERNAL, startTime, attributes },
      run.context,
    );
  }
}

/** Marks a span as failed, by a word of few. */
export function fail(span: otel.Span, type: string): void {
  span.setAttribute('error.type', type).setStatus({ code: otel.SpanStatusCode.ERROR });
}

function messages(role: string, texts: readonly string[]): string {
  return JSON.stringify(texts.map((content) => ({ role, parts: [{ type: 'text', content }] })));
}
