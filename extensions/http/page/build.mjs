// Makes `dist/page` of the chat page, with the licences of the packages that its script has in it.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const folder = fileURLToPath(new URL('..', import.meta.url));
const out = join(folder, 'dist/page');
mkdirSync(out, { recursive: true });
const { metafile } = await build({
  ...{ entryPoints: [join(folder, 'page/main.ts')], outfile: join(out, 'chat.js') },
  ...{ bundle: true, minify: true, format: 'esm', target: 'es2022', platform: 'browser' },
  ...{ legalComments: 'none', logLevel: 'warning', metafile: true },
});
for (const name of ['index.html', 'style.css'])
  copyFileSync(join(folder, 'page', name), join(out, name));

const names = new Set(
  Object.keys(metafile.inputs).flatMap(
    (path) => /node_modules\/([^@/]+|@[^/]+\/[^/]+)\//.exec(path)?.[1] ?? [],
  ),
);
const { resolve } = createRequire(import.meta.url);
const texts = [...names].sort().map((name) => {
  let at = dirname(resolve(name));
  while (!readdirSync(at).includes('package.json') || manifestIn(at).name !== name)
    at = dirname(at);
  const { version, license } = manifestIn(at);
  const file = readdirSync(at).find((entry) => /^licen[cs]e/i.test(entry));
  const text = file === undefined ? '' : readFileSync(join(at, file), 'utf8').trim();
  return `${name} ${version} (${license})\n\n${text}`;
});
writeFileSync(
  join(out, 'LICENCES.txt'),
  `The code of these packages is in chat.js.\n\n${texts.join(`\n\n${'-'.repeat(72)}\n\n`)}\n`,
);

function manifestIn(at) {
  return JSON.parse(readFileSync(join(at, 'package.json'), 'utf8'));
}
