import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { Readable, Writable } from 'node:stream';
import * as acp from '@agentclientprotocol/sdk';
import type { Clock, Logger } from 'sluice';
import type { ProgramSettings } from './config.js';

/** Milliseconds that a program has to end by itself, and its pipes to run dry. */
const endMs = 2_000;
const maxTailChars = 2_000;

/** The turn that runs in a session of a program, or what stands in its place between turns. */
export interface SessionListener {
  take(update: acp.SessionUpdate): void;
  permit(
    request: acp.RequestPermissionRequest,
    signal: AbortSignal,
  ): Promise<acp.RequestPermissionOutcome>;
}

/** A session of a program that goes on with one of ours. */
export interface KnownSession {
  readonly id: string;
  /** The number of the last prompt that it was asked, from 1. */
  heard: number;
  /** The dollars that it has cost so far; absent if that is not known, since it comes from another process. */
  spentUsd?: number | undefined;
  /** The earliest time of its next prompt, by the clock that never goes back. */
  restsUntilMs?: number;
  /** The system prompt that it was told. */
  told?: string | undefined;
}

/** A program that runs and speaks the protocol. */
export type Program = Awaited<ReturnType<typeof startProgram>>;

/** The parts of a host that a program works with. */
export interface Services {
  readonly log: Logger;
  readonly clock: Clock;
}

/**
 * Starts a program and shakes hands with it.
 *
 * @param unloaded ends it, also while it begins.
 * @param onEnd is told when it can be asked no more.
 * @returns `ask`, which rejects with an error that says what has happened to the program, and `end`, which ends those that it has
 *   started, too.
 */
export async function startProgram(
  command: string,
  settings: ProgramSettings,
  { log, clock }: Services,
  unloaded: AbortSignal,
  onEnd: () => void,
) {
  const child = new Child(command, settings, { log, clock });
  /** By the program's ids of their sessions. */
  const listeners = new Map<string, SessionListener>();
  const { gone } = child;
  const end = (why: string): Promise<void> => child.end(why);
  const letGo = (): void => void end('the host has let go of it');
  const kill = (): void => child.kill('SIGKILL');
  unloaded.addEventListener('abort', letGo);
  process.on('exit', kill); // a host that is stopped twice waits for nobody
  void gone.then(() => {
    unloaded.removeEventListener('abort', letGo); // its number may be that of another program by now
    process.off('exit', kill);
  });

  // updates come first: the first handler is called as soon as its message is read, and so before the answer to a prompt
  const connection = acp
    .client({ name: 'sluice' })
    .onNotification(acp.methods.client.session.update, ({ params }) =>
      listeners.get(params.sessionId)?.take(params.update),
    )
    .onRequest(acp.methods.client.session.requestPermission, async ({ params, signal }) => ({
      outcome: (await listeners.get(params.sessionId)?.permit(params, signal)) ?? {
        outcome: 'cancelled' as const,
      },
    }))
    .connect(
      acp.ndJsonStream(Writable.toWeb(child.io.stdin), Readable.toWeb(child.io.stdout), {
        maxMessageBytes: settings.maxFrameBytes,
      }),
    );
  void connection.closed.then(() => {
    const { reason: why } = connection.signal;
    if (why instanceof acp.MessageTooLargeError) void end(why.message);
    const timer = clock.setTimeout(() => void end('it has closed its pipes'), endMs);
    void gone.then(() => clock.clearTimeout(timer));
    onEnd();
  });

  const ask = async <T>(what: (agent: acp.ClientContext) => Promise<T>): Promise<T> => {
    try {
      return await what(connection.agent);
    } catch (error) {
      throw new Error(`${command} ${await whatHappened(error)}`, { cause: error });
    }
  };

  async function whatHappened(error: unknown): Promise<string> {
    const { message, code, data } = Object(error);
    if (!connection.signal.aborted) {
      const more = data === undefined ? '' : ` ${JSON.stringify(data).slice(0, 500)}`;
      const login = code === -32_000 ? `; log in with the program itself, or set authMethod` : '';
      return `answered with an error: ${message}${more}${login}`;
    }
    await gone;
    return child.reason ?? 'ended';
  }

  const late = `it did not answer within ${settings.startTimeoutMs} ms`;
  const timer = clock.setTimeout(() => void end(late), settings.startTimeoutMs);
  try {
    const { protocolVersion, agentCapabilities } = await ask((agent) =>
      agent.request(acp.methods.agent.initialize, {
        protocolVersion: acp.PROTOCOL_VERSION,
        clientInfo: { name: 'sluice', version: '0.2.0' },
      }),
    );
    if (protocolVersion !== acp.PROTOCOL_VERSION)
      throw new Error(
        `${command} speaks version ${protocolVersion} of the protocol, not ${acp.PROTOCOL_VERSION}: install a version of it that does`,
      );
    const { authMethod: methodId } = settings;
    if (methodId !== undefined)
      await ask((agent) => agent.request(acp.methods.agent.authenticate, { methodId }));
    /** The sessions of this process, by our ids. */
    const sessions = new Map<string, KnownSession>();
    return { capabilities: agentCapabilities ?? {}, listeners, sessions, ask, end, gone };
  } catch (error) {
    await end('it could not be begun');
    throw error;
  } finally {
    clock.clearTimeout(timer);
  }
}

/** The variables that each program gets: those that it needs to find its files and its login. */
const usual = [
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR'],
  ...['SystemRoot', 'APPDATA', 'LOCALAPPDATA', 'USERPROFILE', 'TEMP', 'PATHEXT'],
];

/** Splits a command into its words, as a shell does with quotes. Nothing else in it has a meaning. */
function wordsOf(command: string): readonly string[] {
  const words = command.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [];
  return words.map((word) => word.replace(/"([^"]*)"|'([^']*)'/g, '$1$2'));
}

/** Starts a program in a group of its own, with these variables and no others. */
function startChild(
  command: string,
  { cwd, env, passEnv }: Pick<ProgramSettings, 'cwd' | 'env' | 'passEnv'>,
): ChildProcessWithoutNullStreams {
  const [file = '', ...args] = wordsOf(command);
  const passed = [...usual, ...passEnv].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return spawn(file, args, {
    ...{ cwd, stdio: 'pipe', windowsHide: true, detached: process.platform !== 'win32' },
    env: { ...Object.fromEntries(passed), ...env },
  });
}

/** The process of a program. */
class Child {
  readonly io: ChildProcessWithoutNullStreams;
  /** Resolves when it has ended, or could not be started. */
  readonly gone: Promise<void>;
  /** The way in which it ended. */
  reason: string | undefined;
  readonly #clock: Clock;
  #tail = '';

  constructor(command: string, settings: ProgramSettings, { log, clock }: Services) {
    this.#clock = clock;
    this.io = startChild(command, settings);
    this.io.stdin.on('error', () => undefined); // its end says it
    this.io.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#tail = (this.#tail + text).slice(-maxTailChars);
      const detail = text.trim().slice(0, maxTailChars);
      log.debug('the program wrote to stderr', { command, detail });
    });
    this.gone = new Promise<void>((resolve) => {
      this.io.once('error', ({ message }) => {
        this.reason ??= `cannot be started: ${message}`;
        resolve();
      });
      this.io.once('exit', () => {
        this.kill('SIGKILL'); // those that it has left behind
        const drying = clock.setTimeout(() => this.io.stdout.destroy(), endMs);
        this.io.once('close', () => clock.clearTimeout(drying));
      });
      this.io.once('close', (code, signal) => {
        const last = this.#tail.trim().split('\n').at(-1) ?? '';
        const said = last === '' ? '' : `; its last line on stderr: ${last}`;
        this.reason ??= `ended ${signal === null ? `with code ${code}` : `by ${signal}`}${said}`;
        resolve();
      });
    });
  }

  /** Ends it, by force if it does not end by itself. */
  async end(why: string): Promise<void> {
    this.reason ??= `was ended: ${why}`;
    this.kill('SIGTERM');
    const timer = this.#clock.setTimeout(() => this.kill('SIGKILL'), endMs);
    await this.gone;
    this.#clock.clearTimeout(timer);
  }

  /** Sends a signal to it and to those that it has started. */
  kill(signal: NodeJS.Signals): void {
    const { pid } = this.io;
    if (pid === undefined) return;
    try {
      process.kill(process.platform === 'win32' ? pid : -pid, signal);
    } catch {
      // nobody of them is left
    }
  }
}
