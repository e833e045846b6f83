import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { readFile, realpath, stat } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import { BlockList, type LookupFunction } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, sep } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { definedFields } from 'sluice-kernel/internal';
import { detectMime, type MediaKind, mediaKindFromMime } from './mime.js';

/** The options of `loadWebMedia`. */
interface MediaOptions {
  readonly maxBytes?: number;
  readonly localRoots?: readonly string[] | 'any';
  readonly ssrfPolicy?: {
    readonly allowPrivateNetwork?: boolean;
    readonly allowedHostnames?: readonly string[];
  };
}

/** The options of loading from the web. */
interface WebOptions extends Pick<MediaOptions, 'ssrfPolicy'> {
  readonly fetchImpl?: typeof fetch;
  readonly requestInit?: RequestInit;
}

interface Media {
  readonly buffer: Buffer;
  readonly contentType?: string;
  readonly kind: MediaKind | undefined;
  readonly fileName?: string;
}

/** The bytes of a file, if the caller names no other bound. */
export const usualMaxBytes = 100 * 1_048_576;
const timeoutMs = 30_000;
const mostRedirects = 3;

/** The networks of this machine, and private ones. A rule for IPv4 holds for its addresses in IPv6, too. */
const ownNetworks = [
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.168.0.0/16',
  '224.0.0.0/3 ::/127 fc00::/7 fe80::/10 ff00::/8',
].flatMap((line) => line.split(' '));
const own = new BlockList();
for (const network of ownNetworks) {
  const [net = '', bits] = network.split('/');
  own.addSubnet(net, Number(bits), net.includes(':') ? 'ipv6' : 'ipv4');
}

/**
 * `api.runtime.media.loadWebMedia`: the bytes of a URL or of a file. A file has to lie in one of `localRoots`, or in `folders` or the
 * folder of temporary files. A host of this machine or of a private network is refused, unless `ssrfPolicy` allows it; its name is
 * looked up before each request, which goes to the address that was found. Images are not made smaller.
 *
 * @param folders those of the plugin.
 * @throws Error (as a rejection) if it may not be loaded, is larger than `maxBytes` or takes longer than 30 seconds.
 */
export async function loadWebMedia(
  folders: readonly string[],
  given: string,
  options: number | MediaOptions = {},
): Promise<Media> {
  const { maxBytes = usualMaxBytes, ...rest }: MediaOptions =
    typeof options === 'number' ? { maxBytes: options } : options;
  const text = given.replace(/^\s*MEDIA\s*:\s*/i, '');
  if (/^https?:/i.test(text)) return fromWeb(new URL(text), maxBytes, rest);
  const path = await realpath(text.startsWith('file:') ? fileURLToPath(text) : text);
  const { localRoots = [...folders, tmpdir()] } = rest;
  const roots = localRoots === 'any' ? [...folders, tmpdir()] : localRoots;
  const real = await Promise.all(roots.map((root) => realpath(root).catch(() => undefined)));
  if (!real.some((root) => root !== undefined && path.startsWith(root + sep)))
    throw new Error(`media ${text} lies in no folder that it may be read from`);
  const { size } = await stat(path);
  if (size > maxBytes) throw tooLarge(text, maxBytes);
  return media(await readFile(path), path, undefined);
}

/** Loads from the web. @param options.fetchImpl asks in place of `fetch`. */
export async function fromWeb(url: URL, maxBytes: number, options: WebOptions): Promise<Media> {
  const { fetchImpl, requestInit, ssrfPolicy } = options;
  const signal = AbortSignal.timeout(timeoutMs);
  let at = url;
  for (let redirects = 0; redirects <= mostRedirects; redirects++) {
    const found = await checkedHost(at, ssrfPolicy);
    const isHome = at.origin === url.origin; // another server gets no secret, and nothing else that was meant for this one
    const own = isHome ? {} : { headers: undefined, body: undefined, method: undefined };
    const init = definedFields({ ...requestInit, ...own, redirect: 'manual', signal } as const);
    const answer =
      fetchImpl === undefined && found !== undefined
        ? await fetchFrom(found, at, init)
        : await (fetchImpl ?? fetch)(at.href, init);
    const next = answer.headers.get('location');
    if (answer.status >= 300 && answer.status < 400 && next !== null) {
      await answer.body?.cancel();
      at = new URL(next, at);
      continue;
    }
    if (!answer.ok) throw new Error(`media ${url.href}: the answer is ${answer.status}`);
    const parts: Uint8Array[] = [];
    let bytes = 0;
    for await (const part of answer.body ?? []) {
      bytes += part.length;
      if (bytes > maxBytes) throw tooLarge(url.href, maxBytes);
      parts.push(part);
    }
    return media(Buffer.concat(parts), at.pathname, answer.headers.get('content-type'));
  }
  throw new Error(`media ${url.href}: more than ${mostRedirects} redirects`);
}

/** Asks a URL at addresses that were found before: its name may lead elsewhere by now. */
export async function fetchFrom(
  found: readonly LookupAddress[],
  url: URL,
  { method = 'GET', headers, body, signal }: RequestInit & { readonly signal: AbortSignal },
): Promise<Response> {
  const { request } = url.protocol === 'https:' ? https : http;
  const lookup: LookupFunction = (_host, { all }, done) => {
    const [first] = found;
    if (all === true) done(null, [...found]);
    else done(null, first?.address ?? '', first?.family);
  };
  const asked = new Request(url, { method, ...definedFields({ headers, body }) });
  const usual = { accept: '*/*', 'user-agent': 'node' }; // as `fetch` says them
  const own = { ...usual, ...Object.fromEntries(asked.headers) };
  const sent = request(url, { method, headers: own, signal, lookup });
  sent.on('error', () => undefined); // it may fail when its answer is there
  sent.end(Buffer.from(await asked.arrayBuffer()));
  const [answer] = (await once(sent, 'response')) as [http.IncomingMessage]; // as Node emits it
  const { statusCode: status = 500, headers: given } = answer;
  const said = Object.entries(given).map(([name, value]): [string, string] => [name, `${value}`]);
  const hasBody = ![204, 205, 304].includes(status);
  // a stream of Node and one of the web are two types of one thing
  const stream = hasBody ? (Readable.toWeb(answer) as ReadableStream) : null;
  return new Response(stream, { status, headers: said });
}

/**
 * The addresses of a URL's host; nothing if the policy allows whatever it is.
 *
 * @throws Error (as a rejection) if the URL may not be asked.
 */
async function checkedHost(
  url: URL,
  policy: MediaOptions['ssrfPolicy'] = {},
): Promise<readonly LookupAddress[] | undefined> {
  if (!/^https?:$/.test(url.protocol)) throw new Error(`media ${url.href} is not of the web`);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (policy.allowPrivateNetwork === true || policy.allowedHostnames?.includes(host))
    return undefined;
  const found = await lookup(host, { all: true });
  const isOwn = found.some(({ address, family }) =>
    own.check(address, family === 6 ? 'ipv6' : 'ipv4'),
  );
  if (isOwn) throw new Error(`media ${url.href} lies in this machine or a private network`);
  return found;
}

async function media(
  buffer: Buffer,
  path: string,
  header: string | null | undefined,
): Promise<Media> {
  const contentType = await detectMime({ buffer, filePath: path, headerMime: header ?? null });
  const fileName = basename(path);
  return {
    buffer,
    ...(contentType !== undefined && { contentType }),
    kind: mediaKindFromMime(contentType),
    ...(fileName !== '' && { fileName }),
  };
}

function tooLarge(what: string, maxBytes: number): Error {
  return new Error(`media ${what} is larger than ${maxBytes} bytes`);
}
