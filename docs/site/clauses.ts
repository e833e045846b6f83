import type { MarkdownRenderer } from 'vitepress';

type State = Parameters<Parameters<MarkdownRenderer['core']['ruler']['push']>[1]>[0];
type Token = State['tokens'][number];

const clause = /^(\d+(?:\.\d+)+)(?= )/;
const citation =
  /(?:\b(spec|event-pipeline|durability|csdk|stream) )?(§?)(?<![\d.])(\d+\.\d+(?:\.\d+)?)(?![\d.]*\d)/g;

/** The page of `spec` that a word before the sign of a clause names. */
const pages = new Map([
  ['spec', 'event-pipeline'],
  ['event-pipeline', 'event-pipeline'],
  ['durability', 'durability'],
  ['csdk', 'csdk-normalization'],
  ['stream', 'stream-plumbing'],
]);

/**
 * Gives each numbered clause an anchor that is its number, `spec/durability.html#7.7`, and makes links of the citations:
 * `durability §7.7` on any page, and the bare number on the page of the clause.
 */
export function clauseAnchors(md: MarkdownRenderer): void {
  md.core.ruler.push('clause_anchors', (state) => {
    const anchors = new Set(state.tokens.flatMap((token, at) => anchorClause(state, token, at)));
    const page = String(state.env.relativePath ?? '');
    const toSpec = page.startsWith('spec/')
      ? ''
      : `${'../'.repeat(page.split('/').length - 1)}spec/`;
    for (const token of state.tokens)
      if (token.children) token.children = withLinks(state, token.children, anchors, toSpec);
  });
}

/** Makes the number at the beginning of a paragraph its anchor. */
function anchorClause(state: State, token: Token, at: number): string[] {
  const paragraph = state.tokens[at - 1];
  const first = token.type === 'inline' ? token.children?.[0] : undefined;
  const number = first?.type === 'text' ? clause.exec(first.content)?.[1] : undefined;
  if (first === undefined || number === undefined || paragraph?.type !== 'paragraph_open')
    return [];
  paragraph.attrSet('id', number);
  first.content = first.content.slice(number.length);
  token.children?.unshift(html(state, `<a class="clause" href="#${number}">${number}</a>`));
  return [number];
}

function withLinks(
  state: State,
  tokens: readonly Token[],
  anchors: ReadonlySet<string>,
  toSpec: string,
): Token[] {
  let links = 0;
  let lineBefore = '';
  return tokens.flatMap((token) => {
    if (token.type === 'link_open') links += 1;
    if (token.type === 'link_close') links -= 1;
    if (token.type !== 'text' || links > 0) return [token];
    const parts = partsOf(token.content, lineBefore, anchors, toSpec);
    lineBefore = token.content;
    return parts.map((part) =>
      typeof part === 'string' ? text(state, part) : html(state, part.html),
    );
  });
}

/** A text and the links in it. A word at the end of the line before belongs to a citation at the beginning. */
function partsOf(
  content: string,
  lineBefore: string,
  anchors: ReadonlySet<string>,
  toSpec: string,
): (string | { readonly html: string })[] {
  const parts: (string | { html: string })[] = [];
  let end = 0;
  for (const match of content.matchAll(citation)) {
    const [
      cited,
      word = match.index === 0 ? /[\w-]+$/.exec(lineBefore)?.[0] : undefined,
      sign,
      number = '',
    ] = match;
    const page = pages.get(word ?? '');
    const isHere = page === undefined && anchors.has(number);
    if (!isHere && (page === undefined || sign === '')) continue;
    const target = isHere ? `#${number}` : `${toSpec}${page}.html#${number}`;
    parts.push(content.slice(end, match.index), { html: `<a href="${target}">${cited}</a>` });
    end = match.index + cited.length;
  }
  return [...parts, content.slice(end)];
}

function text(state: State, content: string): Token {
  const token = new state.Token('text', '', 0);
  token.content = content;
  return token;
}

function html(state: State, content: string): Token {
  const token = new state.Token('html_inline', '', 0);
  token.content = content;
  return token;
}
