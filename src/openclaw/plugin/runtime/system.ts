import { type ChildProcess, spawn } from 'node:child_process';
import process from 'node:process';
import { isDetached } from '@sluice/sdk/extension/internal';

/** The programs that run: they end with the host. */
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

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
      detached: isDetached,
    });
    running.add(child);
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
      running.delete(child);
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
