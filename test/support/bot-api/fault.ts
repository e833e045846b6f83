import type { ServerResponse } from 'node:http';

/**
 * What happens to a call instead of its answer. `after` faults do what was asked first: the client cannot tell them
 * from those that did not.
 */
export type Fault =
  /** Nothing: this one goes through. */
  | { readonly pass: true }
  | { readonly refuse: number; readonly description: string; readonly parameters?: object }
  /** An answer of something in between: no JSON. */
  | { readonly html: number; readonly after?: boolean }
  /** An answer that says whatever it says, as 200. */
  | { readonly answer: unknown; readonly after?: boolean }
  /** The connection breaks. */
  | { readonly reset: true; readonly after?: boolean }
  /** No answer ever comes. */
  | { readonly hang: true; readonly after?: boolean };

/** Too many calls; how long to wait is said in seconds, or not at all; or it is junk. */
export function tooMany(retryAfterS?: unknown): Fault {
  const parameters = retryAfterS === undefined ? undefined : { retry_after: retryAfterS };
  return {
    refuse: 429,
    description: `Too Many Requests: retry after ${retryAfterS ?? 'a while'}`,
    ...(parameters !== undefined && { parameters }),
  };
}

export const blocked: Fault = {
  refuse: 403,
  description: 'Forbidden: bot was blocked by the user',
};

export const badMarkup: Fault = {
  refuse: 400,
  description: "Bad Request: can't parse entities: unsupported start tag",
};

export const internalError: Fault = { refuse: 500, description: 'Internal Server Error' };

/** Whether what was asked for is done all the same. */
export function isAfter(fault: Fault): boolean {
  return 'after' in fault && fault.after === true;
}

/** Answers as the fault says. */
export function fail(response: ServerResponse, fault: Fault): void {
  if ('reset' in fault) response.socket?.resetAndDestroy();
  else if ('html' in fault)
    response
      .writeHead(fault.html, { 'content-type': 'text/html' })
      .end('<html><body><h1>502 Bad Gateway</h1></body></html>');
  else if ('answer' in fault)
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify(fault.answer));
  else if ('refuse' in fault) answerJson(response, fault.refuse, refusal(fault));
}

function refusal({ refuse, description, parameters }: Extract<Fault, { refuse: number }>) {
  return {
    ok: false,
    error_code: refuse,
    description,
    ...(parameters !== undefined && { parameters }),
  };
}

/** Answers with JSON, as the Bot API does. */
export function answerJson(response: ServerResponse, status: number, body: object): void {
  if (response.destroyed || response.writableEnded) return;
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
