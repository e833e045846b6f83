import { type Clock, Timer } from '../../kernel/index.js';
import { gatewayError } from '../errors.js';
import type { ClientIntroduction } from '../protocol/connect-params.js';
import {
  type GatewayEvent,
  type ResponseFrame,
  readFrame,
  requestText,
} from '../protocol/frame.js';
import type { Hello } from '../protocol/hello.js';
import type { ClientLimits, ReconnectOptions } from './client-options.js';
import type { ClientState } from './client-state.js';
import { GatewaySocket } from './gateway-socket.js';
import { Handshake, type HandshakeStep } from './handshake.js';
import type { ClientCounters } from './routes/client-stats.js';

/** A gateway that has sent nothing for so many of its ticks is gone, whatever the platform says. */
const silentTicks = 2.5;

/** The options of a connection. */
export interface ConnectionOptions {
  readonly url: URL;
  readonly introduction: ClientIntroduction;
  readonly limits: ClientLimits;
  readonly reconnect: ReconnectOptions;
  readonly clock: Clock;
  readonly random: () => number;
  readonly counters: ClientCounters;
  readonly redact: (text: string) => string;
  readonly listener: ConnectionListener;
}

/** Hears a connection. */
export interface ConnectionListener {
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
  readonly #with: ConnectionOptions;
  #state: ClientState = 'idle';
  #socket: GatewaySocket | undefined;
  /** Of the handshake, of the watch for silence, or of the next attempt: one at a time. */
  readonly #timer: Timer;
  #handshake: Handshake | undefined;
  #failures = 0;
  #isRefused = false;
  #problem: string | undefined;
  #lastFrameMs = 0;
  #attempt = 0;

  constructor(options: ConnectionOptions) {
    this.#with = options;
    this.#timer = new Timer(options.clock);
  }

  get state(): ClientState {
    return this.#state;
  }

  /** Why the last connection was lost, or did not come about. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** The gateway has answered the last attempt with a no: another one soon will not help. */
  get isRefused(): boolean {
    return this.#isRefused;
  }

  start(): void {
    if (this.#state === 'idle') this.#connect();
  }

  stop(): void {
    if (this.#state === 'stopped') return;
    this.#timer.clear();
    this.#enter('stopped'); // before the socket ends: nothing is tried again
    this.#socket?.end('the client was stopped');
  }

  /** Puts a request on the wire. @throws SluiceError `gateway-disconnected`, `gateway-busy`. */
  send(id: string, method: string, params: unknown): void {
    if (this.#state !== 'connected') throw gatewayError('gateway-disconnected', { method });
    this.#send(id, method, params);
  }

  #send(id: string, method: string, params: unknown): void {
    const { limits, counters } = this.#with;
    const socket = this.#socket;
    if (socket === undefined) throw gatewayError('gateway-disconnected', { method });
    if (socket.bufferedBytes > limits.maxBufferedBytes)
      throw gatewayError('gateway-busy', {
        method,
        problem: `${socket.bufferedBytes} bytes wait to be sent`,
      });
    counters.framesSent++;
    socket.send(requestText(id, method, params));
  }

  #connect(): void {
    const { url, introduction, limits, clock, counters } = this.#with;
    const attempt = ++this.#attempt;
    this.#handshake = new Handshake(introduction, clock, `connect-${attempt}`);
    this.#isRefused = false;
    this.#enter('connecting');
    this.#timer.set(limits.handshakeTimeoutMs, () => {
      this.#socket?.end(`it did not answer within ${limits.handshakeTimeoutMs} ms`);
    });
    this.#socket = new GatewaySocket(url, limits, clock, {
      text: (text) => this.#take(text),
      dropped: (why) => {
        counters.framesReceived++;
        if (why === 'binary') counters.binaryFrames++;
        else counters.oversizedFrames++;
      },
      closed: (reason) => {
        if (attempt === this.#attempt) this.#lost(reason);
      },
    });
  }

  #take(text: string): void {
    const { counters, listener, clock } = this.#with;
    const read = readFrame(text);
    counters.framesReceived++;
    this.#lastFrameMs = clock.monotonicMs();
    if (read.kind === 'malformed') counters.malformedFrames++;
    else if (read.kind === 'unknown') counters.unknownFrames++;
    else if (read.kind === 'response') {
      if (this.#handshake === undefined) listener.response(read.frame);
      else this.#shakeHands(this.#handshake.response(read.frame));
    } else {
      if (this.#handshake === undefined) listener.event(read.frame, text.length);
      else this.#shakeHands(this.#handshake.event(read.frame));
    }
  }

  #shakeHands(step: HandshakeStep): void {
    if (step.do === 'send') this.#send(step.id, 'connect', step.params);
    else if (step.do === 'welcome') this.#welcome(step.hello);
    else if (step.do === 'refuse') {
      this.#isRefused = true;
      this.#socket?.end(step.problem);
    }
  }

  #welcome(hello: Hello): void {
    const { counters, listener } = this.#with;
    this.#timer.clear();
    this.#handshake = undefined;
    this.#failures = 0;
    this.#problem = undefined;
    counters.connections++;
    const { tickIntervalMs } = hello.policy ?? {};
    if (tickIntervalMs !== undefined) this.#watch(Math.max(1_000, tickIntervalMs));
    listener.welcome(hello);
    this.#enter('connected');
  }

  /** Ends a connection that has gone silent: a cable that was pulled says nothing. */
  #watch(tickMs: number): void {
    const { clock } = this.#with;
    this.#timer.setIdly(tickMs, () => {
      const silentMs = clock.monotonicMs() - this.#lastFrameMs;
      if (silentMs > silentTicks * tickMs) this.#socket?.end(`it was silent for ${silentMs} ms`);
      else this.#watch(tickMs);
    });
  }

  #lost(reason: string): void {
    const { reconnect, random, redact, counters } = this.#with;
    this.#socket = undefined;
    this.#timer.clear();
    if (this.#state === 'stopped') return;
    counters.failedConnections++;
    this.#failures++;
    this.#problem = redact(reason);
    this.#enter('waiting', this.#problem);
    if (this.state !== 'waiting') return; // a listener has stopped it
    const delayMs = this.#isRefused
      ? reconnect.maxDelayMs
      : backoffMs(reconnect, this.#failures, random);
    this.#timer.set(delayMs, () => this.#connect());
  }

  #enter(state: ClientState, problem?: string): void {
    this.#state = state;
    this.#with.listener.state(state, problem);
  }
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
