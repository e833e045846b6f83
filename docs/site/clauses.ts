import type { MarkdownRenderer } from 'vitepress';

const clause = /^(\d+(?:\.\d+)+)(?= )/;

/** Gives each numbered clause an anchor that is its number: `spec/durability.html#7.7`. */
export function clauseAnchors(md: MarkdownRenderer): void {
  md.core.ruler.push('clause_anchors', (state) => {
    for (const [index, token] of state.tokens.entries()) {
      const first = token.type === 'inline' ? token.children?.[0] : undefined;
      const number = first?.type === 'text' ? clause.exec(first.content)?.[1] : undefined;
      if (first === undefined || number === undefined) continue;
      if (state.tokens[index - 1]?.type !== 'paragraph_open') continue;
      state.tokens[index - 1]?.attrSet('id', number);
      const link = new state.Token('html_inline', '', 0);
      link.content = `<a class="clause" href="#${number}">${number}</a>`;
      first.content = first.content.slice(number.length);
      token.children?.unshift(link);
    }
  });
}
