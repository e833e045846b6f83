import type { PageGroup } from './nav.js';

/** The index of the site for language models (llmstxt.org): each page with its title and its first sentence. */
export function llmsText(sidebar: readonly PageGroup[], read: (path: string) => string): string {
  const home = read('index.md');
  const sections = sidebar.map(({ text, items }) =>
    [`## ${text}`, '', ...items.map((item) => pageLine(item, read))].join('\n'),
  );
  return `${[`# ${titleOf(home)}`, `> ${firstSentence(home)}`, ...sections].join('\n\n')}\n`;
}

function pageLine({ link }: PageGroup['items'][number], read: (path: string) => string): string {
  const path = link.slice(1);
  const page = read(path);
  const sentence = firstSentence(page);
  return `- [${titleOf(page)}](${path})${sentence === '' ? '' : `: ${sentence}`}`;
}

function titleOf(page: string): string {
  return /^# (.+)$/m.exec(page)?.[1] ?? '';
}

/** The first sentence of the prose, without its links. Empty if a page has no prose, only lists and tables. */
export function firstSentence(page: string): string {
  const prose = page
    .replace(/^(```)[\s\S]*?^\1$|<!--[\s\S]*?-->/gm, '')
    .split(/\n{2,}/)
    .map((block) => block.trim().replace(/\s+/g, ' '))
    .find((block) => /^[^#|>*<-]/.test(block));
  const text = (prose ?? '').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');
  return /^.*?[.!?:](?= |$)/.exec(text)?.[0].replace(/:$/, '.') ?? text;
}
