import type {
  AgentToolResult,
  ToolCall,
  ToolDecision,
  ToolEnd,
  ToolResultMessage,
} from '@sluice/sdk/stream';
import {
  type ApprovalQuestion,
  type Clock,
  definedFields,
  type Gate,
  type Outcome,
  onAbort,
  oneLine,
} from 'sluice-kernel/internal';
import { type AnsweredPass, type Approvals, judgeAsking, refusalOf } from './approvals.js';
import { whyNot } from './run-failure.js';
import type { RunFields } from './run-fields.js';
import type { Trail } from './trail.js';
import type { TranscriptWriter } from './transcript-writer.js';

interface ActiveCall {
  call: ToolCall;
  readonly startedAtMs: number;
  params: Readonly<Record<string, unknown>>;
  /** The reason why it may not run; its result then says the same. */
  refusal?: string;
  /** `agent.tool.calling` was dispatched for it. */
  judged: boolean;
  /** The one answer of the gate to every question about the call. */
  decision?: Promise<ToolDecision>;
  /** The last dispatch of it that let it run, and the questions that humans have allowed about it. */
  passed?: Passed;
  /** The answer as `agent.tool.returning` has left it; the end of the call may hold it in another shape. */
  given?: AgentToolResult;
}

interface Passed {
  readonly outcome: Outcome<'agent.tool.calling'>;
  readonly allowed: readonly ApprovalQuestion[];
}

/** The parts that the tool calls of a run work with. */
interface ToolCallsOptions {
  readonly trail: Trail;
  readonly run: RunFields;
  readonly writer: TranscriptWriter;
  readonly clock: Clock;
  /** Stops a decision that is under way; facts are told all the same. */
  readonly signal: AbortSignal | undefined;
  /** Is asked about a call that the pipeline passed, with those arguments. Returns the reason if the call may not run. */
  readonly mayRun: (call: ToolCall, signal: AbortSignal) => Promise<string | undefined>;
  /** Asks humans what vetoes ask about; without it, that is refused. */
  readonly approvals: Approvals | undefined;
  /** `enforce` if the provider asks the gate before a call runs. */
  readonly toolGate: () => Gate;
}

/**
 * The tool calls of one run. Each gets one `agent.tool.calling` and one `agent.tool.called`, however it is
 * announced: by the gate that its provider asks, or, where nobody can stop it, by its events (`observe-only`).
 */
export function toolCalls(options: ToolCallsOptions) {
  const calls = new Map<string, ActiveCall>();
  const judgements = new Set<Promise<ToolDecision>>();
  /** Gives up what is being decided: at the end of the run, or when its signal aborts. Most runs ask nothing, and make none. */
  let closer: AbortController | undefined;
  let stopping: Disposable | undefined;
  let isOver = false;

  function closing(): AbortSignal {
    if (closer !== undefined) return closer.signal;
    const { signal: stop } = options;
    const made = new AbortController();
    closer = made;
    stopping = onAbort(stop, () => made.abort(stop?.reason));
    return made.signal;
  }

  /** Gives up what is being decided, and refuses what is asked from now on. */
  function giveUp(): void {
    isOver = true;
    stopping?.[Symbol.dispose]();
    if (judgements.size > 0) closer?.abort();
  }

  function open(call: ToolCall): ActiveCall {
    const existing = calls.get(call.toolCallId);
    if (existing !== undefined) return existing;
    const startedAtMs = options.clock.now();
    const active = { call, startedAtMs, params: call.args, judged: false };
    calls.set(call.toolCallId, active);
    return active;
  }

  async function decide(
    active: ActiveCall,
    signal: AbortSignal | undefined,
    question?: ApprovalQuestion,
  ): Promise<ToolDecision> {
    const before = active.decision;
    try {
      if (before !== undefined) {
        const decided = await before;
        if (!decided.allowed) return decided;
      }
      return await judge(active, signal, question, before && active.passed);
    } catch (error) {
      active.refusal = `the call could not be judged: ${oneLine(error)}`;
      return { allowed: false, reason: active.refusal };
    } finally {
      // a judgement that its asker gave up does not count: the next question gets a new one
      if (signal?.aborted === true) {
        if (before === undefined) delete active.decision;
        else active.decision = before;
      }
    }
  }

  async function judge(
    active: ActiveCall,
    signal: AbortSignal | undefined,
    question: ApprovalQuestion | undefined,
    before: Passed | undefined,
  ): Promise<ToolDecision> {
    const stop = signal === undefined ? closing() : AbortSignal.any([closing(), signal]);
    const { approvals, run } = options;
    const { runId, sessionKey } = run;
    const { subagentId } = active.call;
    const { outcome, cancel, allowed, use } = await judgeAsking({
      family: 'agent.tool.calling',
      approvals,
      signal: stop,
      dispatch: (again) =>
        again === undefined && before !== undefined
          ? Promise.resolve(before.outcome) // it was judged; only its question is open
          : calling(active, { gate: 'enforce', signal: stop }, again),
      ...definedFields({ runId, sessionKey, subagentId, question, allowed: before?.allowed }),
    });
    if (outcome.status === 'passed' && cancel === undefined) {
      delete active.refusal;
      const args = outcome.payload.params;
      active.params = args;
      const reason = await options.mayRun({ ...active.call, args }, stop);
      const unusable = reason === undefined && use !== undefined ? await use() : undefined;
      if (reason === undefined && unusable === undefined) {
        active.passed = { outcome, allowed };
        return { allowed: true, args };
      }
      active.refusal = reason ?? refusalOf(unusable) ?? 'the call was refused';
    } else active.refusal = refusalOf(cancel) ?? `the call ${whyNot(outcome)}`;
    return { allowed: false, reason: active.refusal };
  }

  function calling(
    active: ActiveCall,
    how: { readonly gate: Gate; readonly signal?: AbortSignal },
    again?: AnsweredPass<'agent.tool.calling'>,
  ) {
    active.judged = true;
    const { toolName, toolCallId, args } = active.call;
    return options.trail.dispatch(
      'agent.tool.calling',
      again?.payload ?? { toolName, toolCallId, params: { ...args }, ...options.run },
      { ...how, ...whose(active.call), ...again?.given },
    );
  }

  const hearers = () => options.trail.kernel.plan('agent.tool.returning');

  function returning(
    { call, params }: ActiveCall,
    { content, details, isError }: AgentToolResult,
    how: { readonly gate: Gate },
  ) {
    const { toolName, toolCallId } = call;
    const result = { content: [...content], isError, ...definedFields({ structured: details }) };
    return options.trail.dispatch(
      'agent.tool.returning',
      { toolName, toolCallId, params, result, ...options.run },
      { ...how, ...whose(call), ...definedFields({ signal: options.signal }) },
    );
  }

  async function called(active: ActiveCall, how: Answer): Promise<void> {
    const { call, params, startedAtMs } = active;
    const { toolName, toolCallId } = call;
    const durationMs = Math.max(0, options.clock.now() - startedAtMs);
    const payload = { toolName, toolCallId, params, durationMs, ...how, ...options.run };
    await options.trail.dispatch('agent.tool.called', payload, whose(call));
  }

  return {
    toolGate: options.toolGate,
    /** The gate: a veto refuses the call with its reason, a patch changes its arguments. Never rejects. */
    gate(call: ToolCall, signal?: AbortSignal): Promise<ToolDecision> {
      if (isOver) return Promise.resolve({ allowed: false, reason: 'the run has ended' });
      const active = open(call);
      if (active.decision === undefined || call.question !== undefined) {
        if (active.decision === undefined) {
          active.call = call; // the question counts, whatever an event has said of the call before
          active.params = call.args;
        }
        const deciding = decide(active, signal, call.question);
        active.decision = deciding;
        judgements.add(deciding);
        void deciding.then(() => judgements.delete(deciding));
      }
      return active.decision;
    },
    /** A call that was allowed runs with other arguments than it was allowed with. */
    runsWith(toolCallId: string, params: Readonly<Record<string, unknown>>): void {
      const active = calls.get(toolCallId);
      if (active !== undefined) active.params = params;
    },
    /**
     * A tool has answered: nobody reads its result before it is judged (spec §16.31). Never rejects.
     *
     * @returns the answer as the stage has left it.
     */
    async returning(call: ToolCall, result: AgentToolResult): Promise<AgentToolResult> {
      const active = open(call);
      const judged = await returning(active, result, { gate: 'enforce' }).then(answerOf, unjudged);
      active.given = { ...judged, isError: judged.isError || result.isError };
      return active.given;
    },
    /** Somebody judges results: a part of one must not be shown before the whole. */
    judgesResults: () => hearers().some(({ class: name }) => name === 'mutator' || name === 'veto'),
    async started(call: ToolCall): Promise<void> {
      const active = open(call);
      // a fact: told also after an abort
      if (options.toolGate() === 'observe-only' && !active.judged)
        await calling(active, { gate: 'observe-only' });
    },
    async ended(end: ToolEnd): Promise<void> {
      const { toolCallId, toolName, result, isError, subagentId } = end;
      const caller = subagentId === undefined ? {} : { subagentId };
      const active = open({ toolCallId, toolName, args: {}, ...caller });
      // a call that never came by the gate, such as one that the model's own server ran, has run unjudged
      if (!active.judged) await calling(active, { gate: 'observe-only' });
      calls.delete(toolCallId);
      const { given } = active;
      const text = given === undefined ? resultText(result) : givenText(given);
      if (given === undefined && active.refusal === undefined && hearers().length > 0)
        await returning(active, said(text, isError), { gate: 'observe-only' });
      const message = active.refusal ?? (isError || given?.isError === true ? text : undefined);
      const error = definedFields({ error: message });
      const ends = given?.isError ?? isError;
      await called(active, { result: given ?? result, isError: ends, ...error });
      if (active.call.subagentId !== undefined) return; // the transcript is the main thread's
      await options.writer.writeResult({
        role: 'toolResult',
        toolCallId,
        toolName,
        content: [{ type: 'text', text }],
        isError: ends,
        timestamp: options.clock.now(),
        ...definedFields({ details: given?.details }),
      } satisfies ToolResultMessage);
    },
    giveUp,
    /** At the end of a run: gives up, and tells of the calls whose results never came. */
    async close(): Promise<void> {
      giveUp();
      await Promise.all(judgements);
      const owed = [...calls.values()].filter(({ judged }) => judged);
      calls.clear();
      for (const active of owed)
        await called(active, { isError: true, error: active.refusal ?? 'no result' });
    },
  };
}

/** The answer that a dispatch of `agent.tool.returning` has left. */
function answerOf(outcome: Outcome<'agent.tool.returning'>): AgentToolResult {
  if (outcome.status === 'cancelled') return said(outcome.cancel.text ?? outcome.cancel.code, true);
  if (outcome.status === 'failed') return unjudged();
  const { content, structured, isError } = outcome.payload.result;
  return { content, isError, ...definedFields({ details: structured }) };
}

/** Stands for a result that a fail-closed handler could not judge. */
function unjudged(): AgentToolResult {
  return said('withheld: a handler that guards results failed', true);
}

function said(text: string, isError: boolean): AgentToolResult {
  return { content: [{ type: 'text', text }], isError };
}

/** The parts of `toolCalls` that others use. */
export type ToolCalls = ReturnType<typeof toolCalls>;

interface Answer {
  readonly result?: unknown;
  readonly isError: boolean;
  readonly error?: string;
}

/** A subagent's call says so in its envelope: its payload names the run, which is the main thread's. */
function whose({ subagentId }: ToolCall) {
  return subagentId === undefined ? {} : { metadata: { subagentId } };
}

/** The texts of an answer; a picture is named. */
function givenText({ content }: AgentToolResult): string {
  return content
    .map((block) => (block.type === 'text' ? block.text : `[a picture: ${block.mimeType}]`))
    .join('\n');
}

/** Turns the result of a tool into text: a text as it is, anything else as JSON, or a note if JSON cannot write it. */
export function resultText(result: unknown): string {
  if (typeof result === 'string') return result;
  try {
    const text = JSON.stringify(result, (_key, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    );
    return text ?? '';
  } catch {
    return '[a result that cannot be written as text]';
  }
}
