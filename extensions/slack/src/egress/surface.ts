import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { ApprovedMessage } from 'sluice/channel';
import {
  type CallAnswer,
  type ChatPort,
  type ChatSurface,
  fromMarkdown,
  type PartCall,
  type PostedMessage,
  plainText,
  type RichText,
} from 'sluice/chat';
import { type Address, parseAddress } from '../address.js';
import type { Answered, WebApi } from '../api/web-api.js';
import type { SlackConfig } from '../config.js';
import { type Block, escaped, richTextBlock, toMrkdwn, wellFormed } from '../text/blocks.js';
import { elementsOf } from './elements.js';
import { type Part, partsOf } from './parts.js';

/** Milliseconds between two edits: Slack allows about fifty in a minute. */
const intervalMs = 1_200;

/** The parts that sending by Slack needs. */
export interface SurfaceParts {
  /** The account that a message goes by; nothing if it is not connected. */
  readonly apiOf: (accountId: string) => WebApi | undefined;
  readonly config: Pick<SlackConfig, 'format' | 'mediaRoots'>;
}

/** Slack as messages, streams and previews go out by it. */
export function slackSurface({ apiOf, config }: SurfaceParts): ChatSurface<Part> {
  const textOf = ({ content, format }: Pick<ApprovedMessage, 'content' | 'format'>): RichText => {
    const text = wellFormed(content);
    if ((format ?? config.format) !== 'markdown') return plainText(text); // HTML is shown as it is written
    const rich = fromMarkdown(text);
    return rich.text.trim() === '' ? plainText(text) : rich; // markup around nothing
  };
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
      return slackPort(api, target, message);
    },
    atChat: (accountId, chatId) => {
      const api = apiOf(accountId);
      if (api === undefined) throw new Error(`account "${accountId}" is not connected`);
      return slackPort(api, { channel: String(chatId) });
    },
    textOf,
    partsOf: async (message, text) => {
      const { problem } = elementsOf(message);
      if (problem !== undefined) return { problem };
      return partsOf(message, config.mediaRoots, text ?? textOf(message));
    },
    growing: (text) => ({ text }),
    intervalMs: () => intervalMs,
  };
}

/** The calls for one message, or for a preview that was noted: of that its conversation alone is known. */
function slackPort(
  api: WebApi,
  { channel: first, threadTs }: Address,
  message?: Pick<ApprovedMessage, 'interactive'>,
): ChatPort<Part> {
  let channel = first;
  const under = elementsOf(message ?? {});
  const thread = threadTs === undefined ? {} : { thread_ts: threadTs };

  const fieldsOf = ({ text, image }: Part, { isPlain, isLast }: PartCall): Answered => {
    const below: readonly Block[] = (isLast && under.blocks) || [];
    const said = isPlain
      ? { type: 'section', text: { type: 'plain_text', text: text.text } }
      : richTextBlock(text);
    const shown = text.text === '' ? [] : [said];
    const picture =
      image === undefined ? [] : [{ type: 'image', image_url: image, alt_text: 'image' }];
    if (isPlain && below.length === 0 && image === undefined)
      return { text: escaped(text.text), mrkdwn: false, blocks: [] };
    return { text: toMrkdwn(text) || 'image', blocks: [...shown, ...picture, ...below] };
  };

  const postFile = async (file: NonNullable<Part['file']>, text: RichText, timeoutMs: number) => {
    const bytes = await readFile(file.path);
    const asked = await api.call(
      'files.getUploadURLExternal',
      { filename: file.name, length: bytes.length },
      timeoutMs,
    );
    if (asked.status !== 'done') return notShown(asked);
    const { upload_url: url, file_id: id } = asked.result;
    if (typeof url !== 'string' || typeof id !== 'string')
      return { status: 'unknown', reason: 'Slack named no address for a file' } as const;
    const brought = await api.upload(url, bytes, timeoutMs);
    if (brought.status !== 'done') return notShown(brought);
    const comment = text.text === '' ? {} : { initial_comment: toMrkdwn(text) };
    const files = [{ id, title: file.name }];
    const shared = { files, channel_id: channel, ...thread, ...comment };
    const answer = await api.call('files.completeUploadExternal', shared, timeoutMs);
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
    edit: (ts, part, call) =>
      api.call('chat.update', { channel, ts, ...fieldsOf(part, call) }, call.timeoutMs),
    remove: (ts, timeoutMs) => api.call('chat.delete', { channel, ts }, timeoutMs),
  };
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
