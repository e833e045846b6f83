import type { AgentEventPayload } from '@sluice/sdk/stream';
import { isSluiceError, type Logger, oneLine, Timer } from 'sluice-kernel/internal';
import type { OpenClawClient } from '../client/client.js';
import type { OtherAgentEvent } from '../protocol/agent-event.js';
import type { ChatEvent } from '../protocol/chat-event.js';
import { shapesOf } from '../protocol/protocols.js';
import { factReader } from './fact-reader.js';
import type { RunEndFact, RunFact } from './run-fact.js';

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
  /** `chat`: the gateway's accumulated text is wanted, as far as its protocol has all of it there. */
  readonly listen: 'agent' | 'chat';
  /** Someone dispatches this run, so that a bridge leaves it alone. */
  readonly isDriven: boolean;
  readonly newId: () => string;
  readonly logger: Logger;
  /** Sees the tool events. */
  readonly onTool: ((event: AgentEventPayload) => void) | undefined;
  /** Is told each fact, an `end` last and once. */
  readonly report: (fact: RunFact) => void;
}

/**
 * One message on its way through the gateway: sent once, its events read until its end, whatever that is. After the end
 * nothing of it is left: no callback, no timer, no listener (stream §4).
 */
export class GatewayRun {
  readonly #request: RunRequest;
  readonly #with: GatewayRunOptions;
  readonly #waiting = new AbortController();
  /** The id that it is registered under. */
  #registered: string | undefined;
  /** Its claim, and its listener for the state of the client. */
  readonly #held: Disposable[] = [];
  /** Its session, until the gateway has named the run: under another id a bridge would not know it. */
  #sessionClaim: Disposable | undefined;
  #state: 'unsent' | 'sent' | 'acknowledged' | 'over' = 'unsent';
  readonly #endTimer: Timer;
  readonly #idleTimer: Timer;
  readonly #graceTimer: Timer;
  readonly #facts: ReturnType<typeof factReader>;

  constructor(request: RunRequest, options: GatewayRunOptions) {
    const { clock } = options.client;
    this.#request = request;
    this.#with = options;
    this.#endTimer = new Timer(clock);
    this.#idleTimer = new Timer(clock);
    this.#graceTimer = new Timer(clock);
    this.#facts = factReader((fact) => this.#take(fact), options.isDriven);
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

  readonly #onAgent = (event: AgentEventPayload): void => {
    if (event.stream === 'tool') this.#with.onTool?.(event);
    this.#isAlive();
    this.#facts.agent(event);
  };

  readonly #onOther = (event: OtherAgentEvent): void => {
    this.#isAlive();
    this.#facts.other(event);
  };

  readonly #onChat = (event: ChatEvent): void => {
    this.#isAlive();
    this.#facts.chat(event);
    const { state: phase, text } = event;
    if (this.#readsChat && phase === 'delta' && text !== undefined)
      this.#take({ kind: 'text', text, opens: false, continues: true });
  };

  /** Registers the run with the client. @throws SluiceError `run-registered`, `too-many-runs`; then it holds nothing. */
  #register(runId: string): void {
    const { client, isDriven } = this.#with;
    if (isDriven) this.#held.push(client.claimRun(runId)); // before its first event is told
    this.#registered = runId;
    try {
      // in this order: the last of the early events is a chat's
      if (!this.#readsChat) client.registerAgentAccumulation(runId, this.#onAgent, this.#onOther);
      if (this.#isRegistered) client.registerChatAccumulation(runId, this.#onChat);
    } catch (error) {
      this.#unregister();
      throw error;
    }
    if (!this.#isRegistered) return; // an early event has ended it
    this.#held.push(
      client.onState((change) => void (change.state === 'connected' && this.#resume())),
    );
  }

  /** The text is read from `chat` events. */
  get #readsChat(): boolean {
    return this.#with.listen === 'chat' && shapesOf(this.#with.client.protocol).hasWholeChats;
  }

  get #isRegistered(): boolean {
    return this.#registered !== undefined;
  }

  get #isOver(): boolean {
    return this.#state === 'over';
  }

  /** Gives everything back that the run holds of the client. @returns the id that it was registered under. */
  #unregister(): string | undefined {
    const { client } = this.#with;
    const runId = this.#registered;
    this.#registered = undefined;
    if (runId !== undefined) {
      client.unregisterAgentAccumulation(runId, this.#onAgent);
      client.unregisterChatAccumulation(runId, this.#onChat);
    }
    for (const one of this.#held.splice(0)) one[Symbol.dispose]();
    return runId;
  }

  async #begin(): Promise<void> {
    const { sessionKey, message } = this.#request;
    const { client, isDriven, newId, sendAckTimeoutMs: timeoutMs } = this.#with;
    const bounds = { timeoutMs, signal: this.#waiting.signal };
    await client.ready(bounds);
    if (this.#isOver) return;
    const runId = newId();
    // before it is sent: the gateway tells of the run under this id, mostly
    this.#register(runId);
    if (isDriven) this.#sessionClaim = client.claimSession(sessionKey);
    this.#state = 'sent';
    let payload: unknown;
    try {
      const params = { sessionKey, message, deliver: false, idempotencyKey: runId };
      payload = await client.requestRun('chat.send', params, bounds);
    } catch (error) {
      if (isSluiceError(error) && unsent.has(error.code) && !this.#isOver) this.#state = 'unsent';
      throw error;
    }
    if (!this.#isOver) this.#acknowledged(payload, runId);
  }

  #acknowledged(payload: unknown, proposed: string): void {
    this.#state = 'acknowledged';
    const answer = acknowledgementOf(payload, proposed);
    if (answer.kind === 'handled') return void this.#end({ kind: 'end', how: 'done' });
    if (answer.kind === 'failed') return void this.#failed('agent', answer.message);
    const { agentTimeoutMs } = this.#with;
    this.#endTimer.set(agentTimeoutMs, () =>
      this.#failed('time', `the agent has not ended within ${agentTimeoutMs} ms`, 'stop'),
    );
    this.#isAlive();
    if (answer.runId !== proposed) {
      this.#unregister();
      this.#register(answer.runId); // the gateway has named it otherwise
    }
    this.#sessionClaim?.[Symbol.dispose]();
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
    const runId = this.#registered;
    if (this.#state !== 'acknowledged' || runId === undefined) return;
    try {
      const params = { runId, timeoutMs: 1 };
      const { signal } = this.#waiting;
      const answer = await client.request('agent.wait', params, { signal });
      const { status, error }: Record<string, unknown> = Object(answer);
      if (status === 'error' && typeof error === 'string') this.#failed('agent', error);
      else if (status === 'ok' || status === 'error')
        this.#failed('gateway', 'the run ended while the gateway was not connected');
    } catch (error) {
      logger.debug('whether a run goes on could not be asked', { runId, error });
    }
  }

  #take(fact: RunFact): void {
    if (this.#isOver) return;
    const { errorGraceMs, report } = this.#with;
    const isError = fact.kind === 'end' && fact.how === 'failed' && fact.by === 'agent';
    if (isError && errorGraceMs > 0) {
      if (!this.#graceTimer.isSet) this.#graceTimer.set(errorGraceMs, () => this.#end(fact));
      return;
    }
    this.#graceTimer.clear(); // the agent tries again, or the run is over
    if (fact.kind === 'end') this.#end(fact);
    else report(fact);
  }

  #failed(by: FailedBy, message: string, then: 'stop' | 'nothing' = 'nothing'): void {
    const reachedAgent = this.#state !== 'unsent';
    this.#end({ kind: 'end', how: 'failed', by, message, reachedAgent }, then);
  }

  /** @param then `stop`: the end was decided here, so the agent may still be at work. */
  #end(fact: RunEndFact, then: 'stop' | 'nothing' = 'nothing'): void {
    if (this.#isOver) return;
    const { client, report } = this.#with;
    const wasSent = this.#state !== 'unsent';
    this.#state = 'over';
    for (const timer of [this.#endTimer, this.#idleTimer, this.#graceTimer]) timer.clear();
    this.#waiting.abort();
    const runId = this.#unregister();
    this.#sessionClaim?.[Symbol.dispose]();
    if (then === 'stop' && wasSent && runId !== undefined) this.#stopAgent(runId);
    report(fact.how === 'failed' ? { ...fact, message: client.redact(fact.message) } : fact);
  }

  /** Nobody waits for the answer any more. Best effort: without a connection there is nothing to be done. */
  #stopAgent(runId: string): void {
    const { client, logger, sendAckTimeoutMs: timeoutMs } = this.#with;
    const run = { sessionKey: this.#request.sessionKey, runId };
    if (client.state !== 'connected') return;
    client
      .request('chat.abort', run, { timeoutMs })
      .catch((error: unknown) => logger.debug('a run was not stopped', { ...run, error }));
  }
}

type FailedBy = Extract<RunEndFact, { how: 'failed' }>['by'];

/** Errors of a request that say that it was not taken. */
const unsent: ReadonlySet<string> = new Set(['gateway-refused', 'gateway-busy', 'client-stopped']);

/** How a gateway answers a message. */
type Acknowledgement =
  | { readonly kind: 'started'; readonly runId: string }
  /** It was no message for an agent: a word that stops the session's runs. */
  | { readonly kind: 'handled' }
  | { readonly kind: 'failed'; readonly message: string };

/** Reads the answer to `chat.send`. @param runId the id that was proposed, where it names none. */
function acknowledgementOf(payload: unknown, runId: string): Acknowledgement {
  const answer: Record<string, unknown> = Object(payload);
  const { status, summary, aborted } = answer;
  if (status === 'error')
    return {
      kind: 'failed',
      message: typeof summary === 'string' && summary !== '' ? summary : 'the agent failed',
    };
  if (typeof answer.runId === 'string' && answer.runId !== '')
    return { kind: 'started', runId: answer.runId };
  return aborted === undefined ? { kind: 'started', runId } : { kind: 'handled' };
}
