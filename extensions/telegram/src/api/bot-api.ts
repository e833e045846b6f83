import { Api, GrammyError, HttpError, type RawApi } from 'grammy';
import type { Clock } from 'sluice';
import type { CallAnswer } from 'sluice/chat';

/** How a call went. A refusal has the code of Telegram, and the id of the chat that a group has become. */
export type ApiAnswer<T> =
  | Exclude<CallAnswer<T>, Refused>
  | (Omit<Refused, 'cause'> & { readonly code: number; readonly movedTo?: number });

type Refused = Extract<CallAnswer<unknown>, { readonly status: 'refused' }>;

type Method = keyof RawApi;
/** Those that we use and that take no payload: grammY wants their signal in its place. */
const bare = ['getMe', 'getWebhookInfo'] as const satisfies readonly Method[];
type Bare = (typeof bare)[number];
type Arguments<M extends Method> = M extends Bare ? object : NonNullable<Parameters<RawApi[M]>[0]>;
type ResultOf<M extends Method> = Awaited<ReturnType<RawApi[M]>>;

/** How one call is made. */
interface CallOptions {
  /** Milliseconds until it counts as unknown. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** Telegram's Bot API for one bot. */
export interface BotApi {
  call<M extends Method>(
    method: M,
    payload: Arguments<M>,
    options?: CallOptions,
  ): Promise<ApiAnswer<ResultOf<M>>>;
  /** Takes the token out of a text. */
  readonly redact: (text: string) => string;
}

interface BotApiOptions {
  readonly token: string;
  /** By default Telegram's own. */
  readonly apiRoot?: string;
  readonly clock: Clock;
  /** Milliseconds that a call may take if it names no other limit; by default 30 000. */
  readonly timeoutMs?: number;
}

/** Errors of a connection that was never made. */
const neverConnected = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH']);

/**
 * The Bot API through grammY. Time-outs run on the injected clock. No call is made again: a send that is resent blindly may arrive
 * twice, and the host starts an account again.
 */
export function createBotApi(options: BotApiOptions): BotApi {
  const { token, apiRoot, clock, timeoutMs: usualTimeoutMs = 30_000 } = options;
  const redact = redactor(token);
  // grammY's own time-out is real time, and longer than any of ours
  const client = { timeoutSeconds: 3_600, ...(apiRoot !== undefined && { apiRoot }) };
  const { raw } = new Api(token, client);

  return {
    redact,
    call: async (method, payload, { timeoutMs = usualTimeoutMs, signal } = {}) => {
      const timeout = new AbortController();
      const timer = clock.setTimeout(() => timeout.abort(), timeoutMs);
      const either =
        signal === undefined ? timeout.signal : AbortSignal.any([signal, timeout.signal]);
      // by name, as grammY's proxy takes it; its own signal type is that of a polyfill
      const call = raw[method] as (...args: readonly unknown[]) => Promise<ResultOf<typeof method>>;
      const isBare = bare.some((one) => one === method);
      try {
        const result = await untilAborted(isBare ? call(either) : call(payload, either), either);
        if ((result ?? undefined) === undefined)
          return {
            status: 'unknown',
            reason: 'Telegram said that it was done, and gave no result',
          };
        return { status: 'done', result };
      } catch (error) {
        if (timeout.signal.aborted)
          return { status: 'unknown', reason: `no answer within ${timeoutMs} ms` };
        if (signal?.aborted === true) return { status: 'unknown', reason: 'it was given up' };
        return failureOf(error, redact);
      } finally {
        clock.clearTimeout(timer);
      }
    },
  };
}

/** Waits no longer than its signal says: grammY does not look at it while a body is read. */
function untilAborted<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(new Error('aborted'));
    signal.addEventListener('abort', onAbort, { once: true });
    answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** The longest wait that is believed, in milliseconds. */
const longestRetryAfterMs = 3_600_000;

/** Returns how many milliseconds to wait. Telegram says it in whole seconds; nothing if it says no number. */
function retryAfterOf(seconds: unknown): number | undefined {
  if (typeof seconds !== 'number' || !(seconds > 0)) return undefined;
  return Math.min(longestRetryAfterMs, Math.ceil(seconds) * 1_000);
}

/** The words of an error of grammY. Its payload is never read, nor its cause's text, which may hold the URL. */
function failureOf(error: unknown, redact: (text: string) => string): ApiAnswer<never> {
  if (error instanceof GrammyError) {
    const { error_code: code, description, parameters } = error;
    // nothing has checked what the answer holds: it may not be Telegram that answered
    if (!Number.isSafeInteger(code)) return { status: 'unknown', reason: 'no readable answer' };
    const reason = redact(`${code}: ${description}`);
    if (code >= 500) return { status: 'unknown', reason };
    const { retry_after: retryAfterS, migrate_to_chat_id: movedTo } = parameters;
    const retryAfterMs = retryAfterOf(retryAfterS);
    return {
      status: 'refused',
      code,
      reason,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
      ...(movedTo !== undefined && Number.isSafeInteger(movedTo) && { movedTo }),
    };
  }
  const cause = error instanceof HttpError ? error.error : error;
  const { code, type } = (typeof cause === 'object' && cause !== null ? cause : {}) as {
    readonly code?: unknown;
    readonly type?: unknown;
  }; // what node-fetch rejects with
  const what = redact(String(code ?? type ?? 'it failed on the way'));
  if (neverConnected.has(what)) return { status: 'unreached', reason: `no connection (${what})` };
  return { status: 'unknown', reason: `no readable answer (${what})` };
}

/** The text that stands in place of a secret. */
const redacted = '<token>';

/**
 * Makes what takes a secret out of texts: as it is, as part of a URL, and its second half alone, which is the part
 * that must not be known.
 */
export function redactor(token: string): (text: string) => string {
  const secrets = [token, encodeURIComponent(token), token.slice(token.indexOf(':') + 1)];
  return (text) => secrets.reduce((clean, secret) => clean.replaceAll(secret, redacted), text);
}
