import { isRunDriven, RunDispatcher, type RunStop, Trail } from '@sluice/agent/internal';
import { Recent, streamError } from '@sluice/sdk/stream/internal';
import { type Kernel, type Logger, silentLogger, Timer } from 'sluice-kernel/internal';
import type { OpenClawClient } from '../client/client.js';
import {
  isGapReport,
  isNamedStream,
  type OtherAgentEvent,
  readAgentEvent,
  type WireAgentEvent,
} from '../protocol/agent-event.js';
import { type ChatEvent, readChatEvent } from '../protocol/chat-event.js';
import type { GatewayEvent } from '../protocol/frame.js';
import { FactQueue } from '../run/fact-queue.js';
import { factReader } from '../run/fact-reader.js';
import type { RunEndFact } from '../run/run-fact.js';
import { SessionReader } from '../session/session-reader.js';

/** How runs of a gateway are bridged. */
export interface GatewayBridgeOptions {
  /** Runs at once; the others are counted and left out. 50 by default. */
  readonly maxRuns?: number;
  /** A run of which nothing is heard for so long, in milliseconds, is told as failed; 600,000 by default. */
  readonly idleTimeoutMs?: number;
  /** The model that answers, since the gateway does not name it; `default` by default. */
  readonly model?: string;
  readonly logger?: Logger;
}

/** Runs of a gateway, on their way into the pipeline. Disposing it ends them, told as aborted, and waits for that. */
export interface GatewayBridge extends AsyncDisposable {
  /** The runs that the bridge holds now, and its counts. */
  stats(): GatewayBridgeStats;
}

/** The runs that a bridge holds now, and its counts. */
interface GatewayBridgeStats {
  /** Under way. */
  readonly runs: number;
  /** Begun, those that have ended included. */
  readonly bridged: number;
  /** Left out, since too many were under way. */
  readonly refused: number;
}

/** Ids of runs that have ended, so that a late event does not begin them anew. */
const remembered = 1_000;

/**
 * Feeds the runs of a gateway that nobody here drives into the pipeline: those that others start in the gateway's own
 * channels, and those of `triggerStream` outside of a turn. Each is told once: `agent.starting`, `agent.output.delta`,
 * `agent.tool.calling` and `agent.tool.called`, the transcript, compactions, `agent.completed`, `agent.llm.output`. All
 * of it has happened already: what a veto or a mutator says there is recorded as a failure (`observe-only`).
 *
 * A run of a turn is left alone if its provider has the same client.
 *
 * @example
 * await using bridge = bridgeGateway(kernel, client, { logger });
 */
export function bridgeGateway(
  kernel: Kernel,
  client: OpenClawClient,
  options: GatewayBridgeOptions = {},
): GatewayBridge {
  const runs = new Map<string, BridgedGatewayRun>();
  const ended = new Recent<string, true>(remembered);
  const drives = new Set<Promise<void>>();
  let bridged = 0;
  let refused = 0;
  const usual = { maxRuns: 50, idleTimeoutMs: 600_000, model: 'default', logger: silentLogger };
  const settings = { ...usual, ...options };
  const listening = [
    client.onEvent((event) => take(event)),
    client.onRunsLost(({ error }) => {
      for (const run of runs.values()) run.lost(error);
    }),
  ];

  function take({ event, payload }: GatewayEvent): void {
    if (event === 'agent') {
      const wire = readAgentEvent(payload);
      if (wire !== undefined && !isGapReport(wire)) agent(wire);
    } else if (event === 'chat') {
      const chat = readChatEvent(payload);
      if (typeof chat === 'object') runs.get(chat.runId)?.chat(chat);
    }
  }

  function agent(wire: WireAgentEvent): void {
    const { seq, ts = client.clock.now(), data = {}, ...event } = wire;
    const run = runs.get(wire.runId) ?? begin(wire);
    run?.agent({ ...event, seq: seq ?? 1, ts, data }, seq);
  }

  /** Begins a run, unless somebody tells it already. */
  function begin(wire: WireAgentEvent): BridgedGatewayRun | undefined {
    const { runId, sessionKey = `gateway:${runId}` } = wire;
    const { maxRuns, idleTimeoutMs, model, logger } = settings;
    if (ended.has(runId) || isRunDriven(kernel, runId)) return undefined;
    if (client.isCovered(runId, sessionKey)) return undefined;
    if (runs.size >= maxRuns) {
      refused++;
      ended.set(runId, true);
      logger.warn('a run of the gateway is left out: too many are under way', { runId, maxRuns });
      return undefined;
    }
    const agentId = /^agent:([^:]+):/.exec(sessionKey)?.[1] ?? 'unknown';
    const about = { runId, sessionKey, agentId, model, idleTimeoutMs, logger };
    const run = bridgedGatewayRun(kernel, client, about);
    runs.set(runId, run);
    bridged++;
    const driving = run.drive().finally(() => {
      runs.delete(runId);
      ended.set(runId, true);
      drives.delete(driving);
    });
    drives.add(driving);
    return run;
  }

  return {
    stats: (): GatewayBridgeStats => ({ runs: runs.size, bridged, refused }),

    async [Symbol.asyncDispose](): Promise<void> {
      for (const one of listening) one[Symbol.dispose]();
      for (const run of runs.values()) run.abandon();
      await Promise.all(drives);
    },
  };
}

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
function bridgedGatewayRun(
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
type BridgedGatewayRun = ReturnType<typeof bridgedGatewayRun>;

const provider = 'openclaw';
