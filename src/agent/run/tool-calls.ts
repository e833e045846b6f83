import type {
  AgentToolResult,
  ToolCall,
  ToolDecision,
  ToolEnd,
  ToolResultMessage,
} from '@sluice/sdk/stream';
import { anySignal, Stop } from '@sluice/sdk/stream/internal';
import {
  type ApprovalQuestion,
  type Clock,
  definedFields,
  type Gate,
  oneLine,
  type StopSignal,
} from 'sluice-kernel/internal';
import { type AnsweredPass, type Approvals, judgeAsking, refusalOf } from './approvals.js';
import type { ActiveCall, Passed } from './judged/active-call.js';
import { answerOf, givenText, resultText, said } from './judged/tool-result.js';
import { failedBy } from './run-failure.js';
import type { RunFields } from './run-fields.js';
import { ToolResults, whose } from './tool-results.js';
import type { Trail } from './trail.js';
import type { TranscriptWriter } from './transcript-writer.js';

/** The parts that the tool calls of a run work with. */
interface ToolCallsOptions {
  readonly trail: Trail;
  readonly run: RunFields;
  readonly writer: TranscriptWriter;
  readonly clock: Clock;
  /** Stops a decision that is under way; facts are told all the same. */
  readonly signal: StopSignal | undefined;
  /** Is asked about a call that the pipeline passed, with those arguments. Returns the reason if the call may not run. */
  readonly mayRun: (call: ToolCall, signal: StopSignal) => Promise<string | undefined> | undefined;
  /** Asks humans what vetoes ask about; without it, that is refused. */
  readonly approvals: Approvals | undefined;
  /** `enforce` if the provider asks the gate before a call runs. */
  readonly toolGate: () => Gate;
}

/**
 * The tool calls of one run. Each gets one `agent.tool.calling` and one `agent.tool.called`, however it is
 * announced: by the gate that its provider asks, or, where nobody can stop it, by its events (`observe-only`).
 */
export class ToolCalls {
  readonly #options: ToolCallsOptions;
  readonly #results: ToolResults;
  readonly #calls = new Map<string, ActiveCall>();
  readonly #judgements = new Set<Promise<ToolDecision>>();
  /** Gives up what is being decided: at the end of the run, or when its signal aborts. Most runs ask nothing, and make none. */
  #closer: Stop | undefined;
  #isOver = false;

  constructor(options: ToolCallsOptions) {
    this.#options = options;
    this.#results = new ToolResults(options.trail, options.run, options.signal);
  }

  /** Somebody judges results: a part of one must not be shown before the whole. */
  get judgesResults(): boolean {
    return this.#results.areJudged;
  }

  get toolGate(): () => Gate {
    return this.#options.toolGate;
  }

  /** The gate: a veto refuses the call with its reason, a patch changes its arguments. Never rejects. */
  gate(call: ToolCall, signal?: StopSignal): Promise<ToolDecision> {
    if (this.#isOver) return Promise.resolve({ allowed: false, reason: 'the run has ended' });
    const active = this.#open(call);
    if (active.decision === undefined || call.question !== undefined) {
      if (active.decision === undefined) {
        active.call = call; // the question counts, whatever an event has said of the call before
        active.params = call.args;
      }
      const deciding = this.#decide(active, signal, call.question);
      active.decision = deciding;
      this.#judgements.add(deciding);
      void deciding.then(() => this.#judgements.delete(deciding));
    }
    return active.decision;
  }

  /** A call that was allowed runs with other arguments than it was allowed with. */
  runsWith(toolCallId: string, params: Readonly<Record<string, unknown>>): void {
    const active = this.#calls.get(toolCallId);
    if (active !== undefined) active.params = params;
  }

  /**
   * A tool has answered: nobody reads its result before it is judged (spec §16.31). Never rejects.
   *
   * @returns the answer as the stage has left it.
   */
  async returning(call: ToolCall, result: AgentToolResult): Promise<AgentToolResult> {
    const active = this.#open(call);
    const judged = await this.#results.judge(active, result);
    active.given = { ...judged, isError: judged.isError || result.isError };
    return active.given;
  }

  /**
   * The same for a tool that its provider has run, and whose result it can change. The end of the call has it in the shape of the
   * provider.
   *
   * @returns the result itself if it stays as it is, or if it was judged before.
   */
  async ownReturning(call: ToolCall, result: AgentToolResult): Promise<AgentToolResult> {
    const active = this.#open(call);
    if (!this.#results.areHeard || active.given !== undefined) return result;
    active.isOwnJudged = true;
    const judged = await this.#results.judge(active, result, (passed) =>
      passed.payload === passed.event.payload ? result : answerOf(passed),
    );
    if (judged !== result) active.hasFailed = judged.isError;
    return judged;
  }

  started(call: ToolCall): Promise<unknown> | undefined {
    const active = this.#open(call);
    // a fact: told also after an abort
    const isFact = this.toolGate() === 'observe-only' && !active.judged;
    return isFact ? this.#calling(active, { gate: 'observe-only' }) : undefined;
  }

  async ended(end: ToolEnd): Promise<void> {
    const { toolCallId, toolName, result, subagentId } = end;
    const caller = subagentId === undefined ? {} : { subagentId };
    const active = this.#open({ toolCallId, toolName, args: {}, ...caller });
    // a call that never came by the gate, such as one that the model's own server ran, has run unjudged
    if (!active.judged) await this.#calling(active, { gate: 'observe-only' });
    this.#calls.delete(toolCallId);
    const { given, refusal } = active;
    const text = given === undefined ? resultText(result) : givenText(given);
    const isError = given?.isError ?? (end.isError || active.hasFailed === true);
    const isOpen = given === undefined && refusal === undefined && active.isOwnJudged !== true;
    if (isOpen && this.#results.areHeard)
      await this.#results.tell(active, said(text, isError), 'observe-only');
    const error = definedFields({ error: refusal ?? (isError ? text : undefined) });
    await this.#called(active, { result: given ?? result, isError, ...error });
    if (active.call.subagentId !== undefined) return; // the transcript is the main thread's
    await this.#options.writer.writeResult({
      role: 'toolResult',
      toolCallId,
      toolName,
      content: [{ type: 'text', text }],
      isError,
      timestamp: this.#options.clock.now(),
      ...definedFields({ details: given?.details }),
    } satisfies ToolResultMessage);
  }

  /** Gives up what is being decided, and refuses what is asked from now on. */
  giveUp(): void {
    this.#isOver = true;
    this.#closer?.[Symbol.dispose]();
    if (this.#judgements.size > 0) this.#closer?.abort();
  }

  /** At the end of a run: gives up, and tells of the calls whose results never came. */
  close(): Promise<void> | undefined {
    this.giveUp();
    return this.#judgements.size + this.#calls.size > 0 ? this.#close() : undefined;
  }

  async #close(): Promise<void> {
    await Promise.all(this.#judgements);
    const owed = [...this.#calls.values()].filter(({ judged }) => judged);
    this.#calls.clear();
    for (const active of owed)
      await this.#called(active, { isError: true, error: active.refusal ?? 'no result' });
  }

  get #closing(): StopSignal {
    return (this.#closer ??= new Stop(this.#options.signal));
  }

  #open(call: ToolCall): ActiveCall {
    const existing = this.#calls.get(call.toolCallId);
    if (existing !== undefined) return existing;
    const startedAtMs = this.#options.clock.now();
    const active = { call, startedAtMs, params: call.args, judged: false };
    this.#calls.set(call.toolCallId, active);
    return active;
  }

  async #decide(
    active: ActiveCall,
    signal: StopSignal | undefined,
    question?: ApprovalQuestion,
  ): Promise<ToolDecision> {
    const before = active.decision;
    try {
      if (before !== undefined) {
        const decided = await before;
        if (!decided.allowed) return decided;
      }
      return await this.#judge(active, signal, question, before && active.passed);
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

  async #judge(
    active: ActiveCall,
    signal: StopSignal | undefined,
    question: ApprovalQuestion | undefined,
    before: Passed | undefined,
  ): Promise<ToolDecision> {
    const stop = signal === undefined ? this.#closing : anySignal(this.#closing, signal);
    const { approvals, run, mayRun } = this.#options;
    const { runId, sessionKey } = run;
    const { subagentId } = active.call;
    const { outcome, cancel, allowed, use } = await judgeAsking({
      family: 'agent.tool.calling',
      approvals,
      signal: stop,
      dispatch: (again) =>
        again === undefined && before !== undefined
          ? Promise.resolve(before.outcome) // it was judged; only its question is open
          : this.#calling(active, { gate: 'enforce', signal: stop }, again),
      ...definedFields({ runId, sessionKey, subagentId, question, allowed: before?.allowed }),
    });
    if (outcome.status === 'passed' && cancel === undefined) {
      delete active.refusal;
      const args = outcome.payload.params;
      active.params = args;
      const asking = mayRun({ ...active.call, args }, stop);
      const reason = asking && (await asking);
      const unusable = reason === undefined && use !== undefined ? await use() : undefined;
      if (reason === undefined && unusable === undefined) {
        active.passed = { outcome, allowed };
        return { allowed: true, args };
      }
      active.refusal = reason ?? refusalOf(unusable) ?? 'the call was refused';
    } else active.refusal = refusalOf(cancel) ?? `the call ${failedBy(outcome)}`;
    return { allowed: false, reason: active.refusal };
  }

  #calling(
    active: ActiveCall,
    how: { readonly gate: Gate; readonly signal?: StopSignal },
    again?: AnsweredPass<'agent.tool.calling'>,
  ) {
    active.judged = true;
    const { toolName, toolCallId, args } = active.call;
    return this.#options.trail.dispatch(
      'agent.tool.calling',
      again?.payload ?? { toolName, toolCallId, params: { ...args }, ...this.#options.run },
      { ...how, ...whose(active.call), ...again?.given },
    );
  }

  #called(active: ActiveCall, how: Answer): Promise<unknown> {
    const { call, params, startedAtMs } = active;
    const { toolName, toolCallId } = call;
    const { trail, run, clock } = this.#options;
    const durationMs = Math.max(0, clock.now() - startedAtMs);
    const payload = { toolName, toolCallId, params, durationMs, ...how, ...run };
    return trail.dispatch('agent.tool.called', payload, whose(call));
  }
}

interface Answer {
  readonly result?: unknown;
  readonly isError: boolean;
  readonly error?: string;
}

/** A subagent's call says so in its envelope: its payload names the run, which is the main thread's. */
