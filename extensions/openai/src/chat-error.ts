/** The kind of a failure. Its words begin the text of the error. */
export type ChatFailure =
  | 'rate-limit'
  | 'server-error'
  | 'unreachable'
  | 'timed-out'
  | 'cut-stream'
  | 'broken-stream'
  | 'no-choices'
  | 'too-long'
  | 'content-filter'
  | 'context-length'
  | 'authentication'
  | 'refused'
  | 'too-many-rounds';

/** Milliseconds before a failure is tried again that may pass by itself, unless the server says otherwise. */
const usualWaitMs = 1_000;
const passing: readonly ChatFailure[] = [
  ...(['rate-limit', 'server-error', 'unreachable', 'cut-stream', 'no-choices'] as const),
];

/** A failure of the model's server. */
export class ChatError extends Error {
  readonly failure: ChatFailure;
  /** Set if another attempt may help; the turn waits so long (event pipeline §16.27). */
  readonly retryAfterMs?: number;

  constructor(failure: ChatFailure, problem: string, retryAfterMs?: number) {
    super(`${failure}: ${problem}`);
    this.failure = failure;
    if (passing.includes(failure)) this.retryAfterMs = retryAfterMs ?? usualWaitMs;
  }
}

/** The failure that a response tells of. @param text the beginning of its body. */
export function failureOf(response: Response, text: string, nowMs: number): ChatError {
  const { status } = response;
  const { code, message } = toldIn(text);
  const problem = `HTTP ${status}${message === '' ? '' : `: ${message}`}`;
  return new ChatError(kindOf(status, `${code} ${message}`), problem, waitOf(response, nowMs));
}

/** The failure that a part of a stream tells of. @param text the part. */
export function failureIn(text: string): ChatError {
  const { code, message } = toldIn(text);
  const status = /rate.?limit/i.test(code) ? 429 : Number(code) || 500;
  return new ChatError(kindOf(status, `${code} ${message}`), message);
}

/** The words by which servers say that a request has too many tokens. */
const tooManyTokens =
  /context.{0,9}(length|window|size)|maximum context|(prompt|input|request) is too (long|large)|input token count|exceed_context/i;

function kindOf(status: number, told: string): ChatFailure {
  if (status === 429) return /insufficient_quota/.test(told) ? 'refused' : 'rate-limit';
  if (tooManyTokens.test(told)) return 'context-length';
  if (status === 408 || status >= 500) return 'server-error';
  return status === 401 || status === 403 ? 'authentication' : 'refused';
}

/** The error that a body, or a part of a stream, tells of. */
function toldIn(text: string): { readonly code: string; readonly message: string } {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return { code: '', message: oneLine(text) };
  }
  const { error = body } = Object(body);
  const { message = typeof error === 'string' ? error : text, code, type } = Object(error);
  return { code: String(code ?? type ?? ''), message: oneLine(String(message)) };
}

/** `Retry-After` in seconds or as a date, or the milliseconds that some servers give. */
function waitOf({ headers }: Response, nowMs: number): number | undefined {
  const exact = Number(headers.get('retry-after-ms') ?? Number.NaN);
  if (exact >= 0) return exact;
  const after = headers.get('retry-after')?.trim();
  if (after === undefined || after === '') return undefined;
  const seconds = Number(after);
  const waitMs = Number.isNaN(seconds) ? Date.parse(after) - nowMs : seconds * 1_000;
  return Number.isFinite(waitMs) ? Math.max(0, waitMs) : undefined;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, 300);
}
