import { type Clock, type Kernel, type Logger, Timer } from '../../kernel/index.js';
import { isRunDriven, RunDispatcher, type RunStop, Trail } from '../../run/index.js';
import { streamError } from '../../stream/errors.js';
import { isNamedStream, type OtherAgentEvent } from '../protocol/agent-event.js';
import type { ChatEvent } from '../protocol/chat-event.js';
import { FactQueue } from '../run/fact-queue.js';
import { FactReader } from '../run/fact-reader.js';
import type { RunEndFact } from '../run/run-fact.js';
import { SessionReader } from '../session/session-reader.js';

/** The options of a bridged run. */
interface BridgedRunOptions {
  readonly runId: string;
  readonly sessionKey: string;
  readonly agentId: string;
  /** The model that answers, as far as anybody knows it. */
  readonly model: string;
  /** Milliseconds without any event after which the run is told as failed. */
  readonly idleTimeoutMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Takes secrets out of a text of the gateway. */
  readonly redact: (text: string) => string;
}

/**
 * One run that others have started, on its way into the pipeline: a dispatcher of its own, each fact once (stream §7).
 */
export class BridgedGatewayRun {
  readonly #run: RunDispatcher;
  readonly #queue = new FactQueue();
  readonly #facts: FactReader;
  readonly #session: SessionReader;
  readonly #model: string;
  readonly #logger: Logger;
  readonly #runId: string;
  readonly #idle: Timer;
  readonly #idleTimeoutMs: number;
  #lastSeq = 0;

  constructor(kernel: Kernel, options: BridgedRunOptions) {
    const { runId, sessionKey, agentId, model, clock, logger, redact } = options;
    if (isRunDriven(kernel, runId)) throw streamError('run-driven', { what: runId });
    const sessionId = sessionKey; // the gateway tells no other id of a session
    this.#runId = runId;
    this.#model = model;
    this.#idle = new Timer(clock);
    this.#idleTimeoutMs = options.idleTimeoutMs;
    this.#logger = logger;
    this.#session = new SessionReader({ provider, model, clock });
    this.#facts = new FactReader((fact) => {
      const isFailure = fact.kind === 'end' && fact.how === 'failed';
      this.#queue.push(isFailure ? { ...fact, message: redact(fact.message) } : fact);
    });
    this.#queue.onOverflow = (message) => this.#push({ by: 'reader', message });
    this.#run = new RunDispatcher({
      trail: new Trail(kernel, undefined, { agentId, sessionId, metadata: { runId } }),
      run: { agentId, sessionKey, sessionId, runId, trigger: 'gateway' },
      session: { agentId, sessionKey, sessionId },
      clock,
      logger,
      signal: new AbortController().signal,
    });
  }

  /** Dispatches the run to its end. Drives it from this call on. Never rejects. */
  async drive(): Promise<void> {
    let stop: RunStop | undefined = 'abandoned';
    try {
      await this.#run.start({});
      this.#run.open({ id: provider, model: this.#model, toolGate: 'observe-only' });
      for await (const fact of this.#queue.read())
        for (const event of this.#session.take(fact)) {
          await this.#run.take(event);
          this.#run.told(event);
          if (event.type === 'agent_end') stop = undefined;
        }
    } catch (error) {
      stop = { error };
      this.#logger.error('a run of the gateway was not dispatched', { runId: this.#runId, error });
    }
    await this.#run.complete(stop);
    this.#idle.clear();
  }

  /** @param seq of the event; one that is not above the last is dropped. */
  agent(event: OtherAgentEvent, seq: number | undefined): void {
    this.#isAlive();
    if (seq !== undefined && seq <= this.#lastSeq) return;
    this.#lastSeq = seq ?? this.#lastSeq;
    if (isNamedStream(event)) this.#facts.agent(event);
    else this.#facts.other(event);
  }

  chat(event: ChatEvent): void {
    this.#isAlive();
    this.#facts.chat(event);
  }

  /** Nothing more can come of it. */
  lost(message: string): void {
    this.#push({ by: 'gateway', message });
  }

  /** Nobody wants the rest of it. */
  abandon(): void {
    this.#queue.push({ kind: 'end', how: 'aborted' });
  }

  #isAlive(): void {
    const timeoutMs = this.#idleTimeoutMs;
    this.#idle.set(timeoutMs, () => this.lost(`nothing was heard of the run for ${timeoutMs} ms`));
  }

  #push(how: Pick<Extract<RunEndFact, { how: 'failed' }>, 'by' | 'message'>): void {
    this.#queue.push({ kind: 'end', how: 'failed', reachedAgent: true, ...how });
  }
}

const provider = 'openclaw';
