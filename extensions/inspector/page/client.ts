import { signal } from '../vendor/preact.js';
import type { About } from './shapes.js';

/** The key of this browser's session. Other half of the login: a cookie that no script reads. */
const kept = `sluice-inspector ${location.pathname}`;

/** The server has refused this browser, or it has never logged in. */
export const isLocked = signal(localStorage.getItem(kept) === null);
/** The stream of events stands. */
export const isConnected = signal(false);
/** The inspector's word on itself. */
export const about = signal<About | undefined>(undefined);

/** Logs in with a token, or with an address that has one. */
export async function login(text: string): Promise<void> {
  const token = /token=([\w-]+)/.exec(text)?.[1] ?? text.trim();
  const init = { method: 'POST', headers: { authorization: `Bearer ${token}` } };
  const answer = await fetch('api/login', init);
  localStorage.setItem(kept, (await dataOf<{ readonly key: string }>(answer)).key);
  isLocked.value = false;
}

/** Ends the session of this browser. */
export async function logout(): Promise<void> {
  await post('logout', {});
  localStorage.removeItem(kept);
  location.reload();
}

/** The address that was printed has the token in its fragment: no server and no log gets it from there. */
export async function loginByLink(): Promise<void> {
  if (!location.hash.startsWith('#token=')) return;
  const link = location.hash;
  history.replaceState(null, '', '#/messages');
  await login(link).catch(() => undefined); // any page may open a wrong one: it takes no login away
}

async function asked(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { 'x-sluice-page': localStorage.getItem(kept) ?? '' };
  const answer = await fetch(`api/${path}`, { ...init, headers });
  if (answer.status === 401) isLocked.value = true;
  return answer;
}

async function dataOf<T>(answer: Response): Promise<T> {
  const value = (await answer.json()) as T & { readonly error?: string }; // as the server writes it
  if (!answer.ok) throw new Error(value.error ?? `the server answers ${answer.status}`);
  return value;
}

/** Asks for data. */
export async function get<T>(
  name: string,
  query: Readonly<Record<string, string>> = {},
): Promise<T> {
  const signal = AbortSignal.timeout(60_000); // a connection may be dead without a word
  return dataOf<T>(await asked(`${name}?${new URLSearchParams(query)}`, { signal }));
}

/** Asks for a change. */
export async function post<T>(name: string, body: object): Promise<T> {
  const init = { method: 'POST', body: JSON.stringify(body) };
  return dataOf<T>(await asked(name, init));
}

/** Hears how many entries have happened. */
type Listener = (count: number) => void;

const listeners = new Set<Listener>();

/** Listens to what happens from now on. @returns the end of it. */
export function listen(listener: Listener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Follows the events for ever. After a break it looks at once, since nobody tells what has happened meanwhile. */
export function followEvents(): void {
  const events = new EventSource('api/events');
  const tell = (count: number): void => {
    for (const listener of listeners) listener(count);
  };
  events.onopen = () => {
    isConnected.value = true;
    tell(0);
  };
  events.onmessage = ({ data }) => tell(Number(data));
  events.onerror = () => {
    isConnected.value = false;
    if (events.readyState === EventSource.CLOSED && !isLocked.value)
      setTimeout(followEvents, 2_000);
  };
}
