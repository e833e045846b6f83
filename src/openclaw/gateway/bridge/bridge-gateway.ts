import { isRunDriven } from '@sluice/agent/internal';
import { Recent } from '@sluice/sdk/stream/internal';
import { type Kernel, type Logger, silentLogger } from 'sluice-kernel';
import type { OpenClawClient } from '../client/client.js';
import { isGapReport, readAgentEvent, type WireAgentEvent } from '../protocol/agent-event.js';
import { readChatEvent } from '../protocol/chat-event.js';
import type { GatewayEvent } from '../protocol/frame.js';
import { type BridgedGatewayRun, bridgedGatewayRun } from './bridged-run.js';

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
      if (chat !== undefined) runs.get(chat.runId)?.chat(chat);
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
