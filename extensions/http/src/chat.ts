import { jsonOf } from 'sluice/chat';
import { z } from 'zod';
import { Answer, keptPrefix } from './answers.js';
import type { HttpConfig } from './config.js';
import { type Caller, digestOf } from './keys.js';
import { refusal } from './refusal.js';
import {
  type HttpPress,
  type HttpUpdate,
  newUpdateId,
  type UnreadableUpdate,
  unreadable,
} from './update.js';

const none = (why: string) => z.array(z.unknown()).max(0, why).nullish();
const ownTools = 'the agent has tools of its own, and takes none from its clients';

/** The part of a request that counts. Settings of a model are the agent's own: they are read past. */
const completion = z.looseObject(
  {
    model: z.string(),
    messages: z.array(z.looseObject({ role: z.string(), content: z.unknown() })).min(1),
    stream: z.boolean().nullish(),
    // no lone surrogate, no line end
    user: z
      .string()
      .regex(/^\P{C}{1,128}$/u, 'has to be 1 to 128 characters that can be printed')
      .nullish(),
    n: z.literal(1).nullish(),
    tools: none(ownTools),
    functions: none(ownTools),
    metadata: z.unknown().optional(),
    response_format: z.looseObject({ type: z.literal('text') }).nullish(),
  },
  'the body has to be an object in JSON',
);

const content = z.union([
  z.string().transform((text) => [{ type: 'text' as const, text }]),
  z.array(
    z.discriminatedUnion('type', [
      z.object({ type: z.literal('text'), text: z.string() }),
      z.object({
        type: z.literal('image_url'),
        image_url: z.object({ url: z.string().regex(/^(https?:|data:image\/)/) }),
      }),
    ]),
  ),
]);
const said = z.object({ role: z.literal('user'), content });

/** A request for a completion, read. */
interface ChatRequest {
  readonly update: HttpUpdate;
  readonly answer: Answer;
  /** The conversation as its client may name it from now on. */
  readonly conversation: string;
  readonly model: string;
  readonly isStream: boolean;
}

/**
 * Reads a request. The last message is what is said; the others are the client's copy of a conversation whose transcript the
 * host has, and count for nothing but its name (http §2.2).
 *
 * @returns an update alone if it cannot be read: the journal keeps that it came.
 */
export function readChat(
  text: string,
  headers: Headers,
  { name, isFrontEnd, isProven }: Caller,
  config: HttpConfig,
): ChatRequest | UnreadableUpdate | Response {
  const { models, tasks } = config;
  const { data, error } = completion.safeParse(jsonOf(text));
  if (data === undefined) return unreadable(text, error.issues[0]);
  const { model, messages, user } = data;
  const settings = Object.hasOwn(models, model) ? models[model] : undefined;
  if (settings === undefined)
    return refusal(404, 'model_not_found', `there is no model "${model}"`, { param: 'model' });
  const at = messages.length - 1;
  const last = said.safeParse(messages[at]);
  if (last.data === undefined)
    return unreadable(text, {
      message: 'the last message has to be of the user, with text and images alone',
      path: ['messages', at],
    });
  const { content } = last.data;
  const words = content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
  const isTask = tasks !== 'say' && isTaskOf(data, words);
  if (isTask && tasks === 'refuse')
    return refusal(
      400,
      'front-end-task',
      'this is a task of the front end, and no message: the setting "tasks" says who does it',
    );
  if (isFrontEnd && typeof user !== 'string')
    return refusal(400, 'user-missing', 'this key is of a front end: name the "user"', {
      param: 'user',
    });
  const named = namedBy(headers, config);
  const key = headers.get('idempotency-key');
  if ([named, key].some((one) => one !== null && !isName(one))) return badHeader();
  const senderId = isFrontEnd ? `${name}/${user}` : name;
  const first = messages.find(({ role }) => role === 'user');
  const updateId = key === null ? newUpdateId() : keptPrefix + digestOf(senderId, key);
  const conversation = isTask
    ? `task-${updateId}`
    : (named ?? digestOf(model, said.safeParse(first).data?.content));
  const conversationId = idOfConversation(senderId, conversation);
  const { agent } = isTask && typeof tasks === 'object' ? tasks : settings;
  return {
    answer: new Answer(updateId, conversationId, digestOf(conversationId, model, content)),
    ...{ conversation, model, isStream: data.stream === true },
    update: {
      ...{ kind: 'message', conversationId, answerTo: `${conversationId}#${updateId}` },
      ...{ messageId: updateId, senderId, isProven, mayCommand: !isFrontEnd && !isTask },
      text: words,
      images: content.flatMap((part) => (part.type === 'image_url' ? [part.image_url.url] : [])),
      ...(agent !== undefined && { agent }),
      ...spokenBy(headers),
    },
  };
}

/** The press of a button, before it is read. */
const pressed = z.strictObject({
  button: z.string().min(1).max(200),
  user: z
    .string()
    .regex(/^\P{C}{1,128}$/u)
    .optional(),
});

/** Reads the press of a button of an answer (http §8.2). Its conversation is named by the header. */
export function readPress(
  text: string,
  headers: Headers,
  { name, isFrontEnd, isProven }: Caller,
  config: HttpConfig,
): HttpPress | Response {
  const { data } = pressed.safeParse(jsonOf(text));
  const conversation = namedBy(headers, config);
  if (data === undefined || (isFrontEnd && data.user === undefined))
    return refusal(
      400,
      'bad-press',
      `a press is { "button": ID${isFrontEnd ? ', "user": NAME' : ''} }`,
    );
  if (conversation === null || !isName(conversation)) return badHeader();
  const senderId = isFrontEnd ? `${name}/${data.user}` : name;
  return {
    ...{ kind: 'press', conversationId: idOfConversation(senderId, conversation) },
    ...{ interactionId: newUpdateId(), senderId, isProven, button: data.button },
    ...spokenBy(headers),
  };
}

/** The name of a conversation. The header that answers name it in counts beside that of the config: the page has no other. */
function namedBy(headers: Headers, { conversationHeader }: HttpConfig): string | null {
  return headers.get(conversationHeader) ?? headers.get('x-sluice-conversation');
}

/** The language that the client asks for first. */
function spokenBy(headers: Headers): { readonly locale?: string } {
  const [locale] =
    /^[a-z]{2,3}(-[a-z0-9]{1,8}){0,3}/i.exec(headers.get('accept-language') ?? '') ?? [];
  return locale === undefined ? {} : { locale };
}

function idOfConversation(senderId: string, conversation: string): string {
  return `http:${[senderId, conversation].map(encodeURIComponent).join('/')}`;
}

function isName(text: string): boolean {
  return /^[\x21-\x7e]{1,128}$/.test(text);
}

function badHeader(): Response {
  return refusal(400, 'bad-header', 'a name and a key have 1 to 128 characters of ASCII');
}

const taskNames =
  /^(title|tags|follow_up|query|image_prompt|autocomplete|emoji|moa_response)_generation$/;

/**
 * Returns whether a request is a task of Open WebUI, such as a title: it says so, or it is nothing but the filled template, with the
 * chat in it. A person's message comes with the messages before it, and without that block.
 */
function isTaskOf({ messages, metadata }: z.infer<typeof completion>, text: string): boolean {
  if (taskNames.test(String(Object(metadata).task))) return true;
  const isAlone = messages.filter(({ role }) => role !== 'system').length === 1;
  const [, history] = text.split('<chat_history>');
  return isAlone && /^\s*### Task:/.test(text) && history?.includes('</chat_history>') === true;
}
