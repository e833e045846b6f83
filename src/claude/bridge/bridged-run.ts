import { isRunDriven, RunDispatcher, type RunStop, Trail } from '@sluice/agent/run';
import {
  leavable,
  type SessionEvent,
  type SubagentFact,
  type ToolCall,
  type ToolDecision,
} from '@sluice/sdk/stream';
import { streamError } from '@sluice/sdk/stream/internal';
import { definedFields, type Kernel, silentLogger, systemClock } from 'sluice-kernel/internal';
import type { Frames } from '../frames/arrivals.js';
import { callbackQueue } from '../frames/callback.js';
import { type CsdkFrame, textField } from '../frames/frame.js';
import { SessionReading } from '../runs/session-reading.js';
import { subagentOf } from '../subagents/subagent-of.js';
import type { BridgeOptions } from './bridge-options.js';

/**
 * One run of the SDK on its way into the pipeline. Session events, and what frames and hooks say beside them, become
 * dispatches one after the other, in the order they came. Only decisions about tool calls, which may wait for a
 * person, run beside that.
 */
export function bridgedRun(kernel: Kernel, options: Omit<BridgeOptions, 'permissions'>) {
  /** The queue of the SDK's callbacks. */
  const callbacks = callbackQueue();
  const asked = new Set<Promise<ToolDecision>>();
  /** Made when the first call is asked about. */
  let closing: AbortController | undefined;
  let isRead = false;
  let isClosed = false;
  let begun: Promise<void> | undefined;
  let lastAsked: Promise<void> | undefined;
  let named: string | undefined;
  let isReady = false;
  /** The job that came last, until it has settled. */
  let lastJob: Promise<void> | undefined;
  const { session, runId, refs, after, approvals, signal, normalize, prompt, systemPrompt } =
    options;
  const { clock = systemClock, logger = silentLogger, gate = 'enforce', imagesCount = 0 } = options;
  const { trigger = 'user', workspaceDir, channel, provider = 'anthropic' } = options;
  refuseDriven();
  const { agentId, sessionId, sessionKey } = session;
  const metadata = { ...refs?.metadata, runId };
  const run = new RunDispatcher({
    trail: new Trail(kernel, after, { agentId, sessionId, ...refs, metadata }),
    run: {
      ...{ agentId, sessionKey, sessionId, runId, trigger },
      ...definedFields({ workspaceDir, channel }),
    },
    ...{ session, clock, logger },
    ...definedFields({ approvals, signal }),
  });

  /** Asks the pipeline about a call that is to run, and, where it starts a subagent, about that. */
  function ask(call: ToolCall, signal?: AbortSignal): Promise<ToolDecision> {
    closing ??= new AbortController();
    if (isClosed) closing.abort();
    const stop = closing.signal;
    const asking = ready().then(() =>
      run.gate(call, signal === undefined ? stop : AbortSignal.any([stop, signal])),
    );
    asked.add(asking);
    const done = (): void => void asked.delete(asking);
    asking.then(done, done);
    return asking;
  }

  function read(reading: SessionReading): AsyncGenerator<SessionEvent> {
    return eventsOf(reading, {
      begin: async () => {
        if (isRead) throw streamError('run-driven', { what: runId });
        isRead = true;
        await begin();
      },
      take: (event) => inOrder(() => take(event)),
      told: (event) => run.told(event),
      close,
    });
  }

  function see(frame: CsdkFrame): void {
    const isInit = frame.type === 'system' && frame.subtype === 'init';
    if (isInit) named ??= textField(frame, 'model');
  }

  function note(fact: SubagentFact): void {
    inOrder(async () => {
      await ready();
      await run.report(fact);
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
    if (isReady) return run.take(event);
    return ready().then(() => run.take(event));
  }

  function begin(): Promise<void> {
    begun ??= start();
    return begun;
  }

  async function start(): Promise<void> {
    refuseDriven();
    open();
    await run.start(prompt === undefined ? {} : { prompt });
  }

  /** The run has begun, and what it was asked has been told: before anything that it does. */
  function ready(): Promise<void> {
    lastAsked ??= begin()
      .then(() => reportInput())
      .then(() => {
        isReady = true;
      });
    return lastAsked;
  }

  async function reportInput(): Promise<void> {
    open();
    if (prompt === undefined) return;
    if (named !== undefined && session.history !== undefined)
      await run.input({
        provider,
        model: named,
        prompt,
        historyMessages: [...session.history],
        imagesCount,
        ...(systemPrompt !== undefined && { systemPrompt }),
      });
    await run.write({ role: 'user', content: prompt, timestamp: clock.now() });
  }

  function open(): void {
    run.open({ id: provider, toolGate: gate, subagentOf, ...definedFields({ model: named }) });
  }

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
    if (asked.size > 0) closing?.abort();
    await lastJob;
    await Promise.allSettled(asked);
    await run.complete(stop);
  }

  function refuseDriven(): void {
    if (isRunDriven(kernel, runId)) throw streamError('run-driven', { what: runId });
  }

  return {
    callbacks,
    ask,
    /** A call that was allowed runs with another input. */
    runsWith(toolCallId: string, args: Readonly<Record<string, unknown>>): void {
      run.runsWith(toolCallId, args);
    },
    /** The run's session events, each after the pipeline has had it. Its reader can leave while one is waited for. */
    events(messages: Frames): AsyncGenerator<SessionEvent> {
      const reading = new SessionReading(messages, {
        ...normalize,
        ...{ callbacks, clock, runId },
        ...definedFields({ signal }),
        ...(logger !== silentLogger && { logger }),
        onFrame: see,
        onSubagent: note,
        sessionId,
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

/** The steps of a run that its events go through. */
interface Steps {
  readonly begin: () => Promise<void>;
  readonly take: (event: SessionEvent) => Promise<void> | undefined;
  readonly told: (event: SessionEvent) => void;
  readonly close: (stop: RunStop) => Promise<void>;
}

/** Outside of the run: V8 keeps all that a generator inside of a function sees until the next full collection (docs/performance). */
async function* eventsOf(
  reading: SessionReading,
  { begin, take, told, close }: Steps,
): AsyncGenerator<SessionEvent> {
  await begin(); // a run that cannot begin, such as one that is driven, has no end to be told
  let stop: RunStop = 'abandoned'; // unless its agent_end comes
  try {
    for (;;) {
      const next = reading.next();
      const event = next instanceof Promise ? await next : next;
      if (event === undefined) break;
      const taking = take(event);
      if (taking !== undefined) await taking;
      try {
        yield event;
      } finally {
        told(event);
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
