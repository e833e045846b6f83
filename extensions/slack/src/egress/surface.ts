import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Clock } from 'sluice';
import type { ApprovedMessage } from 'sluice/channel';
import * as chat from 'sluice/chat';
import {
  type CallAnswer,
  type ChatPort,
  type ChatSurface,
  fromMarkdown,
  nested,
  type PartCall,
  type PostedMessage,
  plainText,
  type RichText,
  split,
} from 'sluice/chat';
import { type Address, parseAddress } from '../address.js';
import type { Answered, WebApi } from '../api/web-api.js';
import type { SlackConfig } from '../config.js';
import { type Block, escaped, richTextBlock, toMrkdwn, wellFormed } from '../text/blocks.js';
import { elementsOf } from './elements.js';

/** Milliseconds between two edits of an app, in all of its streams: Slack allows about fifty in a minute. */
const editGapMs = 1_200;
/** The longest text of a section, in UTF-16 units. */
const sectionLimit = 3_000;

/** The parts that sending by Slack needs. */
interface SurfaceParts {
  /** The account that a message goes by; nothing if it is not connected. */
  readonly apiOf: (accountId: string) => WebApi | undefined;
  readonly config: Pick<SlackConfig, 'format' | 'mediaRoots'>;
  readonly clock: Clock;
}

/** Slack as messages, streams and previews go out by it. */
export function slackSurface({ apiOf, config, clock }: SurfaceParts): ChatSurface<Part> {
  /** When the streams of an account may edit next: each takes its turn. */
  const nextEditMs = new Map<string, number>();
  const delayEdits = (accountId: string, ms: number): void => {
    const untilMs = clock.monotonicMs() + ms;
    nextEditMs.set(accountId, Math.max(nextEditMs.get(accountId) ?? 0, untilMs));
  };
  /** Milliseconds until the turn after those that were given. */
  const turnOf = (accountId: string): number => {
    delayEdits(accountId, 0);
    const turnMs = (nextEditMs.get(accountId) ?? 0) + editGapMs;
    nextEditMs.set(accountId, turnMs);
    return turnMs - clock.monotonicMs();
  };
  const textOf: ChatSurface<Part>['textOf'] = ({ content, format }, read = fromMarkdown) =>
    (format ?? config.format) === 'markdown' ? read(content) : plainText(content); // HTML, too
  return {
    at: (message) => {
      const address = parseAddress(message.to);
      if (address === undefined) return { problem: `"${message.to}" is no address of Slack` };
      const api = apiOf(message.accountId);
      if (api === undefined) return { problem: 'its account is not connected' };
      const thread = message.threadId === undefined ? address.threadTs : String(message.threadId);
      const target = {
        channel: address.channel,
        ...(thread !== undefined && { threadTs: thread }),
      };
      const onBusy = (ms: number): void => delayEdits(message.accountId, ms);
      return slackPort({ api, clock, onBusy }, target, message);
    },
    atChat: (accountId, chatId) => {
      const api = apiOf(accountId);
      if (api === undefined) throw new Error(`account "${accountId}" is not connected`);
      return slackPort({ api, clock }, { channel: String(chatId) });
    },
    textOf,
    partsOf: async (message, text) => {
      const { problem } = elementsOf(message);
      if (problem !== undefined) return { problem };
      return partsOf(message, config.mediaRoots, text ?? textOf(message));
    },
    growing: (text) => ({ text }),
    intervalMs: ({ accountId }) => turnOf(accountId),
  };
}

/** The parts that the calls for one message need. */
interface PortParts {
  readonly api: WebApi;
  readonly clock: Clock;
  /** Is told that edits have to wait, in milliseconds. */
  readonly onBusy?: (ms: number) => void;
}

/** The calls for one message, or for a preview that was noted: of that its conversation alone is known. */
function slackPort(
  { api, clock, onBusy }: PortParts,
  { channel: first, threadTs }: Address,
  message?: Pick<ApprovedMessage, 'interactive'>,
): ChatPort<Part> {
  let channel = first;
  const under = elementsOf(message ?? {});
  const thread = threadTs === undefined ? {} : { thread_ts: threadTs };

  const fieldsOf = ({ text: said, image }: Part, { isPlain, isLast }: PartCall): Answered => {
    const text = { ...said, text: wellFormed(said.text) };
    const below: readonly Block[] = (isLast && under.blocks) || [];
    // an edit reads names in a text unless it is told not to, and would call them
    const asItIs = { parse: 'none', link_names: false };
    if (isPlain) {
      // also a picture that Slack cannot fetch
      const plain = plainText([nested(text), image ?? ''].join('\n').trim());
      if (below.length === 0)
        return { ...asItIs, text: escaped(plain.text), mrkdwn: false, blocks: [] };
      const sections = split(plain, sectionLimit).map(sectionOf);
      return { ...asItIs, text: toMrkdwn(plain), blocks: [...sections, ...below] };
    }
    const shown = text.text === '' ? [] : [richTextBlock(text)];
    const picture =
      image === undefined ? [] : [{ type: 'image', image_url: image, alt_text: 'image' }];
    return { ...asItIs, text: toMrkdwn(text) || 'image', blocks: [...shown, ...picture, ...below] };
  };

  const postFile = async (file: NonNullable<Part['file']>, text: RichText, timeoutMs: number) => {
    const endsAtMs = clock.monotonicMs() + timeoutMs;
    const leftMs = (): number => Math.max(1, endsAtMs - clock.monotonicMs());
    const bytes = await readFile(file.path).catch(() => undefined);
    if (bytes === undefined)
      return { status: 'refused', reason: `the file ${file.name} cannot be read` } as const;
    const name = wellFormed(file.name);
    const wanted = { filename: name, length: bytes.length };
    const asked = await api.call('files.getUploadURLExternal', wanted, leftMs());
    if (asked.status !== 'done') return notShown(asked);
    const { upload_url: url, file_id: id } = asked.result;
    if (typeof url !== 'string' || typeof id !== 'string')
      return { status: 'unknown', reason: 'Slack named no address for a file' } as const;
    const brought = await api.upload(url, bytes, leftMs());
    if (brought.status !== 'done') return notShown(brought);
    const comment = text.text === '' ? {} : { initial_comment: escaped(wellFormed(text.text)) };
    const files = [{ id, title: name }];
    const shared = { files, channel_id: channel, ...thread, ...comment };
    const answer = await api.call('files.completeUploadExternal', shared, leftMs());
    return answer.status === 'done'
      ? ({ status: 'done', result: { messageId: id } } as const)
      : answer;
  };

  return {
    get chatId() {
      return channel;
    },
    get conversationId() {
      return channel;
    },
    place: JSON.stringify([first, threadTs ?? null]),
    post: async (part, call): Promise<CallAnswer<PostedMessage>> => {
      if (part.file !== undefined) return postFile(part.file, part.text, call.timeoutMs);
      const payload = {
        ...{ channel, ...thread, ...fieldsOf(part, call) },
        ...{ unfurl_links: false, unfurl_media: false, client_msg_id: uuidOf(call.key) },
      };
      const answer = await api.call('chat.postMessage', payload, call.timeoutMs);
      if (answer.status !== 'done') return answer;
      const { ts, channel: place } = answer.result;
      if (typeof ts !== 'string')
        return { status: 'unknown', reason: 'Slack said that it was sent, and named no message' };
      if (typeof place === 'string') channel = place; // a member's id stands for the conversation with him
      return {
        status: 'done',
        result: { messageId: ts, sentAtMs: Math.floor(Number(ts) * 1_000) },
      };
    },
    edit: async (ts, part, call) => {
      const payload = { channel, ts, ...fieldsOf(part, call) };
      const answer = await api.call('chat.update', payload, call.timeoutMs);
      if (answer.status === 'refused' && answer.cause === 'busy')
        onBusy?.(answer.retryAfterMs ?? 0);
      return answer;
    },
    remove: (ts, timeoutMs) => api.call('chat.delete', { channel, ts }, timeoutMs),
  };
}

/** A text without markup, as a block. */
function sectionOf({ text }: RichText): Block {
  return { type: 'section', text: { type: 'plain_text', text } };
}

/** Of a call that shows nothing, "nobody knows" means "not done". */
function notShown(answer: Exclude<CallAnswer<Answered>, { status: 'done' }>): CallAnswer<never> {
  return answer.status === 'unknown' ? { status: 'unreached', reason: answer.reason } : answer;
}

/** The key of a part in the form that `client_msg_id` has. */
function uuidOf(key: string): string {
  const hex = createHash('sha256').update(key).digest('hex');
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
  ];
  return [...parts, hex.slice(20, 32)].join('-');
}

/** The longest text of one message, in UTF-16 units: Slack shows longer ones, and does not let them be edited. */
export const messageLimit = 3_900;
/** The longest text beside a file. */
const captionLimit = 1_000;

/** One call that sends: a text, with a picture from the web or not; or a file, with a text beside it. */
interface Part {
  readonly text: chat.RichText;
  /** The address of a picture that Slack fetches. */
  readonly image?: string;
  readonly file?: { readonly path: string; readonly name: string };
}

/** Makes the calls that send a message: its text, cut where it must be, and its files. */
async function partsOf(
  message: Pick<ApprovedMessage, 'attachments' | 'to'>,
  mediaRoots: readonly string[],
  whole: chat.RichText,
): Promise<chat.MessageParts<Part> | chat.Unsendable> {
  const text = chat.trimmed(whole);
  const parts: Part[] = chat.split(text, messageLimit).map((piece) => ({ text: piece }));
  const startsWithText = parts.length > 0;
  for (const attachment of message.attachments) {
    const found = await chat.fileSource(attachment, mediaRoots);
    if (found.kind === 'problem') return { problem: found.problem };
    if (found.kind === 'id')
      return { problem: `Slack sends no file by its id ("${found.id}"): give its address or path` };
    const said = chat.split(chat.trimmed(chat.plainText(attachment.caption ?? '')), captionLimit);
    const isShown = found.kind === 'file' || attachment.kind === 'image';
    const caption = (isShown ? said.shift() : undefined) ?? chat.plainText('');
    if (found.kind === 'file') parts.push({ text: caption, file: found });
    else if (isShown) parts.push({ text: caption, image: found.url });
    else parts.push({ text: linkTo(found.url, attachment.name) });
    parts.push(...said.map((text) => ({ text }))); // the rest of what is said of it
  }
  return parts.length > 0 ? { parts, startsWithText } : { problem: 'there is nothing to send' };
}

/** A file on the web, which Slack does not fetch. */
function linkTo(url: string, name?: string): chat.RichText {
  const text = name || url;
  return { text, marks: [{ from: 0, to: text.length, tag: 'a', href: url }] };
}
