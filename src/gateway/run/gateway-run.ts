import { isSluiceError, type Logger, oneLine, Timer } from '../../kernel/index.js';
import type { AgentEventPayload } from '../../stream/index.js';
import type { OpenClawClient } from '../client/client.js';
import { acknowledgementOf } from './acknowledgement.js';
import { FactReader } from './fact-reader.js';
import type { RunEndFact, RunFact } from './run-fact.js';
import { RunRegistrations } from './run-registrations.js';

/** A message for an agent of the gateway. */
export interface RunRequest {
  readonly sessionKey: string;
  readonly message: string;
}

/** The bounds of a run, in milliseconds. */
export interface RunLimits {
  /** For the connection, and again for the acknowledgement. */
  readonly sendAckTimeoutMs: number;
  /** From the acknowledgement to the end. */
  readonly agentTimeoutMs: number;
  /** Without any event; for ever where undefined. */
  readonly idleTimeoutMs: number | undefined;
  /** How long an error of the agent waits for its retry under the same id. */
  readonly errorGraceMs: number;
}

/** How a run is driven. */
export interface GatewayRunOptions extends RunLimits {
  readonly client: OpenClawClient;
  /** `chat`: only the accumulated text is wanted. */
  readonly listen: 'agent' | 'chat';
  /** Someone dispatches this run, so that a bridge leaves it alone. */
  readonly isDriven: boolean;
  readonly newId: () => string;
  readonly logger: Logger;
  /** Sees the tool events. */
  readonly onTool: ((event: AgentEventPayload) => void) | undefined;
  /** Is told each fact, an `end` last and once. */
  readonly tell: (fact: RunFact) => void;
}

/**
 * One message on its way through the gateway: sent once, its events read until its end, whatever that is. After the end
 * nothing of it is left: no callback, no timer, no listener (stream §4).
 */
export class GatewayRun {
  readonly #request: RunRequest;
  readonly #with: GatewayRunOptions;
  readonly #endTimer: Timer;
  readonly #idleTimer: Timer;
  readonly #graceTimer: Timer;
  readonly #registrations: RunRegistrations;
  readonly #waiting = new AbortController();
  /** Its session, until the gateway has named the run: under another id a bridge would not know it. */
  #sessionClaim: Disposable | undefined;
  #state: 'unsent' | 'sent' | 'acknowledged' | 'over' = 'unsent';

  constructor(request: RunRequest, options: GatewayRunOptions) {
    const { client, listen, onTool, isDriven } = options;
    this.#request = request;
    this.#with = options;
    this.#endTimer = new Timer(client.clock);
    this.#idleTimer = new Timer(client.clock);
    this.#graceTimer = new Timer(client.clock);
    const facts = new FactReader((fact) => this.#take(fact));
    this.#registrations = new RunRegistrations(client, listen, isDriven, {
      agent: (event) => {
        if (event.stream === 'tool') onTool?.(event);
        this.#isAlive();
        facts.agent(event);
      },
      other: (event) => {
        this.#isAlive();
        facts.other(event);
      },
      chat: (event) => {
        this.#isAlive();
        facts.chat(event);
        if (listen === 'chat' && event.state === 'delta') this.#tellChat(event.text);
      },
      connected: () => void this.#resume(),
    });
  }

  /** Sends the message. Everything that comes of it is told. */
  start(): void {
    this.#begin().catch((error: unknown) => {
      const message = isSluiceError(error) ? error.message : oneLine(error);
      this.#failed('gateway', message, 'stop');
    });
  }

  /** Stops the agent, and tells that the run was aborted. */
  abort(): void {
    this.#end({ kind: 'end', how: 'aborted' }, 'stop');
  }

  /** Ends it for a reason of its reader's. */
  fail(message: string): void {
    this.#failed('reader', message, 'stop');
  }

  async #begin(): Promise<void> {
    const { client, sendAckTimeoutMs, newId } = this.#with;
    const { sessionKey, message } = this.#request;
    const bounds = { timeoutMs: sendAckTimeoutMs, signal: this.#waiting.signal };
    await client.ready(bounds);
    if (this.#isOver) return;
    const runId = newId();
    // before it is sent: the gateway tells of the run under this id, mostly
    this.#registrations.add(runId);
    if (this.#with.isDriven) this.#sessionClaim = client.claimSession(sessionKey);
    this.#state = 'sent';
    let payload: unknown;
    try {
      payload = await client.requestRun(
        'chat.send',
        { sessionKey, message, deliver: false, idempotencyKey: runId },
        bounds,
      );
    } catch (error) {
      if (isSluiceError(error) && unsent.has(error.code) && !this.#isOver) this.#state = 'unsent';
      throw error;
    }
    if (!this.#isOver) this.#acknowledged(payload, runId);
  }

  #acknowledged(payload: unknown, proposed: string): void {
    this.#state = 'acknowledged';
    const answer = acknowledgementOf(payload, proposed);
    if (answer.kind === 'handled') this.#end({ kind: 'end', how: 'done' });
    else if (answer.kind === 'failed') this.#failed('agent', answer.message);
    else {
      const { agentTimeoutMs } = this.#with;
      this.#endTimer.set(agentTimeoutMs, () =>
        this.#failed('time', `the agent has not ended within ${agentTimeoutMs} ms`, 'stop'),
      );
      this.#isAlive();
      if (answer.runId !== proposed) this.#registrations.move(answer.runId);
      this.#sessionClaim?.[Symbol.dispose]();
    }
  }

  get #isOver(): boolean {
    return this.#state === 'over';
  }

  #isAlive(): void {
    const { idleTimeoutMs } = this.#with;
    if (this.#isOver) return;
    this.#idleTimer.set(idleTimeoutMs, () =>
      this.#failed('time', `nothing was heard of the agent for ${idleTimeoutMs} ms`, 'stop'),
    );
  }

  /** The connection is there again. The end of the run may have been told while it was not. */
  async #resume(): Promise<void> {
    const { client, logger } = this.#with;
    const runId = this.#registrations.runId;
    if (this.#state !== 'acknowledged' || runId === undefined) return;
    try {
      const params = { runId, timeoutMs: 1 };
      const answer = await client.request('agent.wait', params, { signal: this.#waiting.signal });
      const { status, error }: Record<string, unknown> = Object(answer);
      if (status === 'error' && typeof error === 'string') this.#failed('agent', error);
      else if (status === 'ok' || status === 'error')
        this.#failed('gateway', 'the run ended while the gateway was not connected');
    } catch (error) {
      logger.debug('whether a run goes on could not be asked', { runId, error });
    }
  }

  #tellChat(text: string | undefined): void {
    if (text !== undefined) this.#take({ kind: 'text', text, opens: false, continues: true });
  }

  #take(fact: RunFact): void {
    const { errorGraceMs, tell } = this.#with;
    if (this.#isOver) return;
    const isError = fact.kind === 'end' && fact.how === 'failed' && fact.by === 'agent';
    if (isError && errorGraceMs > 0) {
      if (!this.#graceTimer.isSet) this.#graceTimer.set(errorGraceMs, () => this.#end(fact));
      return;
    }
    this.#graceTimer.clear(); // the agent tries again, or the run is over
    if (fact.kind === 'end') this.#end(fact);
    else tell(fact);
  }

  #failed(
    by: 'agent' | 'gateway' | 'time' | 'reader',
    message: string,
    then: 'stop' | 'nothing' = 'nothing',
  ): void {
    const reachedAgent = this.#state !== 'unsent';
    this.#end({ kind: 'end', how: 'failed', by, message, reachedAgent }, then);
  }

  /** @param then `stop`: the end was decided here, so the agent may still be at work. */
  #end(fact: RunEndFact, then: 'stop' | 'nothing' = 'nothing'): void {
    if (this.#isOver) return;
    const { sessionKey } = this.#request;
    const wasSent = this.#state !== 'unsent';
    this.#state = 'over';
    for (const timer of [this.#endTimer, this.#idleTimer, this.#graceTimer]) timer.clear();
    this.#waiting.abort();
    const runId = this.#registrations.end();
    this.#sessionClaim?.[Symbol.dispose]();
    if (then === 'stop' && wasSent && runId !== undefined) this.#stopAgent({ sessionKey, runId });
    const { client, tell } = this.#with;
    tell(fact.how === 'failed' ? { ...fact, message: client.redact(fact.message) } : fact);
  }

  /** Nobody waits for the answer any more. Best effort: without a connection there is nothing to be done. */
  #stopAgent(run: { readonly sessionKey: string; readonly runId: string }): void {
    const { client, logger, sendAckTimeoutMs } = this.#with;
    if (client.state !== 'connected') return;
    client
      .request('chat.abort', run, { timeoutMs: sendAckTimeoutMs })
      .catch((error: unknown) => logger.debug('a run was not stopped', { ...run, error }));
  }
}

/** Errors of a request that say that it was not taken. */
const unsent: ReadonlySet<string> = new Set(['gateway-refused', 'gateway-busy', 'client-stopped']);
