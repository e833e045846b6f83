import type { ServerResponse } from 'node:http';
import type { Clock, ExtensionApi, Logger, Ref } from 'sluice';
import {
  type ApprovedMessage,
  type ChannelInbox,
  type ChannelPlugin,
  checkedPermits,
  checkPermit,
  type SendPermit,
  type SendResult,
  type StreamPermits,
  type StreamSender,
} from 'sluice/channel';
import { Answer, Answers, type Part } from './answers.js';
import { callBack } from './callback.js';
import { readChat, readPress } from './chat.js';
import type { HttpConfig, WebhookConfig } from './config.js';
import { declaration } from './declaration.js';
import { follow, streamed, whole } from './readers.js';
import { busy, later, refusal } from './refusal.js';
import { type Served, type ServedParts, serve } from './server.js';
import {
  decodeUpdate,
  type HttpPress,
  type HttpUpdate,
  newUpdateId,
  type UnreadableUpdate,
} from './update.js';
import { hookPrefix, markOf, readWebhook, signedText } from './webhook.js';

/** The parts of the channel. */
interface HttpChannelOptions {
  /** The settings, as the extension's schema has read them. */
  readonly config: HttpConfig;
  readonly clock: Clock;
  readonly log: Logger;
  /** Keeps the answers of requests with an idempotency key. */
  readonly store: ExtensionApi['store'];
}

/** HTTP as a channel. */
interface HttpChannel extends ChannelPlugin {
  /** The address of the chat page and of `/v1`, while it listens. */
  readonly url: string | undefined;
  /** Returns whether nobody wants what is sent there. */
  wantsNoAnswer(to: string): boolean;
  /** Takes note that the turn of a message has begun, or ended. */
  turn(message: Ref | null, isRunning: boolean): void;
}

const accountId = 'default';
/** Sends one message. */
type Deliver = (
  message: ApprovedMessage,
  permit: SendPermit,
  signal?: AbortSignal,
) => Promise<SendResult>;

/** The address of answers that nobody waits for. */
const nowhere = '#nowhere';

/**
 * HTTP as a channel: chat completions as OpenAI's clients ask for them, webhooks, and a chat page.
 *
 * @example
 * const channel = httpChannel({ config: config.parse({}), clock, log, store: api.store });
 */
export function httpChannel({ config, clock, log, store }: HttpChannelOptions): HttpChannel {
  const ttlMs = config.keepAnswersHours * 3_600_000;
  const answers = new Answers(store, ttlMs);
  let closing = new AbortController();
  let host: ChannelInbox | undefined;
  let served: Served | undefined;

  const parts = { config, clock, store, answers, ttlMs };
  const { chat, press, hook } = requests(parts, async (raw, updateId) =>
    host?.receive({ raw, updateId, receivedAtMs: clock.now() }),
  );
  const deliver = deliveryOf(parts, () => closing.signal);

  return {
    id: declaration.id,
    accounts: [accountId],
    capabilities: {
      deduplicatesSends: true,
      interactive: ['buttons'],
      ...(config.streaming && { canStreamResponse: true }),
      ...(config.keys.length === 0 && { provesNobody: true }),
    },
    resendPolicy: { ambiguous: 'resend', maxAttempts: 5, maxWaitMs: 120_000 },

    get url() {
      return served?.url;
    },

    wantsNoAnswer: (to) => {
      const settings = hookOf(config, to);
      return to.endsWith(nowhere) || (settings !== undefined && settings.callback === undefined);
    },

    turn: (message, isRunning) => {
      const answer = message?.channel === declaration.id ? answers.open.get(message.id) : undefined;
      if (answer === undefined) return;
      answer.isRunning = isRunning;
      answer.stopIfUnwanted();
    },

    startAccount: async (_, inbox) => {
      host = inbox;
      closing = new AbortController();
      served = await serve({ config, clock, log, chat, press, hook });
    },

    stopIntake: async () => served?.stop(),

    stopAccount: async () => {
      for (const answer of answers.open.values()) answers.close(answer, { status: 'aborted' });
      closing.abort();
      await served?.close();
      served = undefined;
    },

    decodeIngress: decodeUpdate,

    updateEnded: (_, end) => {
      answers
        .end(end)
        .catch((error: unknown) => log.warn('the end of an answer was not kept', { error }));
    },

    send: async (permit, { signal }) => {
      checkPermit(permit, host);
      return deliver(permit.take(), permit, signal);
    },

    ...(config.streaming && {
      createStreamSender: (permits) =>
        streamSender(checkedPermits(permits, host), answers, deliver),
    }),
    // nothing is shown any more: its connection went with its host
    previews: {
      takeBack: async () => true,
      complete: async (permit) => {
        checkPermit(permit, host);
        return deliver(permit.take(), permit);
      },
    },
  };
}

type Parts = Pick<HttpChannelOptions, 'config' | 'clock' | 'store'> & {
  readonly answers: Answers;
  /** How long answers and marks are kept. */
  readonly ttlMs: number;
};

/** Makes the functions that take requests in. @param receive hands an update to the host. */
function requests(
  { config, clock, store, answers, ttlMs }: Parts,
  receive: (raw: HttpUpdate | HttpPress | UnreadableUpdate, updateId: string) => Promise<unknown>,
): Pick<ServedParts, 'chat' | 'press' | 'hook'> {
  /** Hands an update over whose answer is followed. */
  const handOver = async (answer: Answer, raw: HttpUpdate | UnreadableUpdate): Promise<void> => {
    if ((await receive(raw, answer.updateId)) === 'refused')
      answers.close(answer, { status: 'refused' });
  };

  /** Has the journal keep a body that cannot be read, and answers with the id of its event (http §2.7). */
  const refuse = async (update: UnreadableUpdate, response: ServerResponse): Promise<Response> => {
    const { answer } = await answers.begin(new Answer(newUpdateId(), '', 'unreadable'));
    const refused = follow(answer, response, whole(answer));
    await handOver(answer, update);
    return refused;
  };

  const chat: ServedParts['chat'] = async (caller, request, response, hasPlace) => {
    const read = readChat(await request.text(), request.headers, caller, config);
    if (read instanceof Response) return read;
    if ('kind' in read) return refuse(read, response);
    const { update, conversation, model, isStream } = read;
    if (!hasPlace(update.senderId)) return busy();
    const { digest } = read.answer.kept;
    read.answer.stopTurn = () => {
      const answerTo = `${read.answer.conversationId}${nowhere}`;
      const stop = { ...update, answerTo, text: '/stop', images: [], mayCommand: true };
      void receive(stop, newUpdateId());
    };
    const { answer, isNew } = await answers.begin(read.answer);
    if (answer.kept.digest !== digest) {
      if (isNew) answers.close(answer, { status: 'refused' });
      return refusal(422, 'idempotency-mismatch', 'this key belongs to another request');
    }
    response.setHeader('x-sluice-conversation', conversation);
    const created = Math.floor(clock.now() / 1_000);
    const about = { id: `chatcmpl-${answer.updateId}`, created, model };
    const reader = isStream ? streamed(answer, about, response, clock) : whole(answer, about);
    const followed = follow(answer, response, reader);
    if (isNew) await handOver(answer, update);
    return followed;
  };

  const press: ServedParts['press'] = async (caller, request, _, hasPlace) => {
    const read = readPress(await request.text(), request.headers, caller, config);
    if (read instanceof Response) return read;
    if (!hasPlace(read.senderId)) return busy();
    if ((await receive(read, read.interactionId)) === 'refused')
      return later('not-taken', 'press it again');
    return Response.json({ id: read.interactionId }, { status: 202 });
  };

  const hook: ServedParts['hook'] = async (name, request, response) => {
    const settings = config.webhooks[name];
    const { headers } = request;
    const bytes = Buffer.from(await request.arrayBuffer());
    const signed = settings && signedText(settings, headers, bytes, clock.now());
    if (settings === undefined || signed === undefined)
      return refusal(401, 'bad-signature', 'the signature is not that of this body');
    const update = readWebhook(name, settings, headers, new TextDecoder().decode(bytes));
    if (update.kind === 'unreadable') return refuse(update, response);
    const mark = markOf(name, settings, signed);
    const isFirst = (before?: string) => (before === undefined ? update.messageId : undefined);
    const marked = mark && (await store.update(mark, isFirst, { ttlMs }));
    const messageId = marked ?? update.messageId;
    if ((await receive({ ...update, messageId }, messageId)) === 'refused')
      return later('not-taken', 'bring it again');
    return Response.json({ id: messageId }, { status: 202 });
  };

  return { chat, press, hook };
}

/** Makes the function that sends. @param closing gives up waiting. */
function deliveryOf({ config, clock, answers }: Parts, closing: () => AbortSignal): Deliver {
  return async (message, { idempotencyKey: id, attempt }, signal) => {
    const { to, kind, attachments, interactive } = message;
    const { buttons = [] } = interactive ?? {};
    const numbered = buttons.map(({ label }, at) => `${at + 1}) ${label}`).join('\n');
    const withNumbers = (text: string) => [text, numbered].filter((one) => one !== '').join('\n\n');
    const callback = hookOf(config, to)?.callback;
    if (callback !== undefined)
      return callBack(
        callback,
        { ...message, content: withNumbers(message.content) },
        { id, attempt, signal: signal ?? closing(), clock },
      );
    const content = withNumbers(kind === 'approval' ? fenced(message.content) : message.content);
    if (attachments.some(({ url }) => url === undefined))
      return { status: 'rejected', reason: 'a file of this machine cannot be sent' };
    const answer = await answers.at(to);
    if (answer === undefined || (answer.readers.size === 0 && !answer.isKept))
      return { status: 'rejected', reason: 'nobody waits for it any more' };
    if (kind === 'error' || kind === 'cancel-reply') answer.kept.note = content;
    else {
      const links = attachments.map(({ url = '', name = url }) => `[${name}](${url})`);
      const text = [content, ...links].filter((one) => one !== '').join('\n\n');
      const asked = buttons.length === 0 ? {} : { buttons };
      answer.kept.parts[id] = { field: fieldOf(kind), text, ...asked };
    }
    if (answer.isKept) await answers.keep(answer);
    answer.report();
    return { status: 'sent', receipt: { messageId: id } };
  };
}

/** The settings of the webhook that an address belongs to. */
function hookOf({ webhooks }: HttpConfig, to: string): WebhookConfig | undefined {
  if (!to.startsWith(hookPrefix)) return undefined;
  const [name = ''] = to.slice(hookPrefix.length).split('/', 1);
  return Object.hasOwn(webhooks, name) ? webhooks[name] : undefined;
}

/** A text as a block of code: a reader of Markdown shows each of its characters. */
function fenced(text: string): string {
  const ticks = (text.match(/`+/g) ?? []).map(({ length }) => length + 1);
  const fence = '`'.repeat(Math.max(3, ...ticks));
  return text === '' ? '' : `${fence}\n${text}\n${fence}`;
}

/** The field that a text of some kind belongs to. */
function fieldOf(kind: string): Part['field'] {
  return kind === 'reasoning' ? 'reasoning_content' : 'content';
}

/** Shows one reply while it grows, in the answer that its request waits for. */
function streamSender(permits: StreamPermits, answers: Answers, deliver: Deliver): StreamSender {
  const self = {};
  let field: Part['field'] | undefined;
  let answer: Answer | undefined;

  const show = async (text: string): Promise<void> => {
    if (field === undefined) {
      const { to, kind } = permits.opening.take();
      field = fieldOf(kind);
      answer = await answers.at(to);
    }
    answer?.growing.set(self, { field, text });
    answer?.report();
  };
  const end = async (): Promise<void> => void answer?.growing.delete(self);

  return {
    onThinkingDelta: ({ thinking }) => show(thinking),
    onContentDelta: ({ content }) => show(content),
    onFinal: async () => {
      await end();
      const permit = permits.final();
      if (permit !== undefined) permits.report(await deliver(permit.take(), permit));
    },
    onError: end,
    abort: end,
  };
}
