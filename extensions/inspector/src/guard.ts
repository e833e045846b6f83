import type { IncomingMessage, ServerResponse } from 'node:http';
import { isSameSecret } from 'sluice/chat';
import { hostCheck } from 'sluice/host';

/** Why a request gets nothing. */
export interface Refusal {
  readonly status: number;
  readonly error: string;
}

/** Judges requests before anything of the journal is read for them. */
export interface Guard {
  /** Any request: it has to name this server, and to come from no other site. */
  refuse(request: Pick<IncomingMessage, 'headers'>): Refusal | undefined;
  /** A request for data, besides: it has to know the token. */
  refuseData(request: Pick<IncomingMessage, 'headers'>): Refusal | undefined;
}

/**
 * Makes the guard of a server. Another page of the browser, also one whose name points to this address, gets nothing: the `Host`
 * that it asks by is no name of this server, or its `Origin` or `Sec-Fetch-Site` tell of it.
 */
export function guardOf({
  address,
  names,
  token,
}: {
  readonly address: string;
  readonly names: readonly string[];
  readonly token: string;
}): Guard {
  const isKnown = hostCheck({ address, names });
  return {
    refuse: ({ headers }) => {
      const { host, origin } = headers;
      if (host === undefined || !isKnown(host))
        return { status: 421, error: 'this is not the host that was asked for' };
      const site = headers['sec-fetch-site'];
      const isOther = site !== undefined && site !== 'same-origin' && site !== 'none';
      if (isOther || (origin !== undefined && !isOwn(origin, host)))
        return { status: 403, error: 'another page may not ask here' };
      return undefined;
    },
    refuseData: ({ headers: { authorization } }) =>
      isSameSecret(authorization, `Bearer ${token}`)
        ? undefined
        : { status: 401, error: 'the token is missing or wrong' },
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
