import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Clock } from 'sluice';
import { isSameSecret } from 'sluice/chat';

/** Browsers that may be logged in at once; the one that logged in first goes. */
const mostSessions = 64;
/** Milliseconds after which a session ends that nobody uses: a page that is open uses it. */
const idleMs = 12 * 3_600_000;

interface Session {
  readonly key: string;
  usedMs: number;
}

/**
 * The browsers that have shown the token. Each knows two halves: a cookie, which no script reads, and a key, which its page keeps.
 * A browser sends a cookie to every port of an address, so also to a server of somebody else there: that one lacks the key.
 */
export class Sessions {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #open = new Map<string, Session>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Opens a session. @returns its cookie, for the path of the request as its browser sees it, and its key. */
  open(request: IncomingMessage): { readonly cookie: string; readonly key: string } {
    const [oldest] = this.#open.keys();
    if (this.#open.size >= mostSessions && oldest !== undefined) this.#open.delete(oldest);
    const [id, key] = [randomBytes(24), randomBytes(24)].map((one) => one.toString('base64url'));
    this.#open.set(`${id}`, { key: `${key}`, usedMs: this.#clock.now() });
    return { cookie: cookieOf(request, `${id}`), key: `${key}` };
  }

  /** Tells if a request is of an open session. @param needsKey the cookie alone is not enough. */
  knows(request: IncomingMessage, needsKey: boolean): boolean {
    const id = idIn(request);
    const session = this.#open.get(id);
    if (session === undefined) return false;
    if (this.#clock.now() - session.usedMs > idleMs) {
      this.#open.delete(id);
      return false;
    }
    if (needsKey && !isSameSecret(request.headers['x-sluice-page'], session.key)) return false;
    session.usedMs = this.#clock.now();
    return true;
  }

  /** Ends the session of a request. @returns the cookie that takes its cookie away. */
  close(request: IncomingMessage): string {
    this.#open.delete(idIn(request));
    return `${cookieOf(request, '')}; Max-Age=0`;
  }
}

/** Inspectors at other ports of the address have cookies of their own. */
function nameOf({ socket }: IncomingMessage): string {
  return `sluice-inspector-${socket.localPort}`;
}

/** It has no `Path`: a browser takes that of the request, with the prefix of a proxy. */
function cookieOf(request: IncomingMessage, id: string): string {
  const secure = request.headers.origin?.startsWith('https:') ? '; Secure' : '';
  return `${nameOf(request)}=${id}; HttpOnly; SameSite=Strict${secure}`;
}

function idIn(request: IncomingMessage): string {
  const name = `${nameOf(request)}=`;
  const cookies = (request.headers.cookie ?? '').split(/; ?/);
  return cookies.find((one) => one.startsWith(name))?.slice(name.length) ?? '';
}
