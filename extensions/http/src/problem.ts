import type { ServerResponse } from 'node:http';
import type { Answer } from './answers.js';

/** Why a request gets no answer, as its client is told. */
export class RequestProblem extends Error {
  readonly status: number;
  readonly code: string;
  readonly more: {
    readonly param?: string | undefined;
    readonly eventId?: string | undefined;
    readonly headers?: Readonly<Record<string, string>>;
  };

  constructor(status: number, code: string, message: string, more: RequestProblem['more'] = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.more = more;
  }

  /** The error object of the OpenAI API, with the id of the event. */
  get body() {
    const { param = null, eventId } = this.more;
    const type =
      this.status >= 500
        ? 'server_error'
        : this.status === 403
          ? 'permission_error'
          : 'invalid_request_error';
    return { error: { message: this.message, type, param, code: this.code, event_id: eventId } };
  }
}

const notAgain = { 'x-should-retry': 'false' };

/** Says why an answer that has ended is none. It holds no reason of the host: that is for its operator. */
export function problemOf({ end, note, parts }: Answer): RequestProblem | undefined {
  const { status, reason = '', cancelCode = 'cancelled', correlationId: eventId } = end ?? {};
  const more = { eventId, headers: notAgain };
  switch (status) {
    case 'refused':
      return notTaken();
    case 'undecodable':
      return new RequestProblem(400, 'undecodable', reason, { eventId });
    case 'cancelled':
      return new RequestProblem(403, cancelCode, note || `it was cancelled: ${cancelCode}`, more);
    case 'aborted':
      return new RequestProblem(503, 'aborted', 'it was stopped before it was answered', more);
    case 'known':
      if (parts.size > 0) return undefined;
      return new RequestProblem(
        409,
        'already-handled',
        'it was handled before, and its answer is not kept',
        more,
      );
    case 'failed':
      return new RequestProblem(500, 'failed', note || 'it could not be answered', more);
    default:
      return undefined;
  }
}

/** The host could not take a message in. */
export function notTaken(): RequestProblem {
  const headers = { 'retry-after': '1' };
  return new RequestProblem(503, 'not-taken', 'it could not be kept: ask again', { headers });
}

/** Writes an answer in JSON. */
export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (response.headersSent) return void response.destroy();
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers });
  response.end(JSON.stringify(body));
}
