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

/** Returns whether a call makes a failed one good: it is the same action, or has the same words. */
export function makesGood(failed: ToolFailure, call: ToolFailure): boolean {
  if (failed.actionFingerprint !== undefined || call.actionFingerprint !== undefined)
    return failed.actionFingerprint === call.actionFingerprint;
  return failed.toolName === call.toolName && failed.meta === call.meta;
}
