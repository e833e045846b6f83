/** The last tool call that failed, and was not made good. */
export interface ToolFailure {
  readonly toolName: string;
  readonly meta?: string;
  readonly error?: string;
  /** It was to change something; absent if its start was not seen. */
  readonly mutatingAction?: boolean;
  /** Tells what it was to change from another. */
  readonly actionFingerprint?: string;
}

/** Tells whether a call makes a failed one good: it is the same action, or has the same words. */
function makesGood(failed: ToolFailure, call: ToolFailure): boolean {
  if (failed.actionFingerprint !== undefined || call.actionFingerprint !== undefined)
    return failed.actionFingerprint === call.actionFingerprint;
  return failed.toolName === call.toolName && failed.meta === call.meta;
}

/**
 * Keeps the run's last failure: of a call that changes nothing until the next that succeeds, else until the same does.
 */
export class ToolFailures {
  #last: ToolFailure | undefined;

  get last(): ToolFailure | undefined {
    return this.#last;
  }

  add(call: ToolFailure, hasFailed: boolean): void {
    if (hasFailed) this.#last = call;
    else if (this.#last === undefined) return;
    else if (this.#last.mutatingAction !== true || makesGood(this.#last, call))
      this.#last = undefined;
  }

  clear(): void {
    this.#last = undefined;
  }
}
