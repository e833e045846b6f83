import { type ChildProcessByStdio, spawn } from 'node:child_process';
import process from 'node:process';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../dist/server/main.js', import.meta.url));
const root = fileURLToPath(new URL('../../../', import.meta.url));

/** How a process ended, and all that it wrote. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The real `sluice-ownership` in a process of its own. */
export class ServerProcess implements AsyncDisposable {
  readonly child: ChildProcessByStdio<null, Readable, Readable>;
  readonly ended: Promise<Ended>;
  #stdout = '';
  #stderr = '';
  #onOutput: () => void = () => undefined;

  constructor(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    this.child = spawn(process.execPath, [main, ...args], {
      cwd: root,
      env: { PATH: process.env['PATH'], ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text;
      this.#onOutput();
    });
    this.child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
      this.#onOutput();
    });
    this.ended = new Promise((resolve, reject) => {
      this.child.once('error', reject);
      this.child.once('close', (code) =>
        resolve({ code, stdout: this.#stdout, stderr: this.#stderr }),
      );
    });
  }

  /** What it wrote, when a pattern is in it. Rejects where it ends before. */
  async until(pattern: RegExp): Promise<RegExpExecArray> {
    const seen = new Promise<RegExpExecArray>((resolve) => {
      this.#onOutput = () => {
        const match = pattern.exec(`${this.#stdout}${this.#stderr}`);
        if (match !== null) resolve(match);
      };
      this.#onOutput();
    });
    const first = await Promise.race([seen, this.ended]);
    if ('code' in first) throw new Error(`it ended (${first.code}): ${first.stderr}`);
    return first;
  }

  /** Where it listens. */
  async url(): Promise<string> {
    const [, url = ''] = await this.until(/"?url"?[=:]"?(http:\/\/[^\s"]+)/);
    return url;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended;
  }
}
