import { type Clock, systemClock, Timer } from 'sluice-kernel/internal';
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
import { isSpoken, maxProtocol, minProtocol } from '../protocol/protocols.js';
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

/** The connection to a gateway that is made again whenever it is lost: stream §2. */
export class Connection {
  readonly #with: OpenClawClientOptions;
  readonly #limits: ClientLimits;
  readonly #counters: ClientCounters;
  readonly #redact: (text: string) => string;
  readonly #listener: ConnectionListener;
  readonly #clock: Clock;
  readonly #url: URL;
  readonly #reconnect: ReconnectOptions;
  #state: ClientState = 'idle';
  #current: GatewaySocket | undefined;
  /** How far the handshake of the connection is. */
  #greeting: 'awaited' | 'answered' | 'done' = 'awaited';
  #failures = 0;
  #refused: Standing['refused'];
  #problem: string | undefined;
  #lastFrameMs = 0;
  #attempts = 0;
  /** Of the handshake, of the watch for silence, or of the next attempt: one at a time. */
  readonly #timer: Timer;

  /** @throws SluiceError `bad-client-option`. */
  constructor(
    options: OpenClawClientOptions,
    limits: ClientLimits,
    counters: ClientCounters,
    redact: (text: string) => string,
    listener: ConnectionListener,
  ) {
    this.#with = options;
    this.#limits = limits;
    this.#counters = counters;
    this.#redact = redact;
    this.#listener = listener;
    this.#clock = options.clock ?? systemClock;
    this.#url = urlOf(options);
    this.#reconnect = reconnectOf(options);
    this.#timer = new Timer(this.#clock);
  }

  get state(): ClientState {
    return this.#state;
  }

  get standing(): Standing {
    return { state: this.#state, problem: this.#problem, refused: this.#refused };
  }

  start(): void {
    if (this.#state === 'idle') this.#connect();
  }

  stop(): void {
    if (this.#state === 'stopped') return;
    this.#timer.clear();
    this.#enter('stopped'); // before the socket ends: nothing is tried again
    this.#current?.end('the client was stopped');
  }

  /** Puts a request on the wire. @throws SluiceError `gateway-disconnected`, `gateway-busy`. */
  send(id: string, method: string, params: unknown): void {
    if (this.#state !== 'connected') throw gatewayError('gateway-disconnected', { method });
    this.#put(id, method, params);
  }

  #put(id: string, method: string, params: unknown): void {
    const socket = this.#current;
    if (socket === undefined) throw gatewayError('gateway-disconnected', { method });
    const bytes = socket.bufferedBytes();
    if (bytes > this.#limits.maxBufferedBytes)
      throw gatewayError('gateway-busy', { method, problem: `${bytes} bytes wait to be sent` });
    this.#counters.framesSent++;
    socket.send(requestText(id, method, params));
  }

  #connect(): void {
    const { handshakeTimeoutMs } = this.#limits;
    const attempt = ++this.#attempts;
    this.#greeting = 'awaited';
    this.#refused = undefined;
    this.#enter('connecting');
    this.#timer.set(handshakeTimeoutMs, () => {
      this.#current?.end(`it did not answer within ${handshakeTimeoutMs} ms`);
    });
    this.#current = gatewaySocket(this.#url, this.#limits, this.#clock, {
      text: (text) => this.#take(text),
      dropped: (why) => {
        this.#counters.framesReceived++;
        if (why === 'binary') this.#counters.binaryFrames++;
        else this.#counters.oversizedFrames++;
      },
      closed: (reason) => {
        if (attempt === this.#attempts) this.#lost(reason);
      },
    });
  }

  #take(text: string): void {
    const read = readFrame(text);
    this.#counters.framesReceived++;
    this.#lastFrameMs = this.#clock.monotonicMs();
    if (read.kind === 'malformed') this.#counters.malformedFrames++;
    else if (read.kind === 'unknown') this.#counters.unknownFrames++;
    else if (this.#greeting !== 'done') this.#greet(read);
    else if (read.kind === 'response') this.#listener.response(read.frame);
    else this.#listener.event(read.frame, text.length);
  }

  /** Takes a step of the handshake: the gateway challenges, the client answers, the gateway welcomes it or does not. */
  #greet(read: Extract<ReadFrame, { readonly frame: unknown }>): void {
    const connectId = `connect-${this.#attempts}`;
    if (read.kind === 'event') {
      if (read.frame.event !== 'connect.challenge' || this.#greeting !== 'awaited') return;
      const nonce = nonceOf(read.frame.payload);
      if (nonce === undefined) return void this.#refuse('its challenge has no nonce');
      this.#greeting = 'answered';
      this.#put(connectId, 'connect', connectParams(this.#with, nonce, this.#clock.now()));
    } else if (read.frame.id === connectId && this.#greeting === 'answered') {
      const { ok, payload, error } = read.frame;
      const hello = ok ? readHello(payload) : undefined;
      const { code, message, protocol, isTemporary } = refusalOf(error);
      if (hello !== undefined && isSpoken(hello.protocol)) this.#welcome(hello);
      else if (ok) this.#refuse(foreign(hello?.protocol), 'protocol');
      else if (protocol !== undefined) this.#refuse(foreign(protocol), 'protocol');
      else if (isTemporary) this.#current?.end(`it takes no client yet (${code}: ${message})`);
      else this.#refuse(`it refuses this client (${code}: ${message})`);
    }
  }

  #refuse(why: string, refused: Standing['refused'] = 'client'): void {
    this.#refused = refused;
    this.#current?.end(why);
  }

  #welcome(hello: Hello): void {
    this.#timer.clear();
    this.#greeting = 'done';
    this.#failures = 0;
    this.#problem = undefined;
    this.#counters.connections++;
    const { tickIntervalMs } = hello.policy ?? {};
    if (tickIntervalMs !== undefined) this.#watch(Math.max(1_000, tickIntervalMs));
    this.#listener.welcome(hello);
    this.#enter('connected');
  }

  /** Ends a connection that has gone silent: a cable that was pulled says nothing. */
  #watch(tickMs: number): void {
    this.#timer.setIdly(tickMs, () => {
      const silentMs = this.#clock.monotonicMs() - this.#lastFrameMs;
      if (silentMs > silentTicks * tickMs) this.#current?.end(`it was silent for ${silentMs} ms`);
      else this.#watch(tickMs);
    });
  }

  #lost(reason: string): void {
    this.#current = undefined;
    this.#timer.clear();
    if (this.#state === 'stopped') return;
    this.#counters.failedConnections++;
    this.#failures++;
    this.#problem = this.#redact(reason);
    this.#enter('waiting', this.#problem);
    if (this.state !== 'waiting') return; // a listener has stopped it
    const { random = Math.random } = this.#with;
    const delayMs = this.#refused
      ? this.#reconnect.maxDelayMs
      : backoffMs(this.#reconnect, this.#failures, random);
    this.#timer.set(delayMs, () => this.#connect());
  }

  #enter(state: ClientState, problem?: string): void {
    this.#state = state;
    this.#listener.state(state, problem);
  }
}

/** That a gateway and this client have no protocol in common. */
function foreign(protocol: number | 'unnamed' | undefined): string {
  const theirs =
    typeof protocol === 'number' ? `protocol ${protocol}` : 'a protocol without a number';
  return `it speaks ${theirs}, and this client ${minProtocol} to ${maxProtocol}`;
}

/** Milliseconds before the next attempt to connect. @param failures the attempts that have failed in a row, from 1. */
function backoffMs(
  { firstDelayMs, factor, maxDelayMs, jitter }: ReconnectOptions,
  failures: number,
  random: () => number,
): number {
  const delayMs = Math.min(maxDelayMs, firstDelayMs * factor ** (failures - 1));
  return Math.round(delayMs * (1 + jitter * random()));
}
