import { definedFields, type Fields, isFields } from 'sluice-kernel/internal';
import { comparable, saysTheSame } from '../text/comparable.js';
import { parsed, textBlocks } from './tool-result.js';

/** The address of something that a messaging tool sent. */
export interface MessagingTarget {
  readonly tool: string;
  readonly provider: string;
  readonly accountId?: string;
  readonly to?: string;
}

/** The content of one call of a messaging tool. */
interface Send {
  readonly text?: string;
  readonly target?: MessagingTarget;
  readonly args: Fields;
}

/** Bounds each list: the newest entries stay. */
const most = 200;

/** Remembers what the run's messaging tools have sent, so that the same is not sent again as a reply. */
export class MessagingSends {
  readonly texts: string[] = [];
  readonly mediaUrls: string[] = [];
  readonly targets: MessagingTarget[] = [];
  readonly #compared: string[] = [];
  readonly #started = new Map<string, Send>();

  /** The newest text that was sent. */
  get lastText(): string | undefined {
    return this.texts.at(-1);
  }

  /** Returns whether a text was sent already. */
  hasSent(text: string): boolean {
    if (this.#compared.length === 0) return false;
    const compared = comparable(text);
    return this.#compared.some((sent) => saysTheSame(compared, sent));
  }

  /** A tool began. */
  start(callId: string, tool: string, args: Fields): void {
    const send = readSend(tool, args);
    if (send !== undefined) this.#started.set(callId, send);
  }

  /** A tool ended: what it sent counts from now on. */
  end(callId: string, tool: string, result: unknown, hasFailed: boolean): void {
    const send = this.#started.get(callId) ?? readSend(tool, {});
    this.#started.delete(callId);
    if (send === undefined || hasFailed) return;
    if (send.text !== undefined) {
      keep(this.texts, send.text);
      keep(this.#compared, comparable(send.text));
    }
    if (send.target !== undefined) keep(this.targets, send.target);
    for (const url of sentMedia(send.args, result)) keep(this.mediaUrls, url);
  }

  /** The run starts over. Of a call that still runs it stays known that it sends, but not what it was given. */
  clear(): void {
    for (const list of [this.texts, this.mediaUrls, this.targets, this.#compared]) list.length = 0;
    for (const callId of this.#started.keys()) this.#started.set(callId, { args: {} });
  }
}

function keep<Item>(list: Item[], item: Item): void {
  list.push(item);
  if (list.length > most) list.shift();
}

function readSend(tool: string, args: Fields): Send | undefined {
  const action = said(args, 'action');
  const sendsMessage = tool === 'message' && (action === 'send' || action === 'thread-reply');
  if (!sendsMessage && tool !== 'sessions_send') return undefined;
  const text = said(args, 'content') ?? said(args, 'message');
  const target = sendsMessage ? readTarget(tool, args) : undefined;
  return { ...definedFields({ text, target }), args };
}

function readTarget(tool: string, args: Fields): MessagingTarget | undefined {
  const to = said(args, 'to') ?? said(args, 'target');
  if (to === undefined) return undefined;
  const provider = said(args, 'provider') ?? said(args, 'channel') ?? tool;
  const accountId = said(args, 'accountId');
  return { tool, provider, ...definedFields({ accountId }), to };
}

function said(args: Fields, name: string): string | undefined {
  const value = args[name];
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

const mediaFields = ['media', 'mediaUrl', 'path', 'filePath'];

/** The media that a messaging tool was given, and that its answer says it sent; each once. */
function sentMedia(args: unknown, result: unknown): readonly string[] {
  const records = [args, result, isFields(result) ? result['details'] : undefined];
  for (const text of textBlocks(result)) records.push(parsed(text));
  return [...new Set(records.flatMap(mediaIn))];
}

function mediaIn(record: unknown): readonly string[] {
  if (!isFields(record)) return [];
  const many = record['mediaUrls'];
  const named = [...mediaFields.map((name) => record[name]), ...(Array.isArray(many) ? many : [])];
  const urls: string[] = [];
  for (const url of named) if (typeof url === 'string' && url.trim() !== '') urls.push(url.trim());
  return urls;
}
