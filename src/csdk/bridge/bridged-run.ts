import { type Kernel, silentLogger, systemClock } from '../../kernel/index.js';
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
import { type SessionReading, sessionReading } from '../runs/session-reading.js';
import { subagentOf } from '../subagents/subagent-of.js';
import type { BridgeOptions } from './bridge-options.js';

type Options = Omit<BridgeOptions, 'permissions'>;

/**
 * One run of the SDK on its way into the pipeline. Session events, and what frames and hooks say beside them, become
 * dispatches one after the other, in the order they came. Only decisions about tool calls, which may wait for a
 * person, run beside that.
 */
export function bridgedRun(kernel: Kernel, options: Options) {
  /** The queue of the SDK's callbacks. */
  const callbacks = callbackQueue();
  const questions = new Set<Promise<ToolDecision>>();
  const closing = new AbortController();
  let isRead = false;
  let isClosed = false;
  let begun: Promise<void> | undefined;
  let asked: Promise<void> | undefined;
  let initModel: string | undefined;
  let isReady = false;
  /** The job that came last, until it has settled. */
  let lastJob: Promise<void> | undefined;
  const { session, runId, refs, after, gate = 'enforce' } = options;
  const { clock = systemClock, logger = silentLogger } = options;
  const signal = options.signal ?? new AbortController().signal;
  const settings = { ...options, gate, clock, logger, signal };
  refuseDriven();
  const { agentId, sessionId, sessionKey } = session;
  const metadata = { ...refs?.metadata, runId };
  const trail = new Trail(kernel, after, { agentId, sessionId, ...refs, metadata });
  const { trigger = 'user', workspaceDir, channel } = options;
  const run = {
    ...{ agentId, sessionKey, sessionId, runId, trigger },
    ...(workspaceDir !== undefined && { workspaceDir }),
    ...(channel !== undefined && { channel }),
  };
  const dispatcher = new RunDispatcher({ trail, run, session, clock, logger, signal });

  async function* read(reading: SessionReading): AsyncGenerator<SessionEvent> {
    const { runId } = settings;
    if (isRead) throw streamError('run-driven', { what: runId });
    isRead = true;
    await begin(); // a run that cannot begin, such as one that is driven, has no end to be told
    let stop: RunStop = 'abandoned'; // unless its agent_end comes
    try {
      for (;;) {
        const next = reading.next();
        const event = next instanceof Promise ? await next : next;
        if (event === undefined) break;
        const taking = inOrder(() => take(event));
        if (taking !== undefined) await taking;
        try {
          yield event;
        } finally {
          dispatcher.told(event);
        }
      }
    } catch (error) {
      stop = { error };
      throw error;
    } finally {
      await reading.release();
      await close(stop);
    }
  }

  async function decide(call: ToolCall, signal: AbortSignal): Promise<ToolDecision> {
    await ready();
    return dispatcher.gate(call, signal);
  }

  function see(frame: CsdkFrame): void {
    const isInit = frame.type === 'system' && frame.subtype === 'init';
    if (isInit) initModel ??= textField(frame, 'model');
  }

  function note(fact: SubagentFact): void {
    const { logger, runId } = settings;
    inOrder(async () => {
      await ready();
      await dispatcher.tell(fact);
    })?.catch((error: unknown) => {
      logger.error(`${fact.kind} was not dispatched`, { runId, error });
    });
  }

  /** Runs a job after those under way, or at once. Its failure goes to who waits for it, and the next job runs. */
  function inOrder(job: () => Promise<void> | undefined): Promise<void> | undefined {
    const done = lastJob === undefined ? job() : lastJob.then(job);
    if (done === undefined) return undefined;
    const settle = (): void => {
      if (lastJob === last) lastJob = undefined;
    };
    const last = done.then(settle, settle);
    lastJob = last;
    return done;
  }

  function take(event: SessionEvent): Promise<void> | undefined {
    if (event.type === 'agent_start') return undefined;
    if (isReady) return dispatcher.take(event);
    return ready().then(() => dispatcher.take(event));
  }

  function begin(): Promise<void> {
    begun ??= start();
    return begun;
  }

  async function start(): Promise<void> {
    refuseDriven();
    open();
    const { prompt } = settings;
    await dispatcher.start(prompt === undefined ? {} : { prompt });
  }

  /** The run has begun, and what it was asked has been told: before anything that it does. */
  function ready(): Promise<void> {
    asked ??= begin()
      .then(() => tellInput())
      .then(() => {
        isReady = true;
      });
    return asked;
  }

  async function tellInput(): Promise<void> {
    const { prompt, session, systemPrompt, imagesCount = 0, clock } = settings;
    const model = initModel;
    open();
    if (prompt === undefined) return;
    if (model !== undefined && session.history !== undefined)
      await dispatcher.input({
        provider: provider(),
        model,
        prompt,
        historyMessages: [...session.history],
        imagesCount,
        ...(systemPrompt !== undefined && { systemPrompt }),
      });
    await dispatcher.write({ role: 'user', content: prompt, timestamp: clock.now() });
  }

  function open(): void {
    const model = initModel;
    dispatcher.open({
      id: provider(),
      toolGate: settings.gate,
      subagentOf,
      ...(model !== undefined && { model }),
    });
  }
  const provider = (): string => settings.provider ?? 'anthropic';

  /** Ends a run that its gate began and whose reader left before it read. */
  async function closeUnread(): Promise<void> {
    if (isRead || begun === undefined) return;
    isRead = true;
    const hasBegun = await begun.then(
      () => true,
      () => false, // as who asked was told
    );
    if (hasBegun) await close('abandoned');
  }

  async function close(stop: RunStop): Promise<void> {
    callbacks.close();
    isClosed = true;
    if (questions.size > 0) closing.abort();
    await lastJob;
    await Promise.allSettled(questions);
    await dispatcher.complete(stop);
  }

  function refuseDriven(): void {
    const { runId } = settings;
    if (isRunDriven(kernel, runId)) throw streamError('run-driven', { what: runId });
  }

  return {
    callbacks,

    /** Asks the pipeline about a call that is to run, and, where it starts a subagent, about that. */
    ask(call: ToolCall, signal?: AbortSignal): Promise<ToolDecision> {
      if (isClosed) closing.abort(); // only now: an abort without a listener costs, too
      const stop = closing.signal;
      const asking = decide(call, signal === undefined ? stop : AbortSignal.any([stop, signal]));
      questions.add(asking);
      const done = (): void => void questions.delete(asking);
      asking.then(done, done);
      return asking;
    },

    /** A call that was allowed runs with another input. */
    runsWith: (toolCallId: string, args: Readonly<Record<string, unknown>>): void =>
      dispatcher.runsWith(toolCallId, args),

    /** The run's session events, each after the pipeline has had it. Its reader can leave while one is waited for. */
    events(messages: Frames): AsyncGenerator<SessionEvent> {
      const { normalize, clock, logger, signal, runId, session } = settings;
      const reading = sessionReading(messages, {
        ...normalize,
        ...{ callbacks: callbacks, clock, signal, runId },
        ...(logger !== silentLogger && { logger }),
        onFrame: (frame) => see(frame),
        onSubagent: (fact) => note(fact),
        sessionId: session.sessionId,
      });
      let left: Promise<void> | undefined;
      return leavable(read(reading), {
        close: () => {
          reading.close();
          left ??= reading.release();
          left.catch(() => undefined); // told by release
        },
        release: async () => {
          await left;
          await closeUnread();
        },
      });
    },
  };
}
