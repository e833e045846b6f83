/** The kind of a failure. Its words begin the text of the error. */
type ChatFailure =
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
  readonly #problem: string;

  constructor(failure: ChatFailure, problem: string, retryAfterMs?: number) {
    super(`${failure}: ${problem}`);
    this.failure = failure;
    this.#problem = problem;
    if (passing.includes(failure)) this.retryAfterMs = retryAfterMs ?? usualWaitMs;
  }

  /** The same failure, told in other words. */
  with(reword: (problem: string) => string): ChatError {
    return new ChatError(this.failure, reword(this.#problem), this.retryAfterMs);
  }
}

/** The failure that a response tells of. @param text the beginning of its body. */
export function failureOf(response: Response, text: string, nowMs: number): ChatError {
  const { status } = response;
  const { code, message } = toldIn(text);
  const problem = `HTTP ${status}${message === '' ? '' : `: ${message}`}`;
  return new ChatError(kindOf(status, code, message), problem, waitOf(response, nowMs));
}

/** The failure that a part of a stream tells of. @param text the part. @param otherwise see `toldIn`. */
export function failureIn(text: string, otherwise = text): ChatError {
  const { code, message } = toldIn(text, otherwise);
  const status = /rate.?limit/i.test(code) ? 429 : Number(code) || 500;
  return new ChatError(kindOf(status, code, message), message);
}

/** The words by which servers say that a request has too many tokens. */
const tooManyTokens =
  /context.{0,9}(length|window|size)|maximum context|(prompt|input|request) is too (long|large)|input token count|exceed_context/i;

function kindOf(status: number, code: string, message: string): ChatFailure {
  const told = `${code} ${message}`;
  if (status === 429) return /insufficient_quota/.test(told) ? 'refused' : 'rate-limit';
  if (tooManyTokens.test(told)) return 'context-length';
  if (/content.?filter/i.test(code)) return 'content-filter';
  if (status === 408 || status >= 500) return 'server-error';
  return status === 401 || status === 403 ? 'authentication' : 'refused';
}

/** The fields in which servers put the words of an error, the most telling first. */
const wordFields = [
  ...['message', 'msg', 'detail', 'error', 'errors', 'error_message', 'error_msg', 'status_msg'],
  ...['base_resp', 'raw', 'metadata'],
];

/** Returns whether the field `error` of something tells of one: some servers send it empty. */
export function isError(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return Boolean(error);
  const { code, type } = Object(error);
  return Boolean(code) || Boolean(type) || wordsOf(error) !== '';
}

/**
 * The error that a body, or a part of a stream, tells of.
 *
 * @param otherwise the words of one that has none in a field that is known; all of it by default.
 */
export function toldIn(
  text: string,
  otherwise = text,
): { readonly code: string; readonly message: string } {
  let body: unknown;
  try {
    body = JSON.parse(text.replace(/^\s*(?:event:[^\n]*\n)?data:/, ''));
  } catch {
    return { code: '', message: oneLine(text.replace(/<[^<>]*>/g, ' ')) }; // of a page, its words
  }
  const [first] = [body].flat();
  const { error = first } = Object(first);
  const { code, type, status } = { ...Object(first), ...Object(error) };
  const message = wordsOf(error) || wordsOf(first) || otherwise;
  return { code: String(code || type || status || ''), message: oneLine(message) };
}

/** The words of an error of any shape, with the field of the request that it is about. */
function wordsOf(value: unknown, depth = 0): string {
  if (typeof value === 'string') return value.trim();
  if (depth > 5 || typeof value !== 'object' || value === null) return '';
  if (Array.isArray(value)) {
    const all = value.slice(0, 5).map((one) => wordsOf(one, depth + 1));
    return all.filter(Boolean).join('; ');
  }
  const { param, loc = param ?? [], ...fields } = Object(value);
  const all = wordFields.map((name) => wordsOf(fields[name], depth + 1)).filter(Boolean);
  const inside = all.find((one) => all[0]?.includes(one) === false); // behind a proxy's own words, those of the server
  const words = [all[0], inside].filter(Boolean).join(': ');
  const about = [loc]
    .flat()
    .filter((one) => typeof one !== 'object')
    .join('.');
  return words && about ? `${words} (${about})` : words;
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
