import { copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { defineConfig, type Plugin } from 'vitepress';
import { clauseAnchors } from '../clauses.js';
import { llmsText } from '../llms.js';
import { sidebar } from '../nav.js';
import { root, sourceAt, sources, staged, stagePage } from '../pages.js';
import { pictures } from '../pictures.js';
import { slugifier } from '../slugs.js';

/** `npm run docs` shows a page as soon as it is saved. */
const watched: Plugin = {
  name: 'watched-pages',
  configureServer({ watcher }) {
    watcher.add(sources.map((source) => join(root, source)));
    watcher.on('change', (path) => {
      const source = sourceAt(path);
      if (source !== undefined) stagePage(source);
    });
  },
};

export default defineConfig({
  title: 'Sluice',
  description: 'A typed event pipeline for agent gateways',
  lang: 'en',
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  srcDir: 'pages',
  outDir: 'dist',
  metaChunk: true,
  markdown: {
    anchor: { slugify: slugifier },
    config(md) {
      md.use(pictures).use(clauseAnchors);
    },
  },
  vite: {
    plugins: [watched],
    server: { host: '127.0.0.1' },
    preview: { host: '127.0.0.1' },
    build: { chunkSizeWarningLimit: 2_000 },
  },
  themeConfig: {
    sidebar: sidebar.map(({ text, items }) => ({ text, items: [...items], collapsed: false })),
    outline: [2, 3],
    search: { provider: 'local' },
    docFooter: { prev: false, next: false },
    externalLinkIcon: true,
  },
  buildEnd({ outDir, pages }) {
    cpSync(join(root, 'spec/schemas'), join(outDir, 'spec/schemas'), { recursive: true });
    copyFileSync(join(root, 'spec/config.schema.json'), join(outDir, 'spec/config.schema.json'));
    // Each page is there as Markdown, too: `llms.txt` lists these.
    for (const page of pages) {
      mkdirSync(dirname(join(outDir, page)), { recursive: true });
      copyFileSync(join(staged, page), join(outDir, page));
    }
    const text = llmsText(sidebar, (path) =>
      readFileSync(path === 'index.md' ? join(root, 'README.md') : join(staged, path), 'utf8'),
    );
    writeFileSync(join(outDir, 'llms.txt'), text);
  },
});
