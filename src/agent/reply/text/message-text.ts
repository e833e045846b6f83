import type { AssistantContent, AssistantMessage } from '@sluice/sdk/stream';
import type { ReplyWording } from '../emit/reply-options.js';
import { noTags, stripTags } from './strip-tags.js';
import { stripWhole } from './strip-whole.js';
import { taggedThoughts, thinkTags } from './tagged-thoughts.js';

const finalTags = /<\s*(?:\/\s*)?final\s*>/gi;
/** The empty lines that a text begins with. */
const emptyLines = /^(?:[ \t]*\r?\n)+/;

/**
 * Reads a whole message. Thoughts that a model wrote between tags count as blocks of thinking where the text begins
 * with a tag. A paragraph that says the same as the one before it is left out.
 *
 * @param finalOnly leaves only what stands between final tags.
 * @param formatErroredText words the text of a message that ended with an error.
 * @returns the text, and the blocks of thinking joined by lines; each is empty if there is none.
 */
export function readMessage(
  message: AssistantMessage,
  finalOnly: boolean,
  formatErroredText: ReplyWording['formatErroredText'] = () => undefined,
) {
  const isThought = message.content.some(({ type }) => type === 'thinking');
  const content = isThought ? message.content : message.content.flatMap(splitThoughts);
  const texts: string[] = [];
  const thoughts: string[] = [];
  for (const block of content) {
    if (block.type === 'text') texts.push(stripWhole(block.text));
    if (block.type === 'thinking') thoughts.push(block.thinking.trim());
  }
  const untagged = joined(texts).replace(finalTags, '');
  const worded = message.stopReason === 'error' ? formatErroredText(untagged.trim()) : undefined;
  const whole = worded ?? untagged;
  const said = whole.trim() === '' ? '' : withoutRepeats(whole.replace(emptyLines, ''));
  return {
    text: stripTags(said, noTags, finalOnly).text,
    thinking: joined(thoughts) || taggedThoughts(said),
  };
}

function joined(texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join('\n');
}

/** A text's thoughts as blocks of their own, where it begins with a tag and closes what it opens. */
function splitThoughts(block: AssistantContent): readonly AssistantContent[] {
  if (block.type !== 'text' || !block.text.trimStart().startsWith('<')) return [block];
  const blocks: AssistantContent[] = [];
  let from = 0;
  let isInside = false;
  let hasThought = false;
  for (const tag of block.text.matchAll(thinkTags)) {
    const isOpening = tag[1] !== '/';
    if (isOpening === isInside) continue;
    const text = block.text.slice(from, tag.index);
    if (isInside) {
      const thinking = text.trim();
      hasThought ||= thinking !== '';
      if (thinking !== '') blocks.push({ type: 'thinking', thinking });
    } else if (text.trim() !== '') blocks.push({ type: 'text', text });
    from = tag.index + tag[0].length;
    isInside = isOpening;
  }
  if (isInside || !hasThought) return [block];
  const rest = block.text.slice(from);
  return rest.trim() === '' ? blocks : [...blocks, { type: 'text', text: rest }];
}

function withoutRepeats(text: string): string {
  if (!text.includes('\n\n')) return text;
  const kept: string[] = [];
  let before: string | undefined;
  let hasRepeats = false;
  for (const paragraph of text.trim().split(/\n{2,}/)) {
    const said = paragraph.trim();
    const plain = said.replace(/\s+/g, ' ');
    if (plain !== '' && plain === before) hasRepeats = true;
    else kept.push(said);
    before = plain;
  }
  return hasRepeats ? kept.join('\n\n') : text;
}
