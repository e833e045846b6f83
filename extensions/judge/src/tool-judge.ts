import type { AnsweredAsker, Given, Outcome, PayloadOf } from 'sluice-kernel';
import { ask } from './ask.js';
import { eitherOf } from './either.js';
import {
  type CallFacts,
  type CheckedOptions,
  checkOptions,
  type JudgeOptions,
  type JudgingKernel,
  splitFacts,
  type ToolCall,
} from './options.js';
import { givenText, oneLine, said, type ToolResult, textOf, whyNot } from './text.js';

/** A call as a framework brings it: nothing of it is believed. */
export interface IncomingCall extends Omit<ToolCall, 'params'> {
  readonly params: unknown;
  /** Aborted when the framework does not wait for the call any more. */
  readonly signal?: AbortSignal | undefined;
}

/** The verdict on a call. */
export type Verdict =
  | {
      readonly allowed: true;
      /** The arguments to run with: those that came, with the keys that handlers have set. */
      readonly params: Readonly<Record<string, unknown>>;
      /** A handler has set one. */
      readonly isChanged: boolean;
      /** The last dispatch, which that of the result follows. */
      readonly outcome: Outcome<'agent.tool.calling'>;
      readonly facts: CallFacts;
    }
  | { readonly allowed: false; readonly reason: string };

/** The answer that the model is given: the tool's own answer, or a text in its place. */
export type Answer =
  | { readonly isError: false; readonly output: unknown }
  | {
      readonly isError: true;
      readonly text: string;
      /** The tool itself has failed; else the call was refused, or its result withheld. */
      readonly isFailure: boolean;
      /** The tool's own error, if no handler judges results: it says more than they would see. */
      readonly error?: unknown;
    };

/** A tool that runs if its call is allowed. */
export interface RunnableTool {
  readonly run: (params: Readonly<Record<string, unknown>>) => unknown;
  /** Judges arguments that handlers have changed, where the tool does not: says why they do not fit. */
  readonly unfit?: (params: Readonly<Record<string, unknown>>) => Promise<string | undefined>;
}

/** The parts of a framework that its adapter names. */
export interface Framework {
  /** Returns whether an error suspends the run, such as an interrupt: it is no failure, and passes through. */
  readonly suspends?: (error: unknown) => boolean;
}

/** Judges calls and results for the adapter of a framework. */
export class ToolJudge {
  readonly #kernel: JudgingKernel;
  readonly #options: CheckedOptions;
  readonly #suspends: (error: unknown) => boolean;

  /** @throws TypeError if an option is wrong. */
  constructor(kernel: JudgingKernel, options: JudgeOptions<never>, framework: Framework = {}) {
    this.#options = checkOptions(kernel, options);
    this.#kernel = kernel;
    this.#suspends = framework.suspends ?? (() => false);
  }

  /** Judges a call, runs its tool and judges the result. Rejects only with an error that suspends the run. */
  async call(call: IncomingCall, { run, unfit }: RunnableTool): Promise<Answer> {
    const verdict = await this.calling(call);
    if (!verdict.allowed) return refusal(verdict.reason);
    const { params, isChanged } = verdict;
    const problem = isChanged ? await unfit?.(params).catch(oneLine) : undefined;
    if (problem !== undefined) return refusal(`the tool did not run: ${problem}`);
    let output: unknown;
    let before: ToolResult;
    let failure: { readonly error: unknown } | undefined;
    try {
      output = await run(params);
      before = said(textOf(output), false);
    } catch (error) {
      if (this.#suspends(error)) throw error;
      failure = { error };
      before = said(`the tool failed: ${oneLine(error)}`, true);
    }
    const after = await this.returning({ ...call, params }, before, verdict);
    const text = givenText(after);
    const isAsItWas = text === givenText(before) && after.isError === before.isError;
    if (!after.isError)
      return { isError: false, output: isAsItWas ? output : sameKind(output, text) };
    const isHeard = this.#kernel.has('agent.tool.returning');
    const isFailure = failure !== undefined;
    return { isError: true, text, isFailure, ...(isAsItWas && !isHeard && failure) };
  }

  /** Judges a call and asks about it (`agent.tool.calling`). Rejects only with an error that suspends the run. */
  async calling(call: IncomingCall): Promise<Verdict> {
    try {
      using stop = eitherOf(this.#options.signal, call.signal);
      return await this.#judge(call, stop.given);
    } catch (error) {
      if (this.#suspends(error)) throw error;
      return refused(`the call could not be judged: ${oneLine(error)}`);
    }
  }

  /** Judges a result before anybody reads it (`agent.tool.returning`). Never rejects. */
  async returning(call: IncomingCall, result: ToolResult, verdict?: Verdict): Promise<ToolResult> {
    try {
      const { context, ...named } = heard(call, JSON.parse(plainText(call.params) ?? '{}'));
      const passed = verdict?.allowed === true ? verdict : undefined;
      const facts = passed?.facts ?? (await this.#options.given({ ...named, context }));
      const { run, envelope } = splitFacts(facts);
      using stop = eitherOf(this.#options.signal, call.signal);
      const outcome = await this.#kernel.dispatch(
        'agent.tool.returning',
        { ...named, ...run, result },
        { ...envelope, ...(passed && { after: passed.outcome }), ...stop.given },
      );
      if (outcome.status === 'failed') return withheld();
      if (outcome.status === 'cancelled')
        return said(outcome.cancel.text ?? outcome.cancel.code, true);
      const { result: judged } = outcome.payload;
      return { ...judged, isError: judged.isError || result.isError };
    } catch {
      return withheld();
    }
  }

  /**
   * Returns whether the program leaves a tool alone.
   *
   * @param obstacle why no judge can stop the tool, as the predicate of a sentence.
   * @throws TypeError if there is an obstacle, and the tool is not named in `unjudged`.
   */
  leavesOut(toolName: string, obstacle?: string): boolean {
    if (this.#options.unjudged?.includes(toolName) === true) return true;
    if (obstacle === undefined) return false;
    const problem = `the tool "${toolName}" ${obstacle}, so no judge can stop it`;
    throw new TypeError(`${problem}: name it in "unjudged" if it may run all the same`);
  }

  async #judge(call: IncomingCall, heeded: { readonly signal?: AbortSignal }): Promise<Verdict> {
    const { given, onAsk, clock } = this.#options;
    const text = plainText(call.params);
    if (text === undefined) return refused('the call is refused: its arguments are no object');
    const sent: ToolCall['params'] = JSON.parse(text);
    const facts = await given(heard(call, sent));
    const { run, envelope } = splitFacts(facts);
    const { context: _, ...named } = heard(call, sent);
    const dispatch = (payload: PayloadOf<'agent.tool.calling'>, how: Given) =>
      this.#kernel.dispatch('agent.tool.calling', payload, { ...envelope, ...how, ...heeded });
    const answered: AnsweredAsker[] = [];
    let outcome = await dispatch({ ...named, ...run }, {});
    while (outcome.status === 'cancelled' && outcome.cancel.question !== undefined) {
      const { question } = outcome.cancel;
      const about = heard(call, outcome.payload.params);
      const asked = await ask(question, {
        onAsk,
        clock,
        call: about,
        signal: heeded.signal ?? new AbortController().signal,
        suspends: this.#suspends,
      });
      if ('refusal' in asked) return refused(asked.refusal);
      answered.push({ ...question.asker, ...asked });
      outcome = await dispatch(outcome.payload, { after: outcome, answered: [...answered] });
    }
    if (outcome.status !== 'passed') return refused(whyNot(outcome));
    if (plainText(call.params) !== text) return refused('its arguments were changed meanwhile');
    const set = Object.entries(outcome.payload.params).filter(
      ([key, value]) => JSON.stringify(value) !== JSON.stringify(sent[key]),
    );
    const params = { ...Object(call.params), ...structuredClone(Object.fromEntries(set)) };
    return { allowed: true, params, isChanged: set.length > 0, outcome, facts };
  }
}

/** A call as handlers and the program hear of it. */
function heard(
  { toolName, toolCallId, context }: IncomingCall,
  params: ToolCall['params'],
): ToolCall {
  return { toolName, params, context, ...(toolCallId !== undefined && { toolCallId }) };
}

function refusal(text: string): Answer {
  return { isError: true, text, isFailure: false };
}

function refused(reason: string): Verdict {
  return { allowed: false, reason };
}

/** Stands for a result that could not be judged. */
function withheld(): ToolResult {
  return said('withheld: a handler that guards results failed', true);
}

/** The arguments as JSON; nothing if they are no object. */
function plainText(params: unknown): string | undefined {
  const text = JSON.stringify(params);
  return text?.startsWith('{') ? text : undefined;
}

/** A changed answer: data if the tool has answered with data and the text is still some, else the text. */
function sameKind(output: unknown, text: string): unknown {
  if (typeof output === 'string') return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
