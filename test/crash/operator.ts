import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

interface Listed {
  readonly eventId?: string;
  readonly state?: string;
  readonly reason?: string;
}

/** The journal for a command: its options, and its surroundings. */
export interface OperatorPlace {
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Whoever looks into a journal while hosts have it: runs `sluice journal` beside them, one command at a time. */
export class Operator {
  looks = 0;
  retries = 0;
  /** The output of a command that did not go as it must. */
  readonly problems: string[] = [];
  readonly #place: OperatorPlace;
  #isStopped = false;
  #busy: Promise<void> | undefined;

  constructor(place: OperatorPlace) {
    this.#place = place;
  }

  /** Begins to look, unless it does already: it lists the dead letters, and has one of them tried again. */
  look(): void {
    this.#busy ??= this.#lookOnce().finally(() => {
      this.#busy = undefined;
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#busy;
  }

  async #lookOnce(): Promise<void> {
    const listed = await this.#run('list', '--state', 'dead', '--json');
    if (listed === undefined) return;
    this.looks++;
    const letters = listed
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Listed);
    // one that no agent can answer is not worth three more deaths of everybody
    const worth = letters.filter(({ reason = '' }) => !/never came to an end/.test(reason));
    const one = worth[Math.floor(Math.random() * worth.length)]?.eventId;
    if (one === undefined || this.#isStopped) return;
    if ((await this.#run('retry', one)) !== undefined) this.retries++;
  }

  /** @returns what it prints, where it ends well. */
  #run(...given: readonly string[]): Promise<string | undefined> {
    const { args, cwd, env } = this.#place;
    const command = [program, 'journal', ...given, ...args];
    const surroundings = { cwd, env: { ...process.env, ...env } };
    return new Promise((resolve) => {
      execFile(process.execPath, command, surroundings, (error, stdout, stderr) => {
        // another look may have had it tried again
        if (error !== null && !/no dead letter/.test(stderr))
          this.problems.push(`${given.join(' ')}: ${error.signal ?? error.code} ${stderr}`);
        resolve(error === null ? stdout : undefined);
      });
    });
  }
}
