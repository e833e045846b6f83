import { type Fields, isFields } from 'sluice-kernel/internal';
import { textOf } from './settings.js';

/** The texts of a context that a sender has written. */
const writtenTexts = 'RawBody CommandBody Transcript ThreadStarterBody ThreadHistoryBody'.split(
  ' ',
);

/** `finalizeInboundContext`: completes the context of a message, in place, as plugins rely on. */
export function finalizeInboundContext<T extends object>(
  given: T,
  options: Readonly<Record<string, unknown>> = {},
): T & Fields {
  const ctx = given as Record<string, unknown>; // it is the caller's, and is read field by field
  const is = (name: string): boolean => options[name] === true;
  ctx['Body'] = harmless(ctx['Body']) ?? '';
  for (const name of writtenTexts) {
    const text = harmless(ctx[name]);
    if (text === undefined) delete ctx[name];
    else ctx[name] = text;
  }
  const untrusted: unknown = ctx['UntrustedContext'];
  if (Array.isArray(untrusted))
    ctx['UntrustedContext'] = untrusted.map(harmless).filter((text) => (text ?? '') !== '');
  const chatType = chatTypeOf(ctx['ChatType']);
  if (chatType !== undefined) ctx['ChatType'] = chatType;
  const commands = ctx['CommandBody'] ?? ctx['RawBody'] ?? ctx['Body'];
  const agent = is('forceBodyForAgent') ? ctx['Body'] : (ctx['BodyForAgent'] ?? commands);
  const line = is('forceBodyForCommands') ? commands : (ctx['BodyForCommands'] ?? commands);
  ctx['BodyForAgent'] = harmless(agent);
  ctx['BodyForCommands'] = harmless(line);
  const label = is('forceConversationLabel') ? undefined : textOf(ctx['ConversationLabel']);
  const shown = label ?? conversationLabel(ctx);
  if (shown !== undefined) ctx['ConversationLabel'] = shown;
  ctx['CommandAuthorized'] = ctx['CommandAuthorized'] === true;
  completeMediaTypes(ctx);
  return ctx as T & Fields;
}

/** The kind of a chat; `undefined` where it is none that is known. */
export function chatTypeOf(value: unknown): 'direct' | 'group' | 'channel' | undefined {
  const name = textOf(value)?.toLowerCase();
  if (name === 'dm') return 'direct';
  return name === 'direct' || name === 'group' || name === 'channel' ? name : undefined;
}

/** A text of a sender, who must not sound like the system. */
function harmless(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  return value
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/\[\s*(System\s*Message|System|Assistant|Internal)\s*\]/gi, '($1)')
    .replaceAll(/^(\s*)System:(?=\s|$)/gim, '$1System (untrusted):');
}

function conversationLabel(ctx: Fields): string | undefined {
  const thread = textOf(ctx['ThreadLabel']);
  if (thread !== undefined) return thread;
  const from = textOf(ctx['From']);
  if (ctx['ChatType'] === 'direct') return textOf(ctx['SenderName']) ?? from;
  const base =
    textOf(ctx['GroupChannel']) ?? textOf(ctx['GroupSubject']) ?? textOf(ctx['GroupSpace']) ?? from;
  const id = from?.split(':').findLast((part) => part !== '') ?? '';
  if (base === undefined || !(/^\d+$/.test(id) || id.includes('@g.us'))) return base;
  return base.includes(id) || /^[#@]/.test(base) || base.toLowerCase().includes(' id:')
    ? base
    : `${base} id:${id}`;
}

/** Each file of a message has a media type. */
function completeMediaTypes(ctx: Record<string, unknown>): void {
  const length = (value: unknown): number => (Array.isArray(value) ? value.length : 0);
  const single = ctx['MediaPath'] || ctx['MediaUrl'] ? 1 : 0;
  const count = Math.max(length(ctx['MediaPaths']), length(ctx['MediaUrls']), single);
  if (count === 0) return;
  const listed: unknown[] = Array.isArray(ctx['MediaTypes']) ? ctx['MediaTypes'] : [];
  const first = textOf(ctx['MediaType']);
  const given = listed.length > 0 ? listed.map(textOf) : [first];
  const types = Array.from({ length: count }, (_, at) => given[at] ?? 'application/octet-stream');
  ctx['MediaTypes'] = types;
  ctx['MediaType'] = first ?? types[0];
}

/** A context as a journal keeps it: what is not plain data is left out. */
export function plainContext(ctx: Fields): Fields {
  const kept = Object.entries(ctx).flatMap(([key, value]) => {
    try {
      const json = JSON.stringify(value) as string | undefined; // a function has none
      return json === undefined ? [] : [[key, JSON.parse(json) as unknown]];
    } catch {
      return [];
    }
  });
  const plain: unknown = Object.fromEntries(kept);
  return isFields(plain) ? plain : {};
}
