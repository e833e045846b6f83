import { setMaxListeners } from 'node:events';
import type { Interactive } from '../../channel/index.js';
import type { ExtensionStatus, Figures, ReloadResult } from '../../extension/index.js';
import { deferred, definedFields, type Kernel } from '../../kernel/index.js';
import { sendOwn } from '../egress/own-send.js';
import { hostError } from '../errors.js';
import type { JournalCounts } from '../journal/journal-counts.js';
import type { SendReport } from '../journal/message-end.js';
import type { HostStats } from '../parts/counts.js';
import { partsOf } from '../parts/make-parts.js';
import type { HostOptions } from '../parts/options.js';
import type { HostParts } from '../parts/parts.js';
import { type HttpRoutes, hostRoutes } from '../routes/host-routes.js';
import type { HostState } from './host-health.js';
import { type HostHealth, healthOf } from './host-health.js';
import {
  loadAll,
  type Running,
  release,
  type StartReport,
  type StopReport,
  startAll,
  stopAll,
} from './lifecycle.js';

/** A message that nobody asked for: a reminder, a report. */
export interface UnpromptedMessage {
  /** Named together with `accountId`, the message goes there and nowhere else. */
  readonly channel?: string;
  readonly accountId?: string;
  /** The address, as its channel writes it. */
  readonly to: string;
  readonly content: string;
  readonly threadId?: string;
  /** The buttons, the list and the form under it. */
  readonly interactive?: Interactive;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal;
}

declare module '../../extension/define/extension-host.js' {
  interface Figures {
    readonly stats: HostStats;
    /** Its kernel's counts with the handlers in quarantine, its accounts, its extensions. */
    readonly health: HostHealth;
    /** The updates and sends in the journal that have not ended, and the dead letters. */
    readonly journal: JournalCounts;
  }
}

/** A schedule of an extension that is live. */
export interface ScheduleStatus {
  readonly extensionId: string;
  readonly name: string;
  /** Milliseconds since 1970; nothing if it is not due again. */
  readonly nextDueAt?: number;
}

/** How a stop is done. */
export interface StopOptions {
  /** Told to handlers; by default `stopped`. */
  readonly reason?: string;
  /** Milliseconds that running messages have to be done with; by default 10 000. */
  readonly timeoutMs?: number;
}

/** A running Sluice: channels, agents and extensions around one kernel. */
export interface Host extends AsyncDisposable {
  readonly kernel: Kernel;
  readonly state: HostState;
  /** How it is now: for a monitor. */
  health(): HostHealth;
  /** The state of each extension: which are live, and why others are not. Empty before `start`. */
  readonly extensions: readonly ExtensionStatus[];
  /**
   * Reads extensions anew, and replaces them between two messages: what has begun has `reloadTimeoutMs` to end, what has not
   * waits. One that cannot be read or set up stays as it was, and the result says so.
   *
   * @param extensionId by default all of them.
   * @throws SluiceError (as a rejection) `not-running` or `unknown-extension`.
   */
  reload(extensionId?: string): Promise<readonly ReloadResult[]>;
  /**
   * Loads the extensions and starts every account. An extension or account that fails is left out, and told of.
   *
   * @throws SluiceError (as a rejection) `no-account` where none could be started, `started-before`, `unknown-agent` if no
   *   extension provides the default agent.
   */
  start(): Promise<StartReport>;
  /**
   * Sends a message of its own, through egress like any other.
   *
   * @throws SluiceError (as a rejection) `not-running`.
   */
  send(message: UnpromptedMessage): Promise<SendReport>;
  /**
   * Stops the turns that run; the host goes on. Their messages end as `aborted`, and nothing more of them is sent.
   *
   * @param sessionKey of this session alone.
   * @returns how many turns it has stopped; one that was stopped before is not counted again.
   */
  abortTurns(sessionKey?: string): number;
  /**
   * Takes nothing more in, lets the running messages end, and stops. A second call does not wait: it aborts them.
   * Never rejects. A host whose input has ended stops by itself.
   */
  stop(options?: StopOptions): Promise<StopReport>;
  /** The paths of the host's own HTTP port that extensions answer. */
  readonly routes: HttpRoutes;
  /** The schedules of the extensions that are live, with their next due times. */
  schedules(): readonly ScheduleStatus[];
  /** The work that it does now, and its counts. */
  stats(): HostStats;
  /** Resolves when the host has stopped, for any reason. */
  readonly stopped: Promise<StopReport>;
}

/**
 * Makes a host: it carries each message from its channel through every stage to an agent, and the answer back.
 *
 * @throws SluiceError `no-agent`, `duplicate-agent`, `unknown-agent`, `no-model`, `bad-option`, `duplicate-channel`
 *   or `foreign-plugin`.
 * @example
 * const host = createHost({
 *   agents: [{ id: 'main', provider: echoProvider() }],
 *   channels: [consoleChannel({ lines: readLines(process.stdin), write })],
 * });
 * await host.start();
 * await host.stopped; // when the input has ended
 */
export function createHost(options: HostOptions): Host {
  return new MessageHost(options);
}

class MessageHost implements Host {
  readonly #stopped = deferred<StopReport>();
  readonly stopped = this.#stopped.promise;
  readonly #parts: HostParts;
  readonly #hurry = new AbortController();
  #state: HostState = 'new';
  #running: Running | undefined;
  #starting: Promise<StartReport> | undefined;

  constructor(options: HostOptions) {
    setMaxListeners(0, this.#hurry.signal); // each message that runs listens to it
    this.#parts = partsOf(options, this.#hurry.signal);
  }

  get kernel(): Kernel {
    return this.#parts.kernel;
  }

  get state(): HostState {
    return this.#state;
  }

  get routes(): HttpRoutes {
    return hostRoutes(this.#parts, () => this.#state === 'running');
  }

  health(): HostHealth {
    return healthOf(this.#parts, this.#state, this.#running ?? {});
  }

  get extensions(): readonly ExtensionStatus[] {
    return this.#parts.extensions.statuses;
  }

  async reload(extensionId?: string): Promise<readonly ReloadResult[]> {
    if (this.#state !== 'running') throw hostError('not-running', { what: this.#state });
    return this.#parts.extensions.reload(extensionId);
  }

  async start(): Promise<StartReport> {
    if (this.#state !== 'new') throw hostError('started-before', { what: this.#state });
    this.#state = 'starting';
    this.#starting = this.#start();
    return this.#starting;
  }

  async send(message: UnpromptedMessage): Promise<SendReport> {
    if (this.#state !== 'running') throw hostError('not-running', { what: this.#state });
    const { signal, metadata, ...named } = message;
    const own = { ...named, ...(metadata !== undefined && { metadata: { ...metadata } }) };
    const { ended } = await sendOwn(this.#parts, own, definedFields({ signal }));
    return ended;
  }

  abortTurns(sessionKey?: string): number {
    return this.#parts.turns.abort(sessionKey);
  }

  schedules(): readonly ScheduleStatus[] {
    const { takenOver, clock } = this.#parts;
    return takenOver.registered('schedule').map(({ extensionId, registration }) => {
      const { name, value } = registration;
      return { extensionId, name, ...definedFields({ nextDueAt: value.nextDue(clock.now()) }) };
    });
  }

  stats(): HostStats {
    const { counts, conversationLanes, running, sendEnds, journal } = this.#parts;
    return {
      ...counts,
      conversations: conversationLanes.size,
      waiting: conversationLanes.jobs,
      running: running.taken,
      sends: { ...sendEnds },
      ...(journal.outlivesHost && { journal: journal.stats() }),
    };
  }

  async stop({ reason = 'stopped', timeoutMs = 10_000 }: StopOptions = {}): Promise<StopReport> {
    if (this.#state === 'stopping') this.#hurry.abort();
    if (this.#state === 'stopping' || this.#state === 'stopped') return this.stopped;
    this.#state = 'stopping';
    const hasStarted = await this.#starting?.then(
      () => true,
      () => false, // its failed start has stopped it
    );
    if (hasStarted === false) return this.stopped;
    const running = this.#running;
    if (running === undefined) await release(this.#parts); // it was never started
    const report =
      running === undefined
        ? { reason, drained: true, abandoned: 0 }
        : await stopAll(this.#parts, running, { reason, timeoutMs, hurry: this.#hurry });
    this.#state = 'stopped';
    this.#stopped.resolve(report);
    return report;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  /** The figures for taps of extensions (extensions-that-act §8.4). */
  async #figures(): Promise<Figures> {
    const journal = await this.#parts.journal.counts();
    return { stats: this.stats(), health: this.health(), journal };
  }

  async #start(): Promise<StartReport> {
    try {
      this.#running = await loadAll(this.#parts, () => this.#figures());
    } catch (error) {
      await release(this.#parts);
      this.#state = 'stopped';
      this.#stopped.resolve({ reason: 'it could not be started', drained: true, abandoned: 0 });
      throw error;
    }
    try {
      const report = await startAll(
        this.#parts,
        this.#running,
        (reason) => void this.stop({ reason, timeoutMs: Number.POSITIVE_INFINITY }),
      );
      if (this.#state === 'starting') this.#state = 'running';
      return report;
    } catch (error) {
      this.#state = 'stopping';
      const how = { reason: 'it could not be started', timeoutMs: 0, hurry: this.#hurry };
      const report = await stopAll(this.#parts, this.#running, how);
      this.#state = 'stopped';
      this.#stopped.resolve(report);
      throw error;
    }
  }
}
