import { definedFields, oneLine } from '../../kernel/index.js';
import { RunDispatcher, type RunFallback, type RunStop } from '../../run/index.js';
import {
  type AgentRequest,
  isPrompt,
  type SessionEvent,
  type TranscriptEntry,
} from '../../stream/index.js';
import { cutOff, untilCut } from './cut-off.js';
import type { ModelChoice } from './model.js';
import { prepareAttempt } from './prepare.js';
import { refOf } from './retry.js';
import type { AttemptScope, TurnScope } from './turn-fields.js';
import { TurnListener } from './turn-listener.js';
import type { AgentAttempt } from './turn-options.js';

/** The beginning of an attempt. */
export interface AttemptStart {
  /** From 1. */
  readonly attempt: number;
  /** The model to call; resolved where absent. */
  readonly choice?: ModelChoice;
  readonly fallback?: RunFallback;
  /** The messages that the attempts before have written, the prompt first. */
  readonly written: readonly TranscriptEntry[];
}

/** An attempt that has ended. */
export interface EndedAttempt {
  readonly report: AgentAttempt;
  readonly choice: ModelChoice | undefined;
  readonly replyTexts: readonly string[] | undefined;
}

/** The call of a provider. */
interface Called {
  readonly choice: ModelChoice;
  readonly request: AgentRequest;
}

/**
 * Makes one attempt of a turn: from `agent.starting` to `agent.completed` and `agent.llm.output`, which are emitted once
 * whatever happens. Never rejects.
 */
export function runAttempt(scope: TurnScope, start: AttemptStart): Promise<EndedAttempt> {
  return new Attempt(scope, start).run();
}

class Attempt {
  readonly #scope: AttemptScope;
  readonly #start: AttemptStart;
  readonly #listener: TurnListener;
  #choice: ModelChoice | undefined;
  #isAsked: boolean;
  #toolCalls = 0;
  #telling: Promise<void> | undefined;

  constructor(scope: TurnScope, start: AttemptStart) {
    const { options, trail, fields, clock, logger, signal } = scope;
    const { session, callbacks } = options;
    const { agentId, sessionKey, sessionId, beforeHistory } = session;
    const { written, attempt } = start;
    const run = new RunDispatcher({
      trail,
      run: fields,
      session: {
        agentId,
        sessionKey,
        sessionId,
        history: [...session.history, ...written],
        ...definedFields({ beforeHistory }),
        append: (message) => session.append(message),
      },
      clock,
      logger,
      signal,
    });
    // The prompt is in the transcript once and goes to the model once, also after attempts that failed.
    const prompt = written.find(isPrompt);
    const isFirst = attempt === 1 && session.begun === undefined;
    const begun = isFirst ? undefined : written.filter((entry) => entry !== prompt);
    this.#scope = { ...scope, run, attempt, begun };
    this.#isAsked = prompt !== undefined;
    this.#start = start;
    this.#listener = new TurnListener({ callbacks, fields, clock, logger, signal });
  }

  async run(): Promise<EndedAttempt> {
    const { run, signal, attempt } = this.#scope;
    let stop: RunStop | undefined;
    try {
      await this.#stream(await this.#prepare());
      if (!run.ended && !signal.aborted) await this.#failed('it ended without agent_end');
    } catch (error) {
      stop = { error };
      if (!signal.aborted) await this.#failed(oneLine(error));
    }
    const report = await run.complete(stop);
    this.#listener.close();
    const choice = this.#choice;
    return {
      report: {
        ...report,
        attempt,
        toolCalls: this.#toolCalls,
        ...(choice !== undefined && { model: refOf(choice) }),
      },
      choice,
      replyTexts: this.#listener.replyTexts,
    };
  }

  async #prepare(): Promise<Called> {
    const { run } = this.#scope;
    const { choice, request } = await prepareAttempt(this.#scope, this.#start.choice);
    this.#choice = choice;
    const { fallback } = this.#start;
    const { id, toolGate } = choice.provider;
    const subagentOf = choice.provider.subagentOf?.bind(choice.provider);
    run.open({
      id,
      toolGate,
      model: choice.model,
      ...definedFields({ fallback, subagentOf }),
    });
    const { kept } = this.#scope;
    const providerSession = kept.get(id);
    return {
      choice,
      request: {
        ...request,
        gate: this.#gate,
        tell: this.#tell,
        keepSession: (token) => void kept.set(id, token),
        ...definedFields({ providerSession }),
      },
    };
  }

  async #stream({ choice, request }: Called): Promise<void> {
    const { cut, run } = this.#scope;
    try {
      for await (const event of cutOff(choice.provider.run(request), cut)) {
        await this.#take(event);
        if (run.ended || cut.aborted) return;
      }
    } finally {
      await this.#wait(this.#ask());
    }
  }

  /**
   * One event: its dispatches and its callbacks, in the order of the live system (spec §16.7). What grows is dispatched
   * first, as an agent event is emitted before its callbacks; of all else the callbacks hear before the hooks.
   */
  async #take(event: SessionEvent): Promise<void> {
    const { run } = this.#scope;
    if (event.type !== 'agent_start' && !this.#isAsked) await this.#wait(this.#ask());
    if (event.type === 'tool_execution_start') this.#toolCalls++;
    if (event.type !== 'message_update') await this.#wait(this.#telling);
    if (this.#isDispatchedFirst(event)) {
      await run.take(event); // at once: nothing that grows is waited for
      await this.#wait(this.#listener.tell(event));
    } else {
      await this.#wait(this.#listener.tell(event));
      await this.#wait(run.take(event));
    }
    run.told(event);
    if (event.type === 'agent_start') await this.#wait(this.#ask());
  }

  /** Waits, but not longer than the turn may. */
  async #wait(promise: Promise<void> | undefined): Promise<void> {
    if (promise !== undefined) await untilCut(promise, this.#scope.cut);
  }

  #isDispatchedFirst({ type }: SessionEvent): boolean {
    if (type === 'auto_compaction_start') return this.#listener.order === 'seed';
    return type === 'message_update' || type === 'tool_execution_update';
  }

  /** Writes what the agent is asked, once its run has begun. */
  async #ask(): Promise<void> {
    if (this.#isAsked) return;
    this.#isAsked = true;
    const { run, options, clock } = this.#scope;
    await run.write({ role: 'user', content: options.message.text, timestamp: clock.now() });
  }

  /** A tool does not run before what came before it has been told, what was to be flushed is flushed, and its call is kept. */
  readonly #gate: AgentRequest['gate'] = async (call, signal) => {
    const { run, options } = this.#scope;
    await this.#wait(this.#listener.told);
    await options.session.kept?.();
    return run.gate(call, signal);
  };

  /**
   * Dispatches the facts of subagents. Before the next event, the callbacks hear which subagents the answer is about.
   */
  readonly #tell: AgentRequest['tell'] = (fact) => {
    const { run } = this.#scope;
    const told = run.tell(fact);
    if (fact.kind === 'answered') this.#telling = told.then(() => this.#listener.answered());
    if (fact.kind === 'children_answered')
      this.#telling = told.then(() => this.#listener.answered(run.answering(fact.childRunIds)));
  };

  async #failed(message: string): Promise<void> {
    if (this.#choice === undefined) return; // nothing was called: no run of a model has begun
    await this.#wait(this.#listener.failed(message));
  }
}
