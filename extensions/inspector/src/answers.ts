import pLimit from 'p-limit';
import type { Clock } from 'sluice';
import { extensionsView, stagesView } from './extensions-view.js';
import { type Figures, readFigures } from './figures.js';
import { nowView } from './now-view.js';
import { RequestProblem } from './problem.js';
import { knownMessage, messages, search, withMessages } from './search.js';
import type { InspectorSource, ReplayRequest } from './source.js';
import { payloadView, timelineView } from './timeline-view.js';

/** The data of a request: the query of a GET, or the body of a POST. */
export type Given = Readonly<Record<string, unknown>>;

type Answer = (given: Given) => Promise<object | undefined>;

/** Answers the questions of the page. */
export interface Answers {
  find(method: string, name: string): Answer | undefined;
}

/** The leave that an inspector has. */
interface Allowed {
  readonly write: boolean;
  readonly text: boolean;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const deadAtMost = 1_000;
/** Dead letters that are written side by side. */
const writesAtOnce = 8;

/** Makes the answers to the questions of the page. One that changes something is a `POST`, and needs the operator's leave. */
export function answersOf(source: InspectorSource, allowed: Allowed): Answers {
  const { write, text, clock } = allowed;
  const { reader, host, tended, approvals } = source;
  let figures: Promise<Figures> | undefined;
  let replaying = false;
  const dead = { states: ['dead'], limit: deadAtMost } as const;

  const reads: Readonly<Record<string, Answer>> = {
    about: async () => ({
      ...{ name: source.name, write, text, live: host !== undefined },
      replays: source.replay !== undefined,
      dead: (await reader.counts()).updates.dead,
    }),
    list: async (given) => search(reader, { ...queryIn(given), text }),
    messages: async (given) => messages(reader, { ...queryIn(given), text }),
    way: async ({ id }) =>
      timelineView(await knownMessage(reader, textIn(id, 'id')), text, clock.now()),
    payload: async ({ id }) =>
      payloadView(await knownMessage(reader, textIn(id, 'id')), String(id)),
    now: async () => {
      const lose = (): void => {
        figures = undefined; // the next look begins again
      };
      figures ??= readFigures(reader, allowed, lose);
      figures.catch(lose);
      return nowView(source, await figures, allowed);
    },
    dead: async () => {
      const rows = await reader.updates({ ...dead, withoutBody: true });
      return withMessages(reader, rows, ({ eventId }) => eventId, text);
    },
    body: async ({ id }) => {
      const [update] = await reader.updates({ eventId: textIn(id, 'id') });
      if (update === undefined) throw new RequestProblem('the journal has no such message', 404);
      return { body: update.body };
    },
    approvals: async () => {
      const rows: readonly Given[] = (await approvals?.list())?.map((row) => ({ ...row })) ?? [];
      return withMessages(reader, rows, ({ correlationId }) => correlationId, text);
    },
    extensions: async () => (host === undefined ? undefined : extensionsView(host)),
    findings: async () => source.findings?.() ?? [],
    stages: async () => (host === undefined ? source.stages?.() : stagesView(host)) ?? [],
  };

  const writes: Readonly<Record<string, Answer>> = {
    retry: async ({ ids }) => {
      const done = await pLimit(writesAtOnce).map(idsIn(ids), (id) => there(tended).retry(id));
      return { done: done.filter(Boolean).length };
    },
    purge: async ({ ids }) => {
      const counts = await pLimit(writesAtOnce).map(idsIn(ids), (id) => there(tended).purge(id));
      return { done: counts.reduce((sum, count) => sum + count, 0) };
    },
    answer: async ({ id, state, reason, always }) => {
      if (state !== 'allowed' && state !== 'denied')
        throw new RequestProblem('an answer is allowed or denied');
      await there(approvals).answer({
        ...{ id: textIn(id, 'id'), state },
        ...(typeof reason === 'string' && reason !== '' && { reason }),
        ...(typeof always === 'string' && always !== '' && { always }),
      });
      return { done: 1 };
    },
    reload: async ({ extensionId }) => there(host).reload(textIn(extensionId, 'extensionId')),
    stop: async ({ sessionKey }) => ({
      done: there(host).abortTurns(textIn(sessionKey, 'sessionKey')),
    }),
  };

  /** It changes nothing: the dispatches have no effects. */
  const differ: Answer = async (given) => {
    if (replaying) throw new RequestProblem('another comparison is under way', 503);
    replaying = true;
    try {
      return await there(source.replay)(replayIn(given));
    } finally {
      replaying = false;
    }
  };

  return {
    find: (method, name) => {
      if (method === 'GET') return ownOf(reads, name);
      if (method !== 'POST') return undefined;
      if (name === 'differ') return differ;
      const answer = ownOf(writes, name);
      if (answer === undefined || write) return answer;
      return async () => {
        throw new RequestProblem(
          'this page may change nothing: start it with --inspect-write',
          403,
        );
      };
    },
  };
}

function ownOf(answers: Readonly<Record<string, Answer>>, name: string): Answer | undefined {
  return Object.hasOwn(answers, name) ? answers[name] : undefined;
}

function there<Part>(part: Part | undefined): Part {
  if (part === undefined) throw new RequestProblem('this inspector cannot do that');
  return part;
}

function textIn(value: unknown, field: string): string {
  if (typeof value === 'string' && value !== '' && value.length <= 1_000) return value;
  throw new RequestProblem(`"${field}" is missing`);
}

function idsIn(value: unknown): readonly string[] {
  if (Array.isArray(value) && value.length <= deadAtMost)
    return value.map((id) => textIn(id, 'ids'));
  throw new RequestProblem(`"ids" is a list of at most ${deadAtMost} ids`);
}

function queryIn({ q = '', before }: Given) {
  const seq = Number(before || Number.NaN);
  return { words: String(q), before: Number.isSafeInteger(seq) && seq >= 0 ? seq : undefined };
}

function replayIn({ eventId, family, last, payload }: Given): ReplayRequest {
  if (family !== undefined)
    return {
      family: textIn(family, 'family'),
      last: Math.min(1_000, Math.max(1, Number(last) || 20)),
    };
  const isObject = typeof payload === 'object' && payload !== null && !Array.isArray(payload);
  return { eventId: textIn(eventId, 'eventId'), ...(isObject && { payload: { ...payload } }) };
}
