// Makes `dist/vendor/preact.js` of Preact, htm and Preact's signals, with their licences beside it, and the page.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const folder = fileURLToPath(new URL('..', import.meta.url));
const { resolve } = createRequire(import.meta.url);

/** The folder of an installed package. */
function folderOf(name) {
  let at = dirname(resolve(name));
  while (!readdirSync(at).includes('package.json') || manifestIn(at).name !== name)
    at = dirname(at);
  return at;
}

function manifestIn(at) {
  return JSON.parse(readFileSync(join(at, 'package.json'), 'utf8'));
}

const texts = ['preact', 'htm', '@preact/signals', '@preact/signals-core'].map((name) => {
  const at = folderOf(name);
  const { version, license } = manifestIn(at);
  const file = readdirSync(at).find((entry) => /^licen[cs]e/i.test(entry));
  return `${name} ${version} (${license})\n\n${readFileSync(join(at, file), 'utf8').trim()}`;
});
mkdirSync(join(folder, 'dist/vendor'), { recursive: true });
mkdirSync(join(folder, 'dist/page'), { recursive: true });
writeFileSync(
  join(folder, 'dist/vendor/LICENCES.txt'),
  `The code of these packages is in preact.js.\n\n${texts.join(`\n\n${'-'.repeat(72)}\n\n`)}\n`,
);
const common = { format: 'esm', target: 'es2022', legalComments: 'none', logLevel: 'warning' };
await build({
  ...common,
  entryPoints: [join(folder, 'vendor/preact.ts')],
  outfile: join(folder, 'dist/vendor/preact.js'),
  bundle: true,
  minify: true,
});
const scripts = readdirSync(join(folder, 'page')).filter((name) => name.endsWith('.ts'));
await build({
  ...common,
  entryPoints: scripts.map((name) => join(folder, 'page', name)),
  outdir: join(folder, 'dist/page'),
});
for (const name of ['index.html', 'style.css', 'icon.svg'])
  copyFileSync(join(folder, 'page', name), join(folder, 'dist/page', name));
