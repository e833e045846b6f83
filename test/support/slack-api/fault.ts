import type { ServerResponse } from 'node:http';

/** The end of a call instead of its answer. `after` faults do what was asked first. */
export type SlackFault =
  /** Nothing: this one goes through. */
  | { readonly pass: true }
  /** The call is refused with an error of Slack's. */
  | { readonly error: string; readonly more?: object; readonly after?: boolean }
  /** 429, with the header or without. */
  | { readonly tooMany: number | string | undefined }
  /** An answer of something in between: no JSON. */
  | { readonly html: number; readonly after?: boolean }
  /** The connection breaks. */
  | { readonly reset: true; readonly after?: boolean }
  /** No answer ever comes. */
  | { readonly hang: true; readonly after?: boolean };

/** Answers as the fault says. */
export function failAs(response: ServerResponse, fault: SlackFault): void {
  if ('reset' in fault) response.socket?.resetAndDestroy();
  else if ('html' in fault)
    response
      .writeHead(fault.html, { 'content-type': 'text/html' })
      .end('<html><body><h1>Bad Gateway</h1></body></html>');
  else if ('tooMany' in fault) {
    const { tooMany } = fault;
    const header = tooMany === undefined ? {} : { 'retry-after': String(tooMany) };
    response.writeHead(429, header).end('{"ok":false,"error":"ratelimited"}');
  } else if ('error' in fault)
    answerJson(response, { ok: false, error: fault.error, ...fault.more });
}

/** Answers with JSON. */
export function answerJson(response: ServerResponse, body: object): void {
  if (response.destroyed || response.writableEnded) return;
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
