import type { AgentEventPayload } from '@sluice/sdk/stream';
import { isSluiceError, type Logger, oneLine, Timer } from 'sluice-kernel/internal';
import type { OpenClawClient } from '../client/client.js';
import type { OtherAgentEvent } from '../protocol/agent-event.js';
import type { ChatEvent } from '../protocol/chat-event.js';
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
  /** `chat`: only the accumulated text is wanted. */
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
export function gatewayRun(request: RunRequest, options: GatewayRunOptions) {
  const { client, listen, onTool, isDriven, newId, logger, report } = options;
  const { sendAckTimeoutMs, agentTimeoutMs, idleTimeoutMs, errorGraceMs } = options;
  const waiting = new AbortController();
  /** The id that it is registered under. */
  let registered: string | undefined;
  /** Its claim, and its listener for the state of the client. */
  const held: Disposable[] = [];
  /** Its session, until the gateway has named the run: under another id a bridge would not know it. */
  let sessionClaim: Disposable | undefined;
  let state: 'unsent' | 'sent' | 'acknowledged' | 'over' = 'unsent';
  const endTimer = new Timer(client.clock);
  const idleTimer = new Timer(client.clock);
  const graceTimer = new Timer(client.clock);
  const facts = factReader((fact) => take(fact), isDriven);

  function onAgent(event: AgentEventPayload): void {
    if (event.stream === 'tool') onTool?.(event);
    isAlive();
    facts.agent(event);
  }

  function onOther(event: OtherAgentEvent): void {
    isAlive();
    facts.other(event);
  }

  function onChat(event: ChatEvent): void {
    isAlive();
    facts.chat(event);
    const { state: phase, text } = event;
    if (listen === 'chat' && phase === 'delta' && text !== undefined)
      take({ kind: 'text', text, opens: false, continues: true });
  }

  /** Registers the run with the client. @throws SluiceError `run-registered`, `too-many-runs`; then it holds nothing. */
  function register(runId: string): void {
    if (isDriven) held.push(client.claimRun(runId)); // before its first event is told
    registered = runId;
    try {
      // in this order: the last of the early events is a chat's
      if (listen === 'agent') client.registerAgentAccumulation(runId, onAgent, onOther);
      if (registered !== undefined) client.registerChatAccumulation(runId, onChat);
    } catch (error) {
      unregister();
      throw error;
    }
    if (registered === undefined) return; // an early event has ended it
    held.push(client.onState((change) => void (change.state === 'connected' && resume())));
  }

  /** Gives everything back that the run holds of the client. @returns the id that it was registered under. */
  function unregister(): string | undefined {
    const runId = registered;
    registered = undefined;
    if (runId !== undefined) {
      client.unregisterAgentAccumulation(runId, onAgent);
      client.unregisterChatAccumulation(runId, onChat);
    }
    for (const one of held.splice(0)) one[Symbol.dispose]();
    return runId;
  }

  async function begin(): Promise<void> {
    const { sessionKey, message } = request;
    const bounds = { timeoutMs: sendAckTimeoutMs, signal: waiting.signal };
    await client.ready(bounds);
    if (isOver()) return;
    const runId = newId();
    // before it is sent: the gateway tells of the run under this id, mostly
    register(runId);
    if (isDriven) sessionClaim = client.claimSession(sessionKey);
    state = 'sent';
    let payload: unknown;
    try {
      const params = { sessionKey, message, deliver: false, idempotencyKey: runId };
      payload = await client.requestRun('chat.send', params, bounds);
    } catch (error) {
      if (isSluiceError(error) && unsent.has(error.code) && !isOver()) state = 'unsent';
      throw error;
    }
    if (!isOver()) acknowledged(payload, runId);
  }

  function acknowledged(payload: unknown, proposed: string): void {
    state = 'acknowledged';
    const answer = acknowledgementOf(payload, proposed);
    if (answer.kind === 'handled') end({ kind: 'end', how: 'done' });
    else if (answer.kind === 'failed') failed('agent', answer.message);
    else {
      endTimer.set(agentTimeoutMs, () =>
        failed('time', `the agent has not ended within ${agentTimeoutMs} ms`, 'stop'),
      );
      isAlive();
      if (answer.runId !== proposed) {
        unregister();
        register(answer.runId); // the gateway has named it otherwise
      }
      sessionClaim?.[Symbol.dispose]();
    }
  }
  const isOver = (): boolean => state === 'over';

  function isAlive(): void {
    if (isOver()) return;
    idleTimer.set(idleTimeoutMs, () =>
      failed('time', `nothing was heard of the agent for ${idleTimeoutMs} ms`, 'stop'),
    );
  }

  /** The connection is there again. The end of the run may have been told while it was not. */
  async function resume(): Promise<void> {
    const runId = registered;
    if (state !== 'acknowledged' || runId === undefined) return;
    try {
      const params = { runId, timeoutMs: 1 };
      const answer = await client.request('agent.wait', params, { signal: waiting.signal });
      const { status, error }: Record<string, unknown> = Object(answer);
      if (status === 'error' && typeof error === 'string') failed('agent', error);
      else if (status === 'ok' || status === 'error')
        failed('gateway', 'the run ended while the gateway was not connected');
    } catch (error) {
      logger.debug('whether a run goes on could not be asked', { runId, error });
    }
  }

  function take(fact: RunFact): void {
    if (isOver()) return;
    const isError = fact.kind === 'end' && fact.how === 'failed' && fact.by === 'agent';
    if (isError && errorGraceMs > 0) {
      if (!graceTimer.isSet) graceTimer.set(errorGraceMs, () => end(fact));
      return;
    }
    graceTimer.clear(); // the agent tries again, or the run is over
    if (fact.kind === 'end') end(fact);
    else report(fact);
  }

  function failed(
    by: 'agent' | 'gateway' | 'time' | 'reader',
    message: string,
    then: 'stop' | 'nothing' = 'nothing',
  ): void {
    const reachedAgent = state !== 'unsent';
    end({ kind: 'end', how: 'failed', by, message, reachedAgent }, then);
  }

  /** @param then `stop`: the end was decided here, so the agent may still be at work. */
  function end(fact: RunEndFact, then: 'stop' | 'nothing' = 'nothing'): void {
    if (isOver()) return;
    const { sessionKey } = request;
    const wasSent = state !== 'unsent';
    state = 'over';
    for (const timer of [endTimer, idleTimer, graceTimer]) timer.clear();
    waiting.abort();
    const runId = unregister();
    sessionClaim?.[Symbol.dispose]();
    if (then === 'stop' && wasSent && runId !== undefined) stopAgent({ sessionKey, runId });
    report(fact.how === 'failed' ? { ...fact, message: client.redact(fact.message) } : fact);
  }

  /** Nobody waits for the answer any more. Best effort: without a connection there is nothing to be done. */
  function stopAgent(run: { readonly sessionKey: string; readonly runId: string }): void {
    if (client.state !== 'connected') return;
    client
      .request('chat.abort', run, { timeoutMs: sendAckTimeoutMs })
      .catch((error: unknown) => logger.debug('a run was not stopped', { ...run, error }));
  }

  return {
    /** Sends the message. Everything that comes of it is told. */
    start(): void {
      begin().catch((error: unknown) => {
        const message = isSluiceError(error) ? error.message : oneLine(error);
        failed('gateway', message, 'stop');
      });
    },

    /** Stops the agent, and tells that the run was aborted. */
    abort: (): void => end({ kind: 'end', how: 'aborted' }, 'stop'),

    /** Ends it for a reason of its reader's. */
    fail: (message: string): void => failed('reader', message, 'stop'),
  };
}

/** The parts of `gatewayRun` that others use. */
export type GatewayRun = ReturnType<typeof gatewayRun>;

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
