import { request } from 'node:http';
import type { Inspector } from '../src/index.js';

/** The answer to a request. */
export interface Asked {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** The token of an inspector, and the place that it listens at. */
export function partsOf({ url }: Pick<Inspector, 'url'>): {
  readonly origin: string;
  readonly token: string;
} {
  const { origin, hash } = new URL(url);
  return { origin, token: hash.replace('#token=', '') };
}

/** Asks with exactly these headers: `fetch` writes some of its own. */
export function ask(
  inspector: Pick<Inspector, 'url'>,
  path: string,
  {
    method = 'GET',
    headers = {},
    body,
  }: {
    readonly method?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
  } = {},
): Promise<Asked> {
  const { origin } = partsOf(inspector);
  return new Promise((resolve, reject) => {
    const asked = request(`${origin}${path}`, { method, headers: { ...headers } }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
      );
    });
    asked.on('error', reject);
    asked.end(body);
  });
}

/** The header of one who knows the token. */
export function knowing(inspector: Pick<Inspector, 'url'>): { readonly authorization: string } {
  return { authorization: `Bearer ${partsOf(inspector).token}` };
}
