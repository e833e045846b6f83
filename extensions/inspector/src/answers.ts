import type { Clock } from 'sluice';
import { search } from './search.js';
import type { InspectorSource } from './source.js';

/** The data of a request: the query of a GET, or the body of a POST. */
export type Given = Readonly<Record<string, unknown>>;

/** A request that cannot be answered, in words for the one who made it. */
export class RequestProblem extends Error {}

/** Answers the questions of the page. */
export interface Answers {
  find(method: string, name: string): ((given: Given) => Promise<unknown>) | undefined;
}

/** The leave that an inspector has. */
export interface Allowed {
  readonly write: boolean;
  readonly text: boolean;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Makes the answers to the questions of the page: `GET` reads, `POST` changes something, and needs the operator's leave. */
export function answersOf(source: InspectorSource, allowed: Allowed): Answers {
  const { write, text } = allowed;
  const { reader } = source;
  const reads: Readonly<Record<string, (given: Given) => Promise<unknown>>> = {
    about: async () => ({ name: source.name, write, text, live: source.host !== undefined }),
    list: async ({ q = '', before }) => {
      const at = Number(before);
      return search(reader, { words: String(q), text, ...(at > 0 && { before: at }) });
    },
  };
  return {
    find: (method, name) =>
      method === 'GET' && Object.hasOwn(reads, name) ? reads[name] : undefined,
  };
}
