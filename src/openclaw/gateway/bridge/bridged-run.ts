import { isRunDriven, RunDispatcher, type RunStop, Trail } from '@sluice/agent/internal';
import { streamError } from '@sluice/sdk/stream/internal';
import { type Kernel, type Logger, Timer } from 'sluice-kernel/internal';
import type { OpenClawClient } from '../client/client.js';
import { isNamedStream, type OtherAgentEvent } from '../protocol/agent-event.js';
import type { ChatEvent } from '../protocol/chat-event.js';
import { FactQueue } from '../run/fact-queue.js';
import { factReader } from '../run/fact-reader.js';
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
  readonly logger: Logger;
}

/**
 * One run that others have started, on its way into the pipeline: a dispatcher of its own, each fact once (stream §7).
 */
export function bridgedGatewayRun(
  kernel: Kernel,
  { clock, redact }: Pick<OpenClawClient, 'clock' | 'redact'>,
  { runId, sessionKey, agentId, model, idleTimeoutMs, logger }: BridgedRunOptions,
) {
  const queue = new FactQueue();
  let lastSeq = 0;
  if (isRunDriven(kernel, runId)) throw streamError('run-driven', { what: runId });
  const idle = new Timer(clock);
  const about = { agentId, sessionKey, sessionId: sessionKey };
  const session = new SessionReader({ provider, model, clock });
  const facts = factReader((fact) => {
    const isFailure = fact.kind === 'end' && fact.how === 'failed';
    queue.push(isFailure ? { ...fact, message: redact(fact.message) } : fact);
  });
  queue.onOverflow = (message) => push({ by: 'reader', message });
  const run = new RunDispatcher({
    trail: new Trail(kernel, undefined, { agentId, sessionId: sessionKey, metadata: { runId } }),
    run: { ...about, runId, trigger: 'gateway' },
    session: about,
    clock,
    logger,
  });
  /** Nothing more can come of it. */
  const lost = (message: string): void => push({ by: 'gateway', message });

  function isAlive(): void {
    idle.set(idleTimeoutMs, () => lost(`nothing was heard of the run for ${idleTimeoutMs} ms`));
  }
  const push = (how: Pick<Extract<RunEndFact, { how: 'failed' }>, 'by' | 'message'>): void =>
    queue.push({ kind: 'end', how: 'failed', reachedAgent: true, ...how });

  return {
    /** Dispatches the run to its end. Drives it from this call on. Never rejects. */
    async drive(): Promise<void> {
      let stop: RunStop | undefined = 'abandoned';
      try {
        await run.start({});
        run.open({ id: provider, model, toolGate: 'observe-only' });
        for await (const fact of queue.read())
          for (const event of session.take(fact)) {
            await run.take(event);
            run.told(event);
            if (event.type === 'agent_end') stop = undefined;
          }
      } catch (error) {
        stop = { error };
        logger.error('a run of the gateway was not dispatched', { runId, error });
      }
      await run.complete(stop);
      idle.clear();
    },

    /** @param seq of the event; one that is not above the last is dropped. */
    agent(event: OtherAgentEvent, seq: number | undefined): void {
      isAlive();
      if (seq !== undefined && seq <= lastSeq) return;
      lastSeq = seq ?? lastSeq;
      if (isNamedStream(event)) facts.agent(event);
      else facts.other(event);
    },

    chat(event: ChatEvent): void {
      isAlive();
      facts.chat(event);
    },
    lost,

    /** Nobody wants the rest of it. */
    abandon: (): void => queue.push({ kind: 'end', how: 'aborted' }),
  };
}

/** The parts of `bridgedGatewayRun` that others use. */
export type BridgedGatewayRun = ReturnType<typeof bridgedGatewayRun>;

const provider = 'openclaw';
