import { type Kernel, type Logger, silentLogger } from '../../kernel/index.js';
import { isRunDriven } from '../../run/index.js';
import { Recent } from '../../stream/internal.js';
import type { OpenClawClient } from '../client/client.js';
import { isGapReport, readAgentEvent, type WireAgentEvent } from '../protocol/agent-event.js';
import { readChatEvent } from '../protocol/chat-event.js';
import type { GatewayEvent } from '../protocol/frame.js';
import { BridgedGatewayRun } from './bridged-run.js';

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
export interface GatewayBridgeStats {
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
  return new BridgedRuns(kernel, client, options);
}

class BridgedRuns implements GatewayBridge {
  readonly #kernel: Kernel;
  readonly #client: OpenClawClient;
  readonly #options: Required<GatewayBridgeOptions>;
  readonly #runs = new Map<string, BridgedGatewayRun>();
  readonly #ended = new Recent<string, true>(remembered);
  readonly #driving = new Set<Promise<void>>();
  readonly #listening: readonly Disposable[];
  #bridged = 0;
  #refused = 0;

  constructor(kernel: Kernel, client: OpenClawClient, options: GatewayBridgeOptions) {
    this.#kernel = kernel;
    this.#client = client;
    this.#options = {
      maxRuns: 50,
      idleTimeoutMs: 600_000,
      model: 'default',
      logger: silentLogger,
      ...options,
    };
    this.#listening = [
      client.onEvent((event) => this.#take(event)),
      client.onRunsLost(({ error }) => {
        for (const run of this.#runs.values()) run.lost(error);
      }),
    ];
  }

  stats(): GatewayBridgeStats {
    return { runs: this.#runs.size, bridged: this.#bridged, refused: this.#refused };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const one of this.#listening) one[Symbol.dispose]();
    for (const run of this.#runs.values()) run.abandon();
    await Promise.all(this.#driving);
  }

  #take({ event, payload }: GatewayEvent): void {
    if (event === 'agent') {
      const wire = readAgentEvent(payload);
      if (wire !== undefined && !isGapReport(wire)) this.#agent(wire);
    } else if (event === 'chat') {
      const chat = readChatEvent(payload);
      if (chat !== undefined) this.#runs.get(chat.runId)?.chat(chat);
    }
  }

  #agent(wire: WireAgentEvent): void {
    const { seq, ts = this.#client.clock.now(), data = {}, ...event } = wire;
    const run = this.#runs.get(wire.runId) ?? this.#begin(wire);
    run?.agent({ ...event, seq: seq ?? 1, ts, data }, seq);
  }

  /** Begins a run, unless somebody tells it already. */
  #begin({
    runId,
    sessionKey = `gateway:${runId}`,
  }: WireAgentEvent): BridgedGatewayRun | undefined {
    const { maxRuns, idleTimeoutMs, model, logger } = this.#options;
    const client = this.#client;
    if (this.#ended.has(runId) || isRunDriven(this.#kernel, runId)) return undefined;
    if (client.isCovered(runId, sessionKey)) return undefined;
    if (this.#runs.size >= maxRuns) {
      this.#refused++;
      this.#ended.set(runId, true);
      logger.warn('a run of the gateway is left out: too many are under way', { runId, maxRuns });
      return undefined;
    }
    const agentId = /^agent:([^:]+):/.exec(sessionKey)?.[1] ?? 'unknown';
    const run = new BridgedGatewayRun(this.#kernel, {
      ...{ runId, sessionKey, agentId, model, idleTimeoutMs, logger },
      clock: client.clock,
      redact: (text) => client.redact(text),
    });
    this.#runs.set(runId, run);
    this.#bridged++;
    const driving = run.drive().finally(() => {
      this.#runs.delete(runId);
      this.#ended.set(runId, true);
      this.#driving.delete(driving);
    });
    this.#driving.add(driving);
    return run;
  }
}
