/** With attributes, too: a tag of a whole text is whole. */
const thinkTags = /<\s*(?:(\/)\s*)?(?:think(?:ing)?|thought|antthinking)\b[^<>]*>/gi;
const finalTags = /<\s*(?:\/\s*)?final\b[^<>]*>/gi;
const fencedCode = /(?:^|\n)(`{3,}|~{3,})[^\n]*\n[\s\S]*?(?:\n\1(?:\n|$)|$)/g;
const inlineCode = /`+[^`]+`+/g;

/**
 * Takes thoughts and final tags out of a whole text, outside of code. Unlike in a text that grows, code that is not
 * closed is none.
 */
export function stripWhole(text: string): string {
  if (!text.includes('<')) return text.trim();
  const said = withoutTags(text, finalTags);
  const isCode = codeOf(said);
  let kept = '';
  let from = 0;
  let isInside = false;
  for (const tag of said.matchAll(thinkTags)) {
    if (isCode(tag.index)) continue;
    if (!isInside) kept += said.slice(from, tag.index);
    from = tag.index + tag[0].length;
    isInside = tag[1] !== '/';
  }
  return (isInside ? kept : kept + said.slice(from)).trim();
}

function withoutTags(text: string, tags: RegExp): string {
  const isCode = codeOf(text);
  return text.replace(tags, (tag, at: number) => (isCode(at) ? tag : ''));
}

function codeOf(text: string): (position: number) => boolean {
  if (!text.includes('`') && !text.includes('~~~')) return () => false;
  const spans = [...text.matchAll(fencedCode), ...text.matchAll(inlineCode)];
  return (position) =>
    spans.some(({ index, 0: code }) => position >= index && position < index + code.length);
}
