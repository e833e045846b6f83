/** What a gateway says with `ok: false`. */
export interface Refusal {
  /** NOT_PAIRED, INVALID_REQUEST, UNAVAILABLE, ..., or of a handshake AUTH_TOKEN_MISMATCH and the like. */
  readonly code: string;
  readonly message: string;
}

/** Reads the error of an answer, whatever shape it has. */
export function refusalOf(error: unknown): Refusal {
  const { code, message, details }: Record<string, unknown> = Object(error);
  const detail: unknown = Object(details).code;
  return {
    code: text(detail) ?? text(code) ?? 'UNKNOWN',
    message: text(message) ?? 'it gives no reason',
  };
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
