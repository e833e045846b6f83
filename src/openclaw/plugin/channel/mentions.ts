import { fieldsOf } from 'sluice-kernel/internal';
import { agentSettings, textOf } from './settings.js';

/** Marks that nobody sees and that hide a name from a pattern. */
const unseen = /[\u200b-\u200f\u202a-\u202e\u2060-\u206f]/g;

function literal(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}

/** The patterns of a name: the agent's own, else those of all, else its name and its emoji. */
function patternsOf(cfg: unknown, agentId: unknown): readonly string[] {
  const { own } = agentSettings(cfg, agentId);
  const everyone = fieldsOf(fieldsOf(fieldsOf(cfg)['messages'])['groupChat']);
  for (const chat of [fieldsOf(own['groupChat']), everyone])
    if (Object.hasOwn(chat, 'mentionPatterns')) {
      const set: unknown = chat['mentionPatterns'];
      return Array.isArray(set) ? set.filter((one) => typeof one === 'string') : [];
    }
  const { name, emoji } = fieldsOf(own['identity']);
  const words = (textOf(name) ?? '').split(/\s+/).filter((word) => word !== '');
  const sign = textOf(emoji);
  return [
    ...(words.length > 0 ? [String.raw`\b@?${words.map(literal).join(String.raw`\s+`)}\b`] : []),
    ...(sign === undefined ? [] : [literal(sign)]),
  ];
}

/** `buildMentionRegexes`. A pattern that is none is left out. */
export function buildMentionRegexes(cfg: unknown, agentId?: unknown): RegExp[] {
  return patternsOf(cfg, agentId).flatMap((pattern) => {
    try {
      return [new RegExp(pattern.replaceAll('\b', String.raw`\b`), 'i')];
    } catch {
      return [];
    }
  });
}

/** `matchesMentionPatterns`. */
export function matchesMentionPatterns(text: unknown, patterns: readonly RegExp[]): boolean {
  const said = String(text ?? '')
    .replaceAll(unseen, '')
    .toLowerCase();
  return said !== '' && patterns.some((pattern) => pattern.test(said));
}

/** `matchesMentionWithExplicit`: a mention that the provider has marked, or one by a pattern. */
export function matchesMentionWithExplicit(params: {
  readonly text?: unknown;
  readonly transcript?: unknown;
  readonly mentionRegexes: readonly RegExp[];
  readonly explicit?: { readonly isExplicitlyMentioned?: boolean };
}): boolean {
  const { text, transcript, mentionRegexes, explicit } = params;
  return (
    explicit?.isExplicitlyMentioned === true ||
    matchesMentionPatterns(textOf(text) ?? transcript, mentionRegexes)
  );
}

/** The fields that decide for a scope of reactions. */
const scopes: Readonly<Record<string, string>> = { direct: 'isDirect', 'group-all': 'isGroup' };

/** `shouldAckReaction`: whether a message gets a sign that it was seen. */
export function shouldAckReaction(params: Readonly<Record<string, unknown>>): boolean {
  const scope = String(params['scope'] ?? 'group-mentions');
  const is = (name: string): boolean => params[name] === true;
  if (scope !== 'group-mentions') return scope === 'all' || is(scopes[scope] ?? '');
  return (
    ['isMentionableGroup', 'requireMention', 'canDetectMention'].every(is) &&
    ['effectiveWasMentioned', 'shouldBypassMention'].some(is)
  );
}

/** `removeAckReactionAfterReply`. */
export function removeAckReactionAfterReply(params: {
  readonly removeAfterReply?: boolean;
  readonly ackReactionPromise?: Promise<boolean> | null;
  readonly ackReactionValue?: string | null;
  readonly remove: () => Promise<void>;
  readonly onError?: (error: unknown) => void;
}): void {
  const { removeAfterReply, ackReactionPromise, ackReactionValue, remove, onError } = params;
  if (removeAfterReply !== true || !ackReactionPromise || !ackReactionValue) return;
  ackReactionPromise
    .then(async (isThere) => (isThere ? remove() : undefined))
    .catch((error: unknown) => onError?.(error));
}
