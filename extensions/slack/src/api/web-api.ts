import { AsyncLocalStorage } from 'node:async_hooks';
import {
  WebAPIHTTPError,
  WebAPIPlatformError,
  WebAPIRateLimitedError,
  WebAPIRequestError,
  WebClient,
} from '@slack/web-api';
import type { Clock } from 'sluice';
import type { CallAnswer } from 'sluice/chat';
import { redact } from '../secrets.js';
import { type Failure, refusalOf } from './refusal.js';
import { silentSlackLogger } from './silent-logger.js';

/** The fields of an answer. Nothing has checked them. */
export type Answered = Readonly<Record<string, unknown>>;

/** Slack's Web API for one app. */
export interface WebApi {
  /** Calls a method, once. */
  call(
    method: string,
    payload: Readonly<Record<string, unknown>>,
    timeoutMs?: number,
  ): Promise<CallAnswer<Answered>>;
  /** Brings the bytes of a file to an address that Slack has named. */
  upload(url: string, bytes: Uint8Array, timeoutMs?: number): Promise<CallAnswer<Answered>>;
}

/** The options of `createWebApi`. */
interface WebApiOptions {
  readonly token: string;
  /** By default Slack's own. */
  readonly apiRoot?: string | undefined;
  readonly clock: Clock;
}

/** Milliseconds that a call may take if it names no other limit. */
const usualTimeoutMs = 30_000;
/** The longest wait that is believed, in milliseconds. */
const longestRetryAfterMs = 3_600_000;
/** Errors of a connection that was never made. */
const neverConnected = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH']);

/**
 * The Web API through Slack's own client. Its retries are off: a send that is resent blindly may arrive twice. Time-outs
 * run on the injected clock.
 */
export function createWebApi({ token, apiRoot, clock }: WebApiOptions): WebApi {
  const waiting = new AsyncLocalStorage<AbortSignal>();
  const client = new WebClient(token, {
    ...(apiRoot !== undefined && { slackApiUrl: apiRoot }),
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    maxRequestConcurrency: Number.POSITIVE_INFINITY, // else one call runs with the signal of another
    allowAbsoluteUrls: false,
    logger: silentSlackLogger,
    fetch: (url, init) => fetch(url, { ...init, signal: waiting.getStore() ?? null }),
  });

  const within = async (
    timeoutMs: number,
    work: () => Promise<Answered>,
  ): Promise<CallAnswer<Answered>> => {
    const timeout = new AbortController();
    const timer = clock.setTimeout(() => timeout.abort(), timeoutMs);
    try {
      return { status: 'done', result: await waiting.run(timeout.signal, work) };
    } catch (error) {
      if (timeout.signal.aborted)
        return { status: 'unknown', reason: `no answer within ${timeoutMs} ms` };
      return failureOf(error);
    } finally {
      clock.clearTimeout(timer);
    }
  };

  return {
    call: (method, payload, timeoutMs = usualTimeoutMs) =>
      within(timeoutMs, async () => ({ ...(await client.apiCall(method, payload)) })),
    upload: (url, bytes, timeoutMs = usualTimeoutMs) =>
      within(timeoutMs, async () => {
        const init = { method: 'POST', body: bytes, signal: waiting.getStore() ?? null };
        const { ok, status } = await fetch(url, init);
        if (!ok) throw new WebAPIHTTPError(status, '', {});
        return {};
      }),
  };
}

/** The end of a call that failed, in words without secrets. */
export function failureOf(error: unknown): Failure {
  if (error instanceof WebAPIRateLimitedError) {
    const retryAfterMs = Math.min(longestRetryAfterMs, error.retryAfter * 1_000);
    const reason = '429: Slack asks to wait';
    if (!(retryAfterMs > 0)) return { status: 'refused', reason, cause: 'busy' };
    return { status: 'refused', reason, cause: 'busy', retryAfterMs };
  }
  if (error instanceof WebAPIPlatformError) return refusalOf(error.data);
  if (error instanceof WebAPIHTTPError) {
    const reason = `${error.statusCode}: Slack did not answer as it does`;
    return { status: error.statusCode >= 500 ? 'unknown' : 'refused', reason };
  }
  const { original = error } = error instanceof WebAPIRequestError ? error : {};
  const { cause = original } = Object(original) as { readonly cause?: unknown };
  const { code, message } = Object(cause) as {
    readonly code?: unknown;
    readonly message?: unknown;
  };
  const what = redact(String(code ?? message ?? 'it failed on the way'));
  if (/^Retry header/.test(what))
    return { status: 'refused', reason: '429: Slack asks to wait', cause: 'busy' };
  if (neverConnected.has(what)) return { status: 'unreached', reason: `no connection (${what})` };
  return { status: 'unknown', reason: `no readable answer (${what})` };
}
