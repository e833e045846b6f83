import { renderMermaidSVG } from 'beautiful-mermaid';
import type { MarkdownRenderer } from 'vitepress';

/** Draws each Mermaid block when the site is built: nothing is drawn or loaded in the browser. The theme has its colours. */
export function pictures(md: MarkdownRenderer): void {
  const fence = md.renderer.rules.fence;
  md.renderer.rules.fence = (tokens, index, options, env, self) => {
    const token = tokens[index];
    if (token?.info.trim() === 'mermaid')
      return `<div class="picture">${drawn(token.content)}</div>`;
    return fence?.(tokens, index, options, env, self) ?? '';
  };
}

function drawn(text: string): string {
  return renderMermaidSVG(text, { transparent: true })
    .replace(/<style>[\s\S]*?<\/style>/, '') // names a font of another server; Vue takes no style here either
    .replace(/^(<svg [^>]*?) style="[^"]*"/, '$1 role="img"');
}
