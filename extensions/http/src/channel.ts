import { randomUUID } from 'node:crypto';
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
} from 'sluice/channel';
import { Answer, Answers } from './answers.js';
import { callBack } from './callback.js';
import { readChat } from './chat.js';
import type { HttpConfig, WebhookConfig } from './config.js';
import { declaration } from './declaration.js';
import type { Caller } from './keys.js';
import { readPage } from './page.js';
import { notTaken, RequestProblem, sendJson } from './problem.js';
import { readStream, readWhole } from './readers.js';
import { type ReadRequest, type Served, serve } from './server.js';
import { fieldOf, streamSender } from './stream-sender.js';
import { decodeUpdate, type HttpUpdate } from './update.js';
import { checkSignature, hookPrefix, readWebhook } from './webhook.js';

/** The parts of the channel. */
export interface HttpChannelOptions {
  /** The settings, as the extension's schema has read them. */
  readonly config: HttpConfig;
  readonly clock: Clock;
  readonly log: Logger;
  /** Keeps the answers of requests with an idempotency key. */
  readonly store: ExtensionApi['store'];
}

/** HTTP as a channel. */
export interface HttpChannel extends ChannelPlugin {
  /** The address of the chat page and of `/v1`, while it listens. */
  readonly url: string | undefined;
  /** Tells whether nobody wants what is sent there. */
  wantsNoAnswer(to: string): boolean;
  /** Takes note that the turn of a message has begun, or ended. */
  turn(message: Ref | null, isRunning: boolean): void;
}

const accountId = 'default';
/** Sends one message. */
export type Deliver = (
  message: ApprovedMessage,
  permit: SendPermit,
  signal?: AbortSignal,
) => Promise<SendResult>;

const newUpdateId = (): string => `req-${randomUUID()}`;
/** The address of answers that nobody waits for. */
const nowhere = '#nowhere';

/**
 * HTTP as a channel: chat completions as OpenAI's clients ask for them, webhooks, and a chat page.
 *
 * @example
 * const channel = httpChannel({ config: config.parse({}), clock, log, store: api.store });
 */
export function httpChannel({ config, clock, log, store }: HttpChannelOptions): HttpChannel {
  const answers = new Answers(store, config.keepAnswersHours * 3_600_000);
  let host: ChannelInbox | undefined;
  let served: Served | undefined;
  const closing = new AbortController();

  const chat = async (caller: Caller, { headers, body, response }: ReadRequest): Promise<void> => {
    const read = readChat(body, headers, caller, config);
    if (!('updateId' in read)) return refuse(read.update, response);
    const { update, updateId, conversationId, conversation, digest, model, isStream } = read;
    const opened = await answers.open(new Answer(updateId, conversationId, digest));
    if (opened === undefined)
      throw new RequestProblem(422, 'idempotency-mismatch', 'this key belongs to another request');
    const { answer, isNew } = opened;
    answer.unwanted = () => {
      const answerTo = `${conversationId}${nowhere}`;
      const stop = { ...update, answerTo, text: '/stop', images: [], mayCommand: true };
      void host?.receive({ raw: stop, updateId: newUpdateId() });
    };
    response.setHeader('x-sluice-conversation', conversation);
    const about = {
      ...{ id: `chatcmpl-${updateId}`, created: Math.floor(clock.now() / 1_000), model },
    };
    const read1 = isStream
      ? readStream(answer, response, about, clock)
      : readWhole(answer, response, about);
    follow(answer, response, read1);
    if (isNew) await receive(answer, update);
  };

  const hook = async (name: string, { headers, body, response }: ReadRequest): Promise<void> => {
    const settings = config.webhooks[name];
    if (settings === undefined) return;
    checkSignature(settings, headers, body, clock.now());
    const { update, updateId } = readWebhook(name, settings, headers, body);
    if (update.kind === 'unreadable') return refuse(update, response);
    if ((await host?.receive({ raw: update, updateId })) === 'refused') throw notTaken();
    sendJson(response, 202, { id: updateId });
  };

  /** Has the journal keep a body that cannot be read, and answers with the id of its event. */
  const refuse = async (update: HttpUpdate, response: ServerResponse): Promise<void> => {
    const { answer } = (await answers.open(new Answer(newUpdateId(), '', ''))) ?? {};
    if (answer === undefined) return;
    follow(answer, response, readWhole(answer, response, { id: '', created: 0, model: '' }));
    await receive(answer, update);
  };

  const receive = async (answer: Answer, raw: HttpUpdate): Promise<void> => {
    const { updateId } = answer;
    const taken = await host?.receive({ raw, updateId, receivedAtMs: clock.now() });
    if (taken === 'refused') answers.close(answer, { status: 'refused' });
  };

  const follow = (answer: Answer, response: ServerResponse, read: () => void): void => {
    const left = (): void => {
      answer.readers.delete(read);
      stopUnwanted(answer);
    };
    answer.readers.add(read);
    response.once('close', left);
    if (response.closed) left();
    else read();
  };

  /** Stops a turn whose reader has gone, and that nobody can ask for again. */
  const stopUnwanted = (answer: Answer): void => {
    const isOver = answer.end !== undefined || answer.isKept || answer.readers.size > 0;
    if (answer.isRunning && !isOver) answer.unwanted?.();
  };

  const deliver: Deliver = async (
    message,
    { idempotencyKey: id, attempt },
    signal = closing.signal,
  ) => {
    const { to, content, kind } = message;
    const callback = hookOf(config, to)?.callback;
    if (callback !== undefined) return callBack(callback, message, { id, attempt, signal, clock });
    const text = textOf(message);
    if (text === undefined)
      return { status: 'rejected', reason: 'a file of this machine cannot be sent' };
    const answer = await answers.at(to);
    if (answer === undefined || (answer.readers.size === 0 && !answer.isKept))
      return { status: 'rejected', reason: 'nobody waits for it any more' };
    if (kind === 'error' || kind === 'cancel-reply') answer.note = content;
    else answer.parts.set(id, { field: fieldOf(kind), text });
    if (answer.isKept) await answers.keep(answer);
    answer.tell();
    return { status: 'sent', receipt: { messageId: id } };
  };

  return {
    id: declaration.id,
    accounts: [accountId],
    capabilities: {
      deduplicatesSends: true,
      ...(config.streaming && { canStreamResponse: true }),
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
      const answer = message?.channel === declaration.id ? answers.get(message.id) : undefined;
      if (answer === undefined) return;
      answer.isRunning = isRunning;
      stopUnwanted(answer);
    },

    startAccount: async (_, inbox) => {
      host = inbox;
      const page = config.page ? readPage() : undefined;
      served = await serve({ config, clock, log, page, chat, hook });
    },

    stopIntake: async () => served?.stop(),

    stopAccount: async () => {
      for (const answer of answers.all()) answers.close(answer, { status: 'aborted' });
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

/** The settings of the webhook that an address belongs to. */
function hookOf({ webhooks }: HttpConfig, to: string): WebhookConfig | undefined {
  if (!to.startsWith(hookPrefix)) return undefined;
  const [name = ''] = to.slice(hookPrefix.length).split('/', 1);
  return Object.hasOwn(webhooks, name) ? webhooks[name] : undefined;
}

/** The text of a message, with links to its files; nothing if a file has no address. */
function textOf({ content, attachments }: ApprovedMessage): string | undefined {
  const links = attachments.map(({ kind, name = kind, url }) =>
    url === undefined ? undefined : `${kind === 'image' ? '!' : ''}[${name}](${url})`,
  );
  if (links.includes(undefined)) return undefined;
  return [content, ...links].filter((text) => text !== '').join('\n\n');
}
