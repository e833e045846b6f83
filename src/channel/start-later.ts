/**
 * The error of an account that cannot be started now, and may be later: its provider cannot be reached, or has no time. The host
 * starts the account again after waits that grow (spec §14.18). Any other error disables the account. Its text is for operators: it
 * holds no secret.
 *
 * @example
 * throw new StartLater('the provider asks to wait', 5_000);
 */
export class StartLater extends Error {
  /** Milliseconds that the provider asks to wait; then the host waits no less. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, retryAfterMs?: number) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}
