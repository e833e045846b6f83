import type { Host } from '@sluice/host';
import type { MessageEnd } from '@sluice/journal';
import { errorLine } from '../errors/error-line.js';
import type { Pipeline } from '../pipeline/pipeline.js';
import type { Settings } from '../settings/settings.js';
import { type ExitCode, exitCodes } from '../shell/exit-codes.js';
import type { Shell } from '../shell/shell.js';

/** The things that go wrong while a host runs: they are printed, and decide the exit code. */
export class Progress {
  readonly #shell: Pick<Shell, 'stderr' | 'stop'>;
  readonly #debug: boolean;
  #hasFailed = false;
  #hasBroken = false;
  host: Host | undefined;

  constructor(shell: Pick<Shell, 'stderr' | 'stop'>, debug: boolean) {
    this.#shell = shell;
    this.#debug = debug;
  }

  report(error: unknown): void {
    this.#hasFailed = true;
    this.#shell.stderr.lines([errorLine(error, this.#debug)]);
  }

  /** Notes how a message has ended. */
  ended(status: MessageEnd['status']): void {
    this.#hasFailed ||= status === 'failed' || status === 'undecodable';
  }

  /** Reports what of a pipeline could not be loaded, and returns whether the host may start without it. */
  mayStart({ errors, missing: required }: Pipeline, { strict }: Settings): boolean {
    for (const error of errors) this.report(error);
    this.#hasBroken = errors.length > 0;
    const missing = required.map((name) => `"${name}" is required`);
    if (strict && this.#hasBroken) missing.push('--strict');
    if (missing.length === 0) return true;
    const why = `${missing.join(', ')}, and not everything could be loaded`;
    this.#shell.stderr.lines([`sluice: nothing was started: ${why}`]);
    return false;
  }

  /** @param isDone every message was done with. @param lost aborts if another host has taken the journal. */
  exitCode(isDone: boolean, lost: AbortSignal | undefined): ExitCode {
    if (lost?.aborted === true) {
      this.report(lost.reason);
      return exitCodes.failed; // a supervisor starts it again, as a standby
    }
    const hasFailed = this.#shell.stop.aborted ? this.#hasBroken : this.#hasFailed;
    return isDone && !hasFailed ? exitCodes.ok : exitCodes.failed;
  }
}
