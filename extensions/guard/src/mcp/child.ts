import { spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { lineTransport } from './lines.js';
import type { McpOptions } from './options.js';

/** Milliseconds that a server has to end after its stdin has ended, and again after a SIGTERM. Clients kill a proxy after four seconds. */
const graceMs = 1_500;

/** Ends the servers that still run when this process exits. */
const running = new Set<(signal: NodeJS.Signals) => void>();
const endAll = (): void => {
  for (const kill of running) kill('SIGKILL');
};

/**
 * Starts a server that is a program, in its own process group, which ends with it. A Ctrl-C in the terminal reaches the proxy alone.
 * Its stderr is that of this process.
 *
 * @throws Error (as a rejection) if it cannot be started.
 */
export async function startServer(
  [file = '', ...args]: readonly string[],
  { cwd, env, clock, bounds }: McpOptions,
): Promise<Transport> {
  const detached = process.platform !== 'win32'; // there it would open a window
  const child = spawn(file, args, { cwd, env, stdio: ['pipe', 'pipe', 'inherit'], detached });
  const { stdin, stdout: input, pid } = child;
  const over = new Promise((resolve) => child.once('exit', resolve));
  const closed = new Promise((resolve) => input.once('close', resolve));
  await once(child, 'spawn');
  const kill = (signal: NodeJS.Signals): void => {
    try {
      if (detached && pid !== undefined) process.kill(-pid, signal);
      else child.kill(signal);
    } catch {
      // nothing of it is there
    }
  };
  if (running.add(kill).size === 1) process.once('exit', endAll); // one listener for all: Node warns of many
  const within = (event: Promise<unknown>) =>
    Promise.race([event, new Promise<void>((late) => void clock.setTimeout(late, graceMs))]);
  const swept = over.then(async () => {
    kill('SIGTERM'); // programs that it has left behind
    await within(closed);
    kill('SIGKILL');
    running.delete(kill);
    if (running.size === 0) process.off('exit', endAll);
    input.destroy(); // a program that has left the group may hold it open
  });
  stdin.on('error', () => undefined); // its end shows at its stdout
  const write = (text: string) =>
    new Promise<void>((resolve, reject) => {
      stdin.write(text, (error) => (error == null ? resolve() : reject(error)));
    });
  const end = async (): Promise<void> => {
    stdin.end();
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      await within(over);
      if (child.exitCode === null && child.signalCode === null) kill(signal);
    }
    await swept;
  };
  return lineTransport({ input, write, end, maxBytes: bounds.maxBytes });
}
