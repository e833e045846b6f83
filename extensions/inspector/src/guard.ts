import type { IncomingMessage, ServerResponse } from 'node:http';
import { isSameSecret } from 'sluice/chat';
import { type HostNames, hostCheck } from 'sluice/host';

/** Says why a request gets nothing. */
type Refusal = readonly [status: number, why?: string];

/**
 * Makes the guard of a server, which judges requests before anything of the journal is read for them. A request for data has to
 * know the token. Another page of the browser, also one whose name points to this address, gets nothing: the `Host`
 * that it asks by is no name of this server, or its `Origin` or `Sec-Fetch-Site` tell of it.
 */
export function guardOf(token: string, served: HostNames) {
  const isKnown = hostCheck(served);
  return ({ headers }: Pick<IncomingMessage, 'headers'>, isData: boolean): Refusal => {
    const { host, origin, authorization } = headers;
    if (host === undefined || !isKnown(host))
      return [421, 'this is not the host that was asked for'];
    const site = headers['sec-fetch-site'];
    const isOther = site !== undefined && site !== 'same-origin' && site !== 'none';
    if (isOther || (origin !== undefined && !isOwn(origin, host)))
      return [403, 'another page may not ask here'];
    if (isData && !isSameSecret(authorization, `Bearer ${token}`))
      return [401, 'the token is missing or wrong'];
    return [200];
  };
}

function isOwn(origin: string, host: string): boolean {
  return URL.canParse(origin) && new URL(origin).host === host.toLowerCase();
}

/** Sets the headers of every answer: nothing from outside is loaded, and no other page may hold this one. */
export function setSafeHeaders(response: ServerResponse): void {
  const headers = {
    'content-security-policy':
      "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'cache-control': 'no-store',
  };
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
}
