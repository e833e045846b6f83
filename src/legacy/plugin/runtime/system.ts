import { spawn } from 'node:child_process';
import process from 'node:process';
import { registerLegacyHook } from '../../runner/register-hook.js';
import type { Registering } from '../api/registering.js';

/** The options of `runCommandWithTimeout`. */
interface CommandOptions {
  readonly timeoutMs: number;
  readonly cwd?: string;
  readonly input?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly noOutputTimeoutMs?: number;
}

/** The result of a command that was started. */
interface CommandResult {
  readonly pid?: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
  readonly signal: string | null;
  readonly killed: boolean;
  readonly termination: 'exit' | 'timeout' | 'no-output-timeout' | 'signal';
  readonly noOutputTimedOut: boolean;
}

/**
 * `api.runtime.system.runCommandWithTimeout`: runs a program without a shell, and kills it when its time is up, or when it has
 * written nothing for too long. Rejects if it cannot be started.
 */
export function runCommandWithTimeout(
  argv: readonly string[],
  given: number | CommandOptions,
): Promise<CommandResult> {
  const options = typeof given === 'number' ? { timeoutMs: given } : given;
  const { timeoutMs, cwd, input, env, noOutputTimeoutMs = 0 } = options as CommandOptions; // a number is the one field
  const [program = '', ...args] = argv;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      ...(cwd !== undefined && { cwd }),
      env: { ...process.env, ...env },
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    let ended: CommandResult['termination'] | undefined;
    const end = (why: 'timeout' | 'no-output-timeout') => (): void => {
      ended = why;
      child.kill('SIGKILL');
    };
    const timer = setTimeout(end('timeout'), timeoutMs);
    let quiet: NodeJS.Timeout | undefined;
    const heard = (): void => {
      clearTimeout(quiet);
      if (noOutputTimeoutMs > 0) quiet = setTimeout(end('no-output-timeout'), noOutputTimeoutMs);
    };
    heard();
    const written = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name]?.setEncoding('utf8').on('data', (text: string) => {
        written[name] += text;
        heard();
      });
    child.stdin?.on('error', () => undefined); // it may end before it has read everything
    child.stdin?.end(input);
    const over = (): void => {
      clearTimeout(timer);
      clearTimeout(quiet);
    };
    child.once('error', (error) => {
      over();
      reject(error);
    });
    child.once('close', (code, signal) => {
      over();
      resolve({
        ...(child.pid !== undefined && { pid: child.pid }),
        ...written,
        ...{ code, signal, killed: child.killed },
        termination: ended ?? (signal === null ? 'exit' : 'signal'),
        noOutputTimedOut: ended === 'no-output-timeout',
      });
    });
  });
}

/** Texts that wait in one session at most, and sessions that texts wait in. */
const mostWaiting = 20;
const mostSessions = 1_000;

/**
 * `api.runtime.system.enqueueSystemEvent`: a text that stands before the next prompt of a session. It waits in memory. A plugin that
 * may not write to the prompt is told so.
 *
 * @returns `false` if the text does not wait: it is empty, or the same as the one before.
 */
export function systemEvents(plugin: Registering) {
  const waiting = new Map<string, string[]>();
  const listen = (): void => {
    const handler = (_: unknown, { sessionKey = '' }: { readonly sessionKey?: string }) => {
      const texts = waiting.get(sessionKey);
      waiting.delete(sessionKey);
      return texts && { prependContext: texts.map((text) => `System: ${text}`).join('\n') };
    };
    const { pluginId, source, kernel, scope } = plugin;
    const registration = { pluginId, hookName: 'before_prompt_build', handler, source } as const;
    scope.add('system events', registerLegacyHook(kernel, registration));
  };
  let isListening = false;
  return (text: string, { sessionKey }: { readonly sessionKey: string }): boolean => {
    const said = text.trim();
    const before = waiting.get(sessionKey) ?? [];
    if (said === '' || before.at(-1) === said) return false;
    if (!plugin.allowPromptInjection) {
      plugin.tell('warn', 'a system event is left out: hooks.allowPromptInjection is false');
      return false;
    }
    if (!isListening) listen();
    isListening = true;
    waiting.delete(sessionKey); // the newest session stands last
    waiting.set(sessionKey, [...before, said].slice(-mostWaiting));
    const [oldest] = waiting.keys();
    if (waiting.size > mostSessions && oldest !== undefined) waiting.delete(oldest);
    return true;
  };
}
