import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { keptPrefix } from './answers.js';
import type { HttpConfig } from './config.js';
import { type Caller, nameOf } from './keys.js';
import { RequestProblem } from './problem.js';
import type { HttpUpdate } from './update.js';

const none = (why: string) => z.array(z.unknown()).max(0, why).nullish();
const ownTools = 'the agent has tools of its own, and takes none from its clients';

/** The part of a request that counts. Settings of a model are the agent's own: they are read past. */
const completion = z.looseObject({
  model: z.string(),
  messages: z
    .array(z.looseObject({ role: z.string(), content: z.unknown() }))
    .min(1)
    .max(10_000),
  stream: z.boolean().nullish(),
  user: z.string().min(1).max(128).nullish(),
  n: z.literal(1).nullish(),
  tools: none(ownTools),
  functions: none(ownTools),
  response_format: z.looseObject({ type: z.literal('text') }).nullish(),
});

const content = z.union([
  z.string().transform((text) => [{ type: 'text' as const, text }]),
  z.array(
    z.discriminatedUnion('type', [
      z.looseObject({ type: z.literal('text'), text: z.string() }),
      z.looseObject({
        type: z.literal('image_url'),
        image_url: z.looseObject({ url: z.string().regex(/^(https?:|data:image\/)/) }),
      }),
    ]),
  ),
]);

/** A request for a completion, read. */
export interface ChatRequest {
  readonly update: HttpUpdate;
  readonly updateId: string;
  readonly conversationId: string;
  /** The conversation as its client may name it from now on. */
  readonly conversation: string;
  /** Of the whole request. */
  readonly digest: string;
  readonly model: string;
  readonly isStream: boolean;
}

/** A request that cannot be read. The journal keeps that it came. */
export interface UnreadableRequest {
  readonly update: HttpUpdate;
}

/**
 * Reads a request. The last message is what is said; the others are the client's copy of a conversation whose transcript the
 * host has, and count for nothing but its name (http §2).
 *
 * @throws RequestProblem if it is no request for this host.
 */
export function readChat(
  text: string,
  headers: IncomingHttpHeaders,
  caller: Caller,
  { models, conversationHeader }: Pick<HttpConfig, 'models' | 'conversationHeader'>,
): ChatRequest | UnreadableRequest {
  const begins = text.slice(0, 1_000);
  const unreadable = (problem: string, path: readonly PropertyKey[] = []): UnreadableRequest => ({
    update: {
      ...{ kind: 'unreadable', problem, begins },
      ...(path.length > 0 && { path: `/${path.map(String).join('/')}` }),
    },
  });
  const json = jsonOf(text);
  if (json === undefined) return unreadable('the body is no JSON');
  const { data, error } = completion.safeParse(json);
  if (data === undefined) {
    const [issue] = error.issues;
    return unreadable(issue?.message ?? 'it is no request', issue?.path);
  }
  const { model, messages, user } = data;
  const settings = Object.hasOwn(models, model) ? models[model] : undefined;
  if (settings === undefined)
    throw new RequestProblem(404, 'model_not_found', `there is no model "${model}"`, {
      param: 'model',
    });
  const at = messages.length - 1;
  const last = messages[at];
  if (last?.role !== 'user')
    return unreadable('the last message has to be of the role "user"', ['messages', at, 'role']);
  const said = content.safeParse(last.content);
  if (said.data === undefined)
    return unreadable('only text and images can be read', ['messages', at, 'content']);
  if (caller.isFrontEnd && typeof user !== 'string')
    throw new RequestProblem(400, 'user-missing', 'this key is of a front end: name the "user"', {
      param: 'user',
    });
  const person = caller.isFrontEnd
    ? `${caller.name}/${encodeURIComponent(user ?? '')}`
    : caller.name;
  const first = messages.find(({ role }) => role === 'user');
  const conversation = headerOf(headers, conversationHeader) ?? nameOf(model, first?.content);
  const conversationId = `http:${person}/${encodeURIComponent(conversation)}`;
  const key = headerOf(headers, 'idempotency-key');
  const updateId = key === undefined ? `req-${randomUUID()}` : keptPrefix + nameOf(person, key);
  const { agent } = settings;
  return {
    ...{ updateId, conversationId, conversation, model },
    digest: nameOf(conversationId, model, last.content),
    isStream: data.stream === true,
    update: {
      ...{ kind: 'message', conversationId, messageId: updateId, senderId: person },
      answerTo: `${conversationId}#${updateId}`,
      isProven: caller.isProven,
      mayCommand: !caller.isFrontEnd,
      text: said.data.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n'),
      images: said.data.flatMap((part) => (part.type === 'image_url' ? [part.image_url.url] : [])),
      ...(agent !== undefined && { agent }),
    },
  };
}

/** @throws RequestProblem if it is there, and no short text. */
function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  if (value === undefined) return undefined;
  if (typeof value === 'string' && /^[\x21-\x7e]{1,128}$/.test(value)) return value;
  throw new RequestProblem(400, 'bad-header', `"${name}" has to be 1 to 128 characters of ASCII`);
}

/** Reads JSON; what is none is nothing. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
