import { systemClock, Timer } from 'sluice-kernel/internal';
import { gatewayError } from '../errors.js';
import { connectParams } from '../protocol/connect-params.js';
import {
  type GatewayEvent,
  type ReadFrame,
  type ResponseFrame,
  readFrame,
  refusalOf,
  requestText,
} from '../protocol/frame.js';
import { type Hello, nonceOf, readHello } from '../protocol/hello.js';
import {
  type ClientLimits,
  type OpenClawClientOptions,
  type ReconnectOptions,
  reconnectOf,
  urlOf,
} from './client-options.js';
import type { ClientState } from './client-state.js';
import { type GatewaySocket, gatewaySocket } from './gateway-socket.js';
import type { ClientCounters } from './routes/client-stats.js';
import type { Standing } from './until-ready.js';

/** A gateway that has sent nothing for so many of its ticks is gone, whatever the platform says. */
const silentTicks = 2.5;

/** Hears a connection. */
interface ConnectionListener {
  /** The state has changed. `problem`: why it was lost, or did not come about. */
  state(state: ClientState, problem?: string): void;
  /** The gateway has let the client in. Comes before `state('connected')`. */
  welcome(hello: Hello): void;
  response(frame: ResponseFrame): void;
  /** @param chars the length of the frame. */
  event(frame: GatewayEvent, chars: number): void;
}

/**
 * The connection to a gateway that is made again whenever it is lost: stream §2.
 *
 * @throws SluiceError `bad-client-option`.
 */
export function connection(
  options: OpenClawClientOptions,
  limits: ClientLimits,
  counters: ClientCounters,
  redact: (text: string) => string,
  listener: ConnectionListener,
) {
  const { clock = systemClock, random = Math.random } = options;
  const url = urlOf(options);
  const reconnect = reconnectOf(options);
  let stateNow: ClientState = 'idle';
  let current: GatewaySocket | undefined;
  /** How far the handshake of the connection is. */
  let greeting: 'awaited' | 'answered' | 'done' = 'awaited';
  let failures = 0;
  let isRefused = false;
  let problem: string | undefined;
  let lastFrameMs = 0;
  let attempts = 0;
  /** Of the handshake, of the watch for silence, or of the next attempt: one at a time. */
  const timer = new Timer(clock);

  function put(id: string, method: string, params: unknown): void {
    const socket = current;
    if (socket === undefined) throw gatewayError('gateway-disconnected', { method });
    const bytes = socket.bufferedBytes();
    if (bytes > limits.maxBufferedBytes)
      throw gatewayError('gateway-busy', { method, problem: `${bytes} bytes wait to be sent` });
    counters.framesSent++;
    socket.send(requestText(id, method, params));
  }

  function connect(): void {
    const attempt = ++attempts;
    greeting = 'awaited';
    isRefused = false;
    enter('connecting');
    timer.set(limits.handshakeTimeoutMs, () => {
      current?.end(`it did not answer within ${limits.handshakeTimeoutMs} ms`);
    });
    current = gatewaySocket(url, limits, clock, {
      text: (text) => take(text),
      dropped: (why) => {
        counters.framesReceived++;
        if (why === 'binary') counters.binaryFrames++;
        else counters.oversizedFrames++;
      },
      closed: (reason) => {
        if (attempt === attempts) lost(reason);
      },
    });
  }

  function take(text: string): void {
    const read = readFrame(text);
    counters.framesReceived++;
    lastFrameMs = clock.monotonicMs();
    if (read.kind === 'malformed') counters.malformedFrames++;
    else if (read.kind === 'unknown') counters.unknownFrames++;
    else if (greeting !== 'done') greet(read);
    else if (read.kind === 'response') listener.response(read.frame);
    else listener.event(read.frame, text.length);
  }

  /** Takes a step of the handshake: the gateway challenges, the client answers, the gateway welcomes it or does not. */
  function greet(read: Extract<ReadFrame, { readonly frame: unknown }>): void {
    if (read.kind === 'event') {
      if (read.frame.event !== 'connect.challenge' || greeting !== 'awaited') return;
      const nonce = nonceOf(read.frame.payload);
      if (nonce === undefined) refuse('its challenge has no nonce');
      else {
        greeting = 'answered';
        put(connectId(), 'connect', connectParams(options, nonce, clock.now()));
      }
    } else if (read.frame.id === connectId() && greeting === 'answered') {
      const { ok, payload, error } = read.frame;
      const hello = ok ? readHello(payload) : undefined;
      const { code, message } = refusalOf(error);
      if (hello !== undefined) welcome(hello);
      else if (ok) refuse('it speaks another protocol');
      else refuse(`it refuses this client (${code}: ${message})`);
    }
  }
  const connectId = (): string => `connect-${attempts}`;

  function refuse(why: string): void {
    isRefused = true;
    current?.end(why);
  }

  function welcome(hello: Hello): void {
    timer.clear();
    greeting = 'done';
    failures = 0;
    problem = undefined;
    counters.connections++;
    const { tickIntervalMs } = hello.policy ?? {};
    if (tickIntervalMs !== undefined) watch(Math.max(1_000, tickIntervalMs));
    listener.welcome(hello);
    enter('connected');
  }

  /** Ends a connection that has gone silent: a cable that was pulled says nothing. */
  function watch(tickMs: number): void {
    timer.setIdly(tickMs, () => {
      const silentMs = clock.monotonicMs() - lastFrameMs;
      if (silentMs > silentTicks * tickMs) current?.end(`it was silent for ${silentMs} ms`);
      else watch(tickMs);
    });
  }

  function lost(reason: string): void {
    current = undefined;
    timer.clear();
    if (stateNow === 'stopped') return;
    counters.failedConnections++;
    failures++;
    problem = redact(reason);
    enter('waiting', problem);
    if (stateNow !== 'waiting') return; // a listener has stopped it
    const delayMs = isRefused ? reconnect.maxDelayMs : backoffMs(reconnect, failures, random);
    timer.set(delayMs, () => connect());
  }

  function enter(state: ClientState, problem?: string): void {
    stateNow = state;
    listener.state(state, problem);
  }

  return {
    state: (): ClientState => stateNow,

    standing: (): Standing => ({ state: stateNow, problem, isRefused }),

    start(): void {
      if (stateNow === 'idle') connect();
    },

    stop(): void {
      if (stateNow === 'stopped') return;
      timer.clear();
      enter('stopped'); // before the socket ends: nothing is tried again
      current?.end('the client was stopped');
    },

    /** Puts a request on the wire. @throws SluiceError `gateway-disconnected`, `gateway-busy`. */
    send(id: string, method: string, params: unknown): void {
      if (stateNow !== 'connected') throw gatewayError('gateway-disconnected', { method });
      put(id, method, params);
    },
  };
}

/** The parts of `connection` that others use. */
export type Connection = ReturnType<typeof connection>;

/** Milliseconds before the next attempt to connect. @param failures the attempts that have failed in a row, from 1. */
function backoffMs(
  { firstDelayMs, factor, maxDelayMs, jitter }: ReconnectOptions,
  failures: number,
  random: () => number,
): number {
  const delayMs = Math.min(maxDelayMs, firstDelayMs * factor ** (failures - 1));
  return Math.round(delayMs * (1 + jitter * random()));
}
