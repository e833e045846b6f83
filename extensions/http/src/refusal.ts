import type { Answer } from './answers.js';

/** The facts that a refusal has besides its code and its text. */
interface RefusalFacts {
  readonly param?: string | undefined;
  readonly eventId?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer that is none: the error object of the OpenAI API, with the id of the event. */
export function refusal(
  status: number,
  code: string,
  message: string,
  { param, eventId, headers = {} }: RefusalFacts = {},
): Response {
  const type = status >= 500 ? 'server_error' : 'invalid_request_error';
  const error = { message, type, param: param ?? null, code, event_id: eventId };
  return Response.json({ error }, { status, headers });
}

/** The refusal of a request that may come again. */
export function later(code: string, message: string): Response {
  return refusal(503, code, message, { headers: { 'retry-after': '1' } });
}

/** The refusal of a request for which there is no place (http §1.5). */
export function busy(): Response {
  return later('busy', 'too many requests are answered');
}

/** Says why an answer that has ended is none (http §4.1). It holds no reason of the host: that is for its operator. */
export function refusalOf({ kept: { end, note = '', parts } }: Answer): Response | undefined {
  const { status = '', reason = '', cancelCode = 'cancelled', correlationId: eventId } = end ?? {};
  const about = { eventId, headers: { 'x-should-retry': 'false' } };
  switch (status) {
    case 'refused':
      return later('not-taken', 'it could not be kept: ask again');
    case 'undecodable':
      return refusal(400, status, reason, about);
    case 'cancelled':
      return refusal(403, cancelCode, note || `it was cancelled: ${cancelCode}`, about);
    case 'failed':
      return refusal(500, status, note || 'it could not be answered', about);
    case 'aborted':
      return refusal(503, status, 'it was stopped before it was answered', about);
    case 'known':
      if (Object.keys(parts).length > 0) return undefined;
      return refusal(409, 'already-handled', 'it was handled before, and no answer is kept', about);
    default:
      return undefined;
  }
}
