import { isRunDriven, RunDispatcher, type RunStop, Trail } from '@sluice/agent/run';
import {
  leavable,
  type SessionEvent,
  type SubagentFact,
  type ToolCall,
  type ToolDecision,
} from '@sluice/sdk/stream';
import { streamError } from '@sluice/sdk/stream/internal';
import {
  type Clock,
  definedFields,
  type Kernel,
  type Logger,
  silentLogger,
  systemClock,
} from 'sluice-kernel/internal';
import type { Frames } from '../frames/arrivals.js';
import { callbackQueue } from '../frames/callback.js';
import { type CsdkFrame, textField } from '../frames/frame.js';
import { SessionReading } from '../runs/session-reading.js';
import { subagentOf } from '../subagents/subagent-of.js';
import type { BridgeOptions } from './bridge-options.js';

type RunOptions = Omit<BridgeOptions, 'permissions'>;

/**
 * One run of the SDK on its way into the pipeline. Session events, and what frames and hooks say beside them, become
 * dispatches one after the other, in the order they came. Only decisions about tool calls, which may wait for a
 * person, run beside that.
 */
export class BridgedRun {
  /** The queue of the SDK's callbacks. */
  readonly callbacks = callbackQueue();
  readonly #kernel: Kernel;
  readonly #with: RunOptions;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #run: RunDispatcher;
  readonly #asked = new Set<Promise<ToolDecision>>();
  /** Made when the first call is asked about. */
  #closing: AbortController | undefined;
  #isRead = false;
  #isClosed = false;
  #begun: Promise<void> | undefined;
  #lastAsked: Promise<void> | undefined;
  #named: string | undefined;
  #isReady = false;
  /** The job that came last, until it has settled. */
  #lastJob: Promise<void> | undefined;

  /** @throws SluiceError `run-driven`. */
  constructor(kernel: Kernel, options: RunOptions) {
    const { session, runId, refs, after, approvals, signal, workspaceDir, channel } = options;
    const { trigger = 'user', clock = systemClock, logger = silentLogger } = options;
    this.#kernel = kernel;
    this.#with = options;
    this.#clock = clock;
    this.#logger = logger;
    this.#refuseDriven();
    const { agentId, sessionId, sessionKey } = session;
    const metadata = { ...refs?.metadata, runId };
    this.#run = new RunDispatcher({
      trail: new Trail(kernel, after, { agentId, sessionId, ...refs, metadata }),
      run: {
        ...{ agentId, sessionKey, sessionId, runId, trigger },
        ...definedFields({ workspaceDir, channel }),
      },
      ...{ session, clock, logger },
      ...definedFields({ approvals, signal }),
    });
  }

  /** Asks the pipeline about a call that is to run, and, where it starts a subagent, about that. */
  ask(call: ToolCall, signal?: AbortSignal): Promise<ToolDecision> {
    this.#closing ??= new AbortController();
    if (this.#isClosed) this.#closing.abort();
    const stop = this.#closing.signal;
    const asking = this.#ready().then(() =>
      this.#run.gate(call, signal === undefined ? stop : AbortSignal.any([stop, signal])),
    );
    this.#asked.add(asking);
    const done = (): void => void this.#asked.delete(asking);
    asking.then(done, done);
    return asking;
  }

  /** A call that was allowed runs with another input. */
  runsWith(toolCallId: string, args: Readonly<Record<string, unknown>>): void {
    this.#run.runsWith(toolCallId, args);
  }

  /** The run's session events, each after the pipeline has had it. Its reader can leave while one is waited for. */
  events(messages: Frames): AsyncGenerator<SessionEvent> {
    const { normalize, runId, signal, session } = this.#with;
    const reading = new SessionReading(messages, {
      ...normalize,
      ...{ callbacks: this.callbacks, clock: this.#clock, runId },
      ...definedFields({ signal }),
      ...(this.#logger !== silentLogger && { logger: this.#logger }),
      onFrame: (frame) => this.#see(frame),
      onSubagent: (fact) => this.#note(fact),
      sessionId: session.sessionId,
    });
    let left: Promise<void> | undefined;
    return leavable(this.#read(reading), {
      close: () => {
        reading.close();
        left ??= reading.release();
        left.catch(() => undefined); // told by release
      },
      release: async () => {
        await left;
        await this.#closeUnread();
      },
    });
  }

  async *#read(reading: SessionReading): AsyncGenerator<SessionEvent> {
    if (this.#isRead) throw streamError('run-driven', { what: this.#with.runId });
    this.#isRead = true;
    await this.#begin(); // a run that cannot begin, such as one that is driven, has no end to be told
    let stop: RunStop = 'abandoned'; // unless its agent_end comes
    try {
      for (;;) {
        const next = reading.next();
        const event = next instanceof Promise ? await next : next;
        if (event === undefined) break;
        const taking = this.#inOrder(() => this.#take(event));
        if (taking !== undefined) await taking;
        try {
          yield event;
        } finally {
          this.#run.told(event);
        }
      }
    } catch (error) {
      stop = { error };
      throw error;
    } finally {
      await reading.release();
      await this.#close(stop);
    }
  }

  #see(frame: CsdkFrame): void {
    const isInit = frame.type === 'system' && frame.subtype === 'init';
    if (isInit) this.#named ??= textField(frame, 'model');
  }

  #note(fact: SubagentFact): void {
    this.#inOrder(async () => {
      await this.#ready();
      await this.#run.report(fact);
    })?.catch((error: unknown) => {
      const { runId } = this.#with;
      this.#logger.error(`${fact.kind} was not dispatched`, { runId, error });
    });
  }

  /** Runs a job after those under way, or at once. Its failure goes to who waits for it, and the next job runs. */
  #inOrder(job: () => Promise<void> | undefined): Promise<void> | undefined {
    const done = this.#lastJob === undefined ? job() : this.#lastJob.then(job);
    if (done === undefined) return undefined;
    const settle = (): void => {
      if (this.#lastJob === last) this.#lastJob = undefined;
    };
    const last = done.then(settle, settle);
    this.#lastJob = last;
    return done;
  }

  #take(event: SessionEvent): Promise<void> | undefined {
    if (event.type === 'agent_start') return undefined;
    if (this.#isReady) return this.#run.take(event);
    return this.#ready().then(() => this.#run.take(event));
  }

  #begin(): Promise<void> {
    this.#begun ??= this.#start();
    return this.#begun;
  }

  async #start(): Promise<void> {
    const { prompt } = this.#with;
    this.#refuseDriven();
    this.#open();
    await this.#run.start(definedFields({ prompt }));
  }

  /** The run has begun, and what it was asked has been told: before anything that it does. */
  #ready(): Promise<void> {
    this.#lastAsked ??= this.#begin()
      .then(() => this.#reportInput())
      .then(() => {
        this.#isReady = true;
      });
    return this.#lastAsked;
  }

  async #reportInput(): Promise<void> {
    const { prompt, systemPrompt, imagesCount = 0, provider = 'anthropic' } = this.#with;
    const { history } = this.#with.session;
    const model = this.#named;
    this.#open();
    if (prompt === undefined) return;
    if (model !== undefined && history !== undefined) {
      const input = { provider, model, prompt, historyMessages: [...history], imagesCount };
      await this.#run.input(() => ({ ...input, ...definedFields({ systemPrompt }) }));
    }
    await this.#run.write({ role: 'user', content: prompt, timestamp: this.#clock.now() });
  }

  #open(): void {
    const { provider: id = 'anthropic', gate: toolGate = 'enforce' } = this.#with;
    this.#run.open({ id, toolGate, subagentOf, ...definedFields({ model: this.#named }) });
  }

  /** Ends a run that its gate began and whose reader left before it read. */
  async #closeUnread(): Promise<void> {
    if (this.#isRead || this.#begun === undefined) return;
    this.#isRead = true;
    const hasBegun = await this.#begun.then(
      () => true,
      () => false, // as who asked was told
    );
    if (hasBegun) await this.#close('abandoned');
  }

  async #close(stop: RunStop): Promise<void> {
    this.callbacks.close();
    this.#isClosed = true;
    if (this.#asked.size > 0) this.#closing?.abort();
    await this.#lastJob;
    await Promise.allSettled(this.#asked);
    await this.#run.complete(stop);
  }

  #refuseDriven(): void {
    const { runId } = this.#with;
    if (isRunDriven(this.#kernel, runId)) throw streamError('run-driven', { what: runId });
  }
}
