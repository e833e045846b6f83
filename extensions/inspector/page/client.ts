import { signal } from '../vendor/preact.js';
import type { About } from './shapes.js';

const kept = 'sluice-inspector-token';

/** The token, which came in the fragment of the address: no server and no log gets it from there. */
const given = /^#token=([\w-]+)$/.exec(location.hash)?.[1];
if (given !== undefined) {
  sessionStorage.setItem(kept, given);
  history.replaceState(null, '', '#/messages');
}

/** The server has refused the token, or there is none. */
export const isLocked = signal(sessionStorage.getItem(kept) === null);
/** The stream of events stands. */
export const isConnected = signal(false);
/** The inspector's word on itself. */
export const about = signal<About | undefined>(undefined);

/** Takes a token that was typed, or an address with one. */
export function unlock(text: string): void {
  const token = /token=([\w-]+)/.exec(text)?.[1] ?? text.trim();
  sessionStorage.setItem(kept, token);
  location.reload();
}

async function asked(path: string, init: RequestInit = {}): Promise<Response> {
  const token = sessionStorage.getItem(kept) ?? '';
  const headers = { ...init.headers, authorization: `Bearer ${token}` };
  const answer = await fetch(`/api/${path}`, { ...init, headers });
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

/** Follows the events for ever: after a break it goes on after the last one that it has. */
export async function followEvents(): Promise<never> {
  let last = '';
  for (;;) {
    try {
      const since = last === '' ? {} : { headers: { 'last-event-id': last } };
      const answer = await asked('events', since);
      const reader = answer.ok ? answer.body?.getReader() : undefined;
      isConnected.value = reader !== undefined;
      const decoder = new TextDecoder();
      let text = '';
      for (
        let part = await reader?.read();
        part?.value !== undefined;
        part = await reader?.read()
      ) {
        text += decoder.decode(part.value, { stream: true });
        const events = text.split('\n\n');
        text = events.pop() ?? '';
        for (const event of events) last = heard(event) ?? last;
      }
    } catch {
      // it is tried again
    }
    isConnected.value = false;
    await new Promise((resolve) => setTimeout(resolve, 2_000));
  }
}

function heard(event: string): string | undefined {
  const fields = new Map(
    event.split('\n').map((line) => {
      const at = line.indexOf(': ');
      return [line.slice(0, at), line.slice(at + 2)] as const;
    }),
  );
  const data = fields.get('data');
  if (data === undefined) return undefined;
  const { count = 1 } = JSON.parse(data) as { readonly count?: number }; // an entry, or a sum of entries
  for (const listener of listeners) listener(count);
  return fields.get('id');
}
