/** A fenced block of a page. */
export interface CodeBlock {
  /** The line in which its fence opens, from 1. */
  readonly line: number;
  readonly code: string;
}

const fence = /^```(\w*)[^\n]*\n([\s\S]*?)^```$/gm;

/** The fenced blocks of one language. */
export function codeBlocks(page: string, language: string): CodeBlock[] {
  return [...page.matchAll(fence)].flatMap(({ 1: tag, 2: code = '', index }) =>
    tag === language ? [{ line: page.slice(0, index).split('\n').length, code }] : [],
  );
}

/** A page without its code blocks, inline code and tables. */
export function proseOf(page: string): string {
  return page
    .replace(fence, '')
    .replace(/`[^`\n]*`/g, 'code')
    .replace(/^\|.*$/gm, '');
}

/** The inline code of a page, in its order. */
export function inlineCodeOf(page: string): string[] {
  return [...page.replace(fence, '').matchAll(/`([^`\n]+)`/g)].map(({ 1: code = '' }) => code);
}

/** The targets of a page's links. */
export function linksOf(page: string): string[] {
  return [...page.replace(fence, '').matchAll(/\]\(([^)\s]+)\)/g)].map(({ 1: link = '' }) => link);
}

/** The anchors of a page's headings, as GitHub names them. */
export function anchorsOf(page: string): string[] {
  return [...page.replace(fence, '').matchAll(/^#+ (.+)$/gm)].map(({ 1: heading = '' }) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .trim()
      .replace(/ /g, '-'),
  );
}

/** The sentences that begin with a word that makes a reader search for the noun. */
export function riddles(prose: string): string[] {
  return [
    ...prose.matchAll(/(?:^|[.!?:]\s+|^[-*] )((?:What|Whose|Where|Whether|Who)\b[^.\n]*)/gm),
  ].map(({ 1: sentence = '' }) => sentence);
}
