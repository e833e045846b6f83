import { randomUUID } from 'node:crypto';
import {
  type Clock,
  definedFields,
  type Logger,
  silentLogger,
  systemClock,
  unfailing,
} from 'sluice-kernel/internal';
import { gatewayError } from '../errors.js';
import type { OtherAgentEvent } from '../protocol/agent-event.js';
import type { LostReason } from '../protocol/chat-event.js';
import { scopesOf } from '../protocol/connect-params.js';
import type { GatewayEvent } from '../protocol/frame.js';
import type { Hello } from '../protocol/hello.js';
import { minProtocol, shapesOf } from '../protocol/protocols.js';
import { type ClientLimits, limitsOf, type OpenClawClientOptions } from './client-options.js';
import type { ClientState, ClientStateChange, RequestOptions, RunsLost } from './client-state.js';
import { Connection } from './connection.js';
import { listeners } from './listeners.js';
import { type PendingRequests, pendingRequests } from './pending-requests.js';
import { redactor } from './redact.js';
import { type ResumeWindow, resumeWindow } from './resume-window.js';
import { type ClientStats, noCounts } from './routes/client-stats.js';
import { runClaims } from './routes/run-claims.js';
import {
  type AgentCallback,
  type ChatCallback,
  type RunRoutes,
  runRoutes,
} from './routes/run-routes.js';
import { untilReady } from './until-ready.js';

/**
 * A client of an OpenClaw gateway, protocol 3 or 4: one connection, made again whenever it is lost, over which requests
 * are answered and the events of runs are brought to those who have registered them. The rules are in
 * spec/stream-plumbing.md.
 *
 * @throws SluiceError `bad-client-option`.
 * @example
 * await using client = new OpenClawClient({
 *   url: 'ws://127.0.0.1:18789',
 *   token: process.env.OPENCLAW_GATEWAY_TOKEN,
 *   device: await loadDeviceIdentity('.sluice/device.pem'),
 * });
 * client.start();
 * await client.ready({ timeoutMs: 10_000 });
 */
export class OpenClawClient implements AsyncDisposable {
  /** The time as this client reads it. */
  readonly clock: Clock;
  /** Makes a text of the gateway fit to be shown: on one line, bounded, without this client's secrets. */
  readonly redact: (text: string) => string;
  readonly #with: OpenClawClientOptions;
  readonly #limits: ClientLimits;
  readonly #logger: Logger;
  readonly #counters = { ...noCounts };
  readonly #connection: Connection;
  readonly #pending: PendingRequests;
  readonly #routes: RunRoutes;
  readonly #claims = runClaims();
  readonly #resume: ResumeWindow;
  readonly #onError = (error: unknown): void => {
    this.#counters.listenerErrors++;
    this.#logger.error('a listener of the gateway client threw', { error });
  };
  readonly #events = listeners<GatewayEvent>(this.#onError);
  readonly #states = listeners<ClientStateChange>(this.#onError);
  readonly #losses = listeners<RunsLost>(this.#onError);
  #requests = 0;
  #protocol = minProtocol;

  constructor(options: OpenClawClientOptions) {
    const { token, password, logger = silentLogger, clock = systemClock } = options;
    const redact = redactor([token, password]);
    this.clock = clock;
    this.redact = redact;
    this.#with = options;
    this.#limits = limitsOf(options);
    this.#logger = unfailing(logger);
    this.#pending = pendingRequests(clock, redact);
    const { maxRuns } = this.#limits;
    this.#routes = runRoutes(maxRuns, this.#counters, clock, this.#logger, () => this.protocol);
    this.#resume = resumeWindow(this.#limits.resumeWindowMs, clock, (reason, error) =>
      this.#lose(reason, error),
    );
    this.#connection = new Connection(options, this.#limits, this.#counters, redact, {
      state: (state, problem) => this.#entered(state, problem),
      welcome: (hello) => this.#welcomed(hello),
      response: (frame) => {
        if (!this.#pending.answer(frame)) this.#counters.unknownFrames++;
      },
      event: (event, chars) => this.#take(event, chars),
    });
  }

  /** The state of the client (stream §2.1). */
  get state(): ClientState {
    return this.#connection.state;
  }

  /** The protocol of the gateway's last welcome; the lowest that this client speaks before the first. */
  get protocol(): number {
    return this.#protocol;
  }

  /** Connects, and keeps connecting until `stop`. A second call does nothing. */
  start(): void {
    this.#connection.start();
  }

  /**
   * Waits until the gateway has let the client in.
   *
   * @param options.timeoutMs for how long; for ever by default.
   * @throws SluiceError `gateway-unreachable`, also at once where the gateway refuses this client, or nobody has
   * started it; `client-stopped`, `request-aborted`.
   */
  ready(options: RequestOptions = {}): Promise<void> {
    return untilReady({
      ...options,
      clock: this.clock,
      onChange: (check) => this.#states.add(check),
      standing: () => this.#connection.standing,
    });
  }

  /** Disconnects for good: what waits for an answer is rejected, and each registered run is told of its end. */
  stop(): Promise<void> {
    this.#connection.stop();
    return Promise.resolve();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /**
   * Sends a request, and waits for its answer. Nothing is sent twice.
   *
   * @returns the answer's payload, as it came.
   * @throws SluiceError `gateway-refused` (details.reason is the gateway's code), `gateway-timed-out`,
   * `gateway-disconnected`, `gateway-busy`, `client-stopped`, `request-aborted`.
   */
  async request(
    method: string,
    params: unknown = {},
    options: RequestOptions = {},
  ): Promise<unknown> {
    if (this.state === 'stopped') throw gatewayError('client-stopped', {});
    const id = `${++this.#requests}-${randomUUID()}`;
    const { timeoutMs = this.#limits.requestTimeoutMs, signal } = options;
    const bounds = { timeoutMs, signal };
    return this.#pending.add(id, method, bounds, () => this.#connection.send(id, method, params));
  }

  /**
   * The same for a request that starts a run: the events of runs that nobody has registered are kept until it is
   * answered, and a second longer, so that its run can be registered then.
   */
  async requestRun(
    method: string,
    params: unknown,
    options: RequestOptions = {},
  ): Promise<unknown> {
    using _expected = this.#routes.expect();
    return await this.request(method, params, options);
  }

  /**
   * Brings the `agent` events of a run to a callback, each number once and in order. The events that were kept for it
   * are told before this returns. A run that the client has lost is told as an `error` event with `seq` 0, and is no
   * longer registered.
   *
   * @param other is told the events of streams that seed 003 does not name.
   * @throws SluiceError `run-registered`, `too-many-runs`.
   */
  registerAgentAccumulation(
    runId: string,
    callback: AgentCallback,
    other?: (event: OtherAgentEvent) => void,
  ): void {
    this.#routes.agent.register(runId, callback, other);
  }

  /** @param callback leaves a run with another callback alone. @returns true if the run was registered. */
  unregisterAgentAccumulation(runId: string, callback?: AgentCallback): boolean {
    return this.#routes.agent.unregister(runId, callback);
  }

  /** Brings the `chat` events of a run to a callback, beside its `agent` events. @throws as the other. */
  registerChatAccumulation(runId: string, callback: ChatCallback): void {
    this.#routes.chat.register(runId, callback);
  }

  /** @param callback leaves a run with another callback alone. @returns true if the run was registered. */
  unregisterChatAccumulation(runId: string, callback?: ChatCallback): boolean {
    return this.#routes.chat.unregister(runId, callback);
  }

  /** Brings the payload of an `agent` event to the callback of its run. @returns whether that was told. */
  routeAgentEvent(payload: unknown): boolean {
    return this.#routes.routeAgent(payload, 0);
  }

  /** The same for the payload of a `chat` event. */
  routeChatEvent(payload: unknown): boolean {
    return this.#routes.routeChat(payload, 0);
  }

  /** Says that somebody dispatches a run already, until what is returned is disposed: a bridge leaves it alone. */
  claimRun(runId: string): Disposable {
    return this.#claims.addRun(runId);
  }

  /** The same for whatever runs in a session: a run that was asked for there may have no id yet. */
  claimSession(sessionKey: string): Disposable {
    return this.#claims.addSession(sessionKey);
  }

  /** Returns whether somebody dispatches a run. */
  isClaimed(runId: string): boolean {
    return this.#claims.has(runId);
  }

  /** Returns whether bridges leave a run alone: it is claimed, was claimed lately, or belongs to a claimed session. */
  isCovered(runId: string, sessionKey?: string): boolean {
    return this.#claims.covers(runId, sessionKey);
  }

  /** Hears every event of the gateway, as it came, after the callbacks of its run. */
  onEvent(listener: (event: GatewayEvent) => void): Disposable {
    return this.#events.add(listener);
  }

  /** Hears when the state changes. */
  onState(listener: (change: ClientStateChange) => void): Disposable {
    return this.#states.add(listener);
  }

  /** Hears when all runs of the gateway are lost to this client (stream §2.6), also unregistered ones. */
  onRunsLost(listener: (loss: RunsLost) => void): Disposable {
    return this.#losses.add(listener);
  }

  /** The counts of the client, and the sizes of what it holds now. */
  stats(): ClientStats {
    const { agent, chat } = this.#routes;
    return {
      ...this.#counters,
      agentRuns: agent.size(),
      chatRuns: chat.size(),
      claimedRuns: this.#claims.size(),
      earlyEvents: agent.early.size() + chat.early.size(),
      pendingRequests: this.#pending.size(),
      listeners: this.#events.size() + this.#states.size() + this.#losses.size(),
    };
  }

  #take(event: GatewayEvent, chars: number): void {
    if (event.event === 'agent') this.#routes.routeAgent(event.payload, chars);
    else if (event.event === 'chat') this.#routes.routeChat(event.payload, chars);
    this.#events.report(event);
  }

  #entered(state: ClientState, problem?: string): void {
    if (state === 'waiting' || state === 'stopped') this.#pending.endAll();
    if (state === 'waiting') {
      this.#logger.warn('the gateway is not connected', { detail: problem });
      this.#resume.open();
    }
    if (state === 'stopped') {
      this.#resume.clear();
      this.#lose('client-stopped', 'the gateway client was stopped');
    }
    this.#states.report({ state, ...definedFields({ problem }) });
  }

  /** No run goes on: the registered ones are told each, listeners once. */
  #lose(reason: LostReason, error: string): void {
    this.#routes.endAll(reason, error);
    this.#losses.report({ reason, error });
  }

  #welcomed(hello: Hello): void {
    const { protocol, auth, server: { version } = {} } = hello;
    this.#protocol = protocol;
    this.#logger.info('the gateway is connected', { protocol, ...definedFields({ version }) });
    const has = shapesOf(protocol).tellsScopes ? (auth?.scopes ?? []) : undefined;
    const missing = has && scopesOf(this.#with).filter((scope) => !has.includes(scope));
    if (this.#with.device === undefined && has === undefined)
      this.#logger.warn('the gateway client has no device identity: its requests will be refused');
    else if (missing?.length)
      this.#logger.warn('the gateway does not allow all that its client asks for', { missing });
    this.#resume.close(hello);
  }
}
