import { type Clock, type Logger, oneLine, silentLogger, systemClock } from '../kernel/index.js';
import { type AgentRequest, RunDispatcher, type RunStop, Trail } from '../stream/index.js';
import { cutOff } from './cut-off.js';
import type { ModelChoice } from './model.js';
import { prepareTurn } from './prepare.js';
import { type TurnScope, turnFields } from './turn-fields.js';
import type { AgentTurnOptions, AgentTurnResult } from './turn-options.js';

/**
 * Runs one turn of an agent through the pipeline. For its run it is the only dispatcher of `agent.*` and
 * `transcript.*`, in the order of seed 001: starting, model, prompt, llm.input, the stream with its tools, writes
 * and compactions, completed, llm.output.
 *
 * Whatever happens (an error, an abort, a stage that fails, a provider that throws or hangs) `agent.completed` is
 * emitted once, after the last event of the stream. Never rejects: the result says how it went.
 *
 * @example
 * const result = await runAgentTurn({ kernel, provider: echoProvider(), session, message: { text: 'Hi' }, runId });
 * if (result.status === 'completed') for (const text of result.assistantTexts) reply(text);
 */
export async function runAgentTurn(options: AgentTurnOptions): Promise<AgentTurnResult> {
  return new Turn(options).run();
}

/** A provider that is called, with what. */
interface Called {
  readonly choice: ModelChoice;
  readonly request: AgentRequest;
}

class Turn {
  readonly #options: AgentTurnOptions;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #scope: TurnScope;

  constructor(options: AgentTurnOptions) {
    const { kernel, after, refs, session, clock = systemClock, logger = silentLogger } = options;
    this.#options = options;
    this.#clock = clock;
    this.#logger = logger;
    const signal = options.signal ?? new AbortController().signal;
    const { agentId, sessionId } = session;
    const trail = new Trail(kernel, after, { agentId, sessionId, ...refs });
    const fields = turnFields(options);
    const run = new RunDispatcher({ trail, run: fields, session, clock, logger, signal });
    this.#scope = { options, trail, fields, run, signal };
  }

  async run(): Promise<AgentTurnResult> {
    const { run } = this.#scope;
    let stop: RunStop | undefined;
    try {
      await this.#stream(await this.#prepare());
    } catch (error) {
      stop = { error };
    }
    return { ...(await run.complete(stop)), runId: this.#options.runId };
  }

  /** Goes through the stages before the provider, and writes what it is asked. */
  async #prepare(): Promise<Called> {
    const { run } = this.#scope;
    const { choice, request } = await prepareTurn(this.#scope);
    const { id, toolGate } = choice.provider;
    run.open({ id, toolGate, model: choice.model });
    const content = this.#options.message.text;
    await run.write({ role: 'user', content, timestamp: this.#clock.now() });
    return { choice, request: { ...request, gate: run.gate.bind(run) } };
  }

  async #stream({ choice, request }: Called): Promise<void> {
    const { graceMs = 1_000, callbacks } = this.#options;
    const { run, signal } = this.#scope;
    const events = choice.provider.run(request);
    for await (const event of cutOff(events, signal, this.#clock, graceMs)) {
      await run.take(event);
      try {
        await callbacks?.onEvent?.(event);
      } catch (error) {
        this.#logger.error(`callbacks.onEvent threw at ${event.type}: ${oneLine(error)}`, {
          ...this.#scope.fields,
        });
      }
      run.told(event);
      if (run.ended) return;
    }
  }
}
