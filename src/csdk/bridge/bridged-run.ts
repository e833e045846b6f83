import { definedFields, type Kernel, silentLogger, systemClock } from '../../kernel/index.js';
import { isRunDriven, RunDispatcher, type RunStop, Trail } from '../../run/index.js';
import { streamError } from '../../stream/errors.js';
import {
  leavable,
  type SessionEvent,
  type SubagentFact,
  type ToolCall,
  type ToolDecision,
} from '../../stream/index.js';
import type { Frames } from '../frames/arrivals.js';
import { callbackQueue } from '../frames/callback.js';
import { type CsdkFrame, textField } from '../frames/frame.js';
import { SessionReading } from '../runs/session-reading.js';
import { subagentOf } from '../subagents/subagent-of.js';
import type { BridgeOptions } from './bridge-options.js';

type Options = Omit<BridgeOptions, 'permissions'>;

/**
 * One run of the SDK on its way into the pipeline. Session events, and what frames and hooks say beside them, become
 * dispatches one after the other, in the order they came. Only decisions about tool calls, which may wait for a
 * person, run beside that.
 */
export class BridgedRun {
  /** The queue of the SDK's callbacks. */
  readonly callbacks = callbackQueue();
  readonly #kernel: Kernel;
  readonly #options: Options & Required<Pick<Options, 'gate' | 'clock' | 'logger'>>;
  readonly #run: RunDispatcher;
  readonly #asking = new Set<Promise<ToolDecision>>();
  /** Made when the first call is asked about. */
  #closing: AbortController | undefined;
  #isRead = false;
  #isClosed = false;
  #begun: Promise<void> | undefined;
  #asked: Promise<void> | undefined;
  #model: string | undefined;
  #isReady = false;
  /** The job that came last, until it has settled. */
  #last: Promise<void> | undefined;

  constructor(kernel: Kernel, options: Options) {
    const { session, runId, refs, after, approvals, gate = 'enforce' } = options;
    const { clock = systemClock, logger = silentLogger, signal } = options;
    this.#kernel = kernel;
    this.#options = Object.assign({}, options, { gate, clock, logger });
    this.#refuseDriven();
    const { agentId, sessionId, sessionKey } = session;
    const metadata = { ...refs?.metadata, runId };
    const trail = new Trail(kernel, after, { agentId, sessionId, ...refs, metadata });
    const { trigger = 'user', workspaceDir, channel } = options;
    const run = {
      ...{ agentId, sessionKey, sessionId, runId, trigger },
      ...definedFields({ workspaceDir, channel }),
    };
    this.#run = new RunDispatcher({
      ...{ trail, run, session, clock, logger },
      ...definedFields({ approvals, signal }),
    });
  }

  /** Asks the pipeline about a call that is to run, and, where it starts a subagent, about that. */
  ask(call: ToolCall, signal?: AbortSignal): Promise<ToolDecision> {
    this.#closing ??= new AbortController();
    if (this.#isClosed) this.#closing.abort();
    const stop = this.#closing.signal;
    const asking = this.#ask(call, signal === undefined ? stop : AbortSignal.any([stop, signal]));
    this.#asking.add(asking);
    const done = (): void => void this.#asking.delete(asking);
    asking.then(done, done);
    return asking;
  }

  /** A call that was allowed runs with another input. */
  runsWith(toolCallId: string, args: Readonly<Record<string, unknown>>): void {
    this.#run.runsWith(toolCallId, args);
  }

  /** The run's session events, each after the pipeline has had it. Its reader can leave while one is waited for. */
  events(messages: Frames): AsyncGenerator<SessionEvent> {
    const { normalize, clock, logger, signal, runId, session } = this.#options;
    const reading = new SessionReading(messages, {
      ...normalize,
      ...{ callbacks: this.callbacks, clock, runId },
      ...definedFields({ signal }),
      ...(logger !== silentLogger && { logger }),
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
    const { runId } = this.#options;
    if (this.#isRead) throw streamError('run-driven', { what: runId });
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

  async #ask(call: ToolCall, signal: AbortSignal): Promise<ToolDecision> {
    await this.#ready();
    return this.#run.gate(call, signal);
  }

  #see(frame: CsdkFrame): void {
    const isInit = frame.type === 'system' && frame.subtype === 'init';
    if (isInit) this.#model ??= textField(frame, 'model');
  }

  #note(fact: SubagentFact): void {
    const { logger, runId } = this.#options;
    this.#inOrder(async () => {
      await this.#ready();
      await this.#run.tell(fact);
    })?.catch((error: unknown) => {
      logger.error(`${fact.kind} was not dispatched`, { runId, error });
    });
  }

  /** Runs a job after those under way, or at once. Its failure goes to who waits for it, and the next job runs. */
  #inOrder(job: () => Promise<void> | undefined): Promise<void> | undefined {
    const done = this.#last === undefined ? job() : this.#last.then(job);
    if (done === undefined) return undefined;
    const settle = (): void => {
      if (this.#last === last) this.#last = undefined;
    };
    const last = done.then(settle, settle);
    this.#last = last;
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
    this.#refuseDriven();
    this.#open();
    const { prompt } = this.#options;
    await this.#run.start(prompt === undefined ? {} : { prompt });
  }

  /** The run has begun, and what it was asked has been told: before anything that it does. */
  #ready(): Promise<void> {
    this.#asked ??= this.#begin()
      .then(() => this.#tellInput())
      .then(() => {
        this.#isReady = true;
      });
    return this.#asked;
  }

  async #tellInput(): Promise<void> {
    const { prompt, session, systemPrompt, imagesCount = 0, clock } = this.#options;
    const model = this.#model;
    this.#open();
    if (prompt === undefined) return;
    if (model !== undefined && session.history !== undefined)
      await this.#run.input({
        provider: this.#provider,
        model,
        prompt,
        historyMessages: [...session.history],
        imagesCount,
        ...(systemPrompt !== undefined && { systemPrompt }),
      });
    await this.#run.write({ role: 'user', content: prompt, timestamp: clock.now() });
  }

  #open(): void {
    this.#run.open({
      id: this.#provider,
      toolGate: this.#options.gate,
      subagentOf,
      ...definedFields({ model: this.#model }),
    });
  }

  get #provider(): string {
    return this.#options.provider ?? 'anthropic';
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
    if (this.#asking.size > 0) this.#closing?.abort();
    await this.#last;
    await Promise.allSettled(this.#asking);
    await this.#run.complete(stop);
  }

  #refuseDriven(): void {
    const { runId } = this.#options;
    if (isRunDriven(this.#kernel, runId)) throw streamError('run-driven', { what: runId });
  }
}
