import { setMaxListeners } from 'node:events';
import type { JournalCounts, SendReport } from '@sluice/journal';
import type { Interactive } from '@sluice/sdk/channel';
import type { ExtensionStatus, Figures, ReloadResult } from '@sluice/sdk/extension';
import { deferred, definedFields, type Kernel, onAbort } from 'sluice-kernel/internal';
import { hostError } from '../errors.js';
import type { HostStats } from '../parts/counts.js';
import { givenOptions } from '../parts/given-options.js';
import { partsOf } from '../parts/make-parts.js';
import type { HostOptions, HostProgram } from '../parts/options.js';
import { sendFromAny } from '../receive/hand-send.js';
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
interface UnpromptedMessage {
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

declare module '@sluice/sdk/extension' {
  interface Figures {
    readonly stats: HostStats;
    /** Its kernel's counts with the handlers in quarantine, its accounts, its extensions. */
    readonly health: HostHealth;
    /** The updates and sends in the journal that have not ended, and the dead letters. */
    readonly journal: JournalCounts;
  }
}

/** A schedule of an extension that is live. */
interface ScheduleStatus {
  readonly extensionId: string;
  readonly name: string;
  /** Milliseconds since 1970; nothing if it is not due again. */
  readonly nextDueAt?: number;
}

/** How a stop is done. */
interface StopOptions {
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
 * @param config the settings of a config file, with live objects in the place of names and paths.
 * @param program the parts that no config can hold, such as a clock, a logger and functions that are told.
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
export function createHost(config: HostOptions & HostProgram, program: HostProgram = {}): Host {
  const hurry = new AbortController();
  setMaxListeners(0, hurry.signal); // each message that runs listens to it
  const parts = partsOf(givenOptions(config, program), hurry.signal);
  const { kernel, clock, extensions, claimed, turns } = parts;
  const { promise: stopped, resolve: reportStopped } = deferred<StopReport>();
  let state: HostState = 'new';
  let running: Running | undefined;
  let starting: Promise<StartReport> | undefined;
  const mustRun = (): void => {
    if (state !== 'running') throw hostError('not-running', { what: state });
  };
  const end = (report: StopReport): StopReport => {
    state = 'stopped';
    reportStopped(report);
    return report;
  };

  const health = (): HostHealth => healthOf(parts, state, running ?? {});
  const stats = (): HostStats => ({
    ...parts.counts,
    conversations: parts.backlog.lanes.size,
    waiting: parts.room.size,
    running: parts.running.taken,
    sends: { ...parts.sendEnds },
    ...(parts.backlog.mayDefer && { journal: parts.journal.stats() }),
  });
  /** The figures for taps of extensions (extensions-that-act §8.4). */
  const figures = async (): Promise<Figures> => {
    const journal = await parts.journal.counts();
    return { stats: stats(), health: health(), journal };
  };

  /** Another host has the journal: nothing more of this one counts. */
  const leave = (): void => {
    const error: unknown = parts.journal.lost?.reason;
    parts.logger.error('another host has taken the journal over: this host stops', { error });
    hurry.abort();
    void stop({ reason: 'the journal is lost', timeoutMs: 0 });
  };

  const start = async (): Promise<StartReport> => {
    const reason = 'it could not be started';
    try {
      running = await loadAll(parts, figures);
    } catch (error) {
      await release(parts);
      end({ reason, drained: true, abandoned: 0 });
      throw error;
    }
    try {
      const report = await startAll(parts, running, (why) => {
        void stop({ reason: why, timeoutMs: Number.POSITIVE_INFINITY });
      });
      if (state === 'starting') state = 'running';
      running.watches.push(onAbort(parts.journal.lost, leave));
      return report;
    } catch (error) {
      state = 'stopping';
      end(await stopAll(parts, running, { reason, timeoutMs: 0, hurry }));
      throw error;
    }
  };

  const stop = async ({
    reason = 'stopped',
    timeoutMs = 10_000,
  }: StopOptions = {}): Promise<StopReport> => {
    if (state === 'stopping') hurry.abort();
    if (state === 'stopping' || state === 'stopped') return stopped;
    state = 'stopping';
    const hasStarted = await starting?.then(
      () => true,
      () => false, // its failed start has stopped it
    );
    if (hasStarted === false) return stopped;
    if (running !== undefined)
      return end(await stopAll(parts, running, { reason, timeoutMs, hurry }));
    await release(parts); // it was never started
    return end({ reason, drained: true, abandoned: 0 });
  };

  return {
    ...{ kernel, stopped, health, stats, stop },
    routes: hostRoutes(parts, () => state === 'running'),
    get state() {
      return state;
    },
    get extensions() {
      return extensions.statuses;
    },
    reload: async (extensionId) => {
      mustRun();
      return extensions.reload(extensionId);
    },
    start: async () => {
      if (state !== 'new') throw hostError('started-before', { what: state });
      state = 'starting';
      starting = start();
      return starting;
    },
    send: async ({ signal, metadata, ...named }) => {
      mustRun();
      const own = { ...named, ...(metadata !== undefined && { metadata: { ...metadata } }) };
      const { ended } = await sendFromAny(parts, own, definedFields({ signal }));
      return ended;
    },
    abortTurns: (sessionKey) => turns.abort(sessionKey),
    schedules: () =>
      claimed.registered('schedule').map(({ extensionId, registration: { name, value } }) => ({
        ...{ extensionId, name },
        ...definedFields({ nextDueAt: value.times?.nextDue(clock.now()) }),
      })),
    [Symbol.asyncDispose]: async () => void (await stop()),
  };
}
