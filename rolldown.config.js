import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'rolldown';

const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
/** Packages that stay outside: those that users install with this one: the kernel, peers, and packages with native code. */
const outside = ['libsql', 'esbuild', 'sluice-kernel', ...Object.keys(manifest.peerDependencies)];
const entries = Object.values(manifest.exports).flatMap(({ default: file }) =>
  file === undefined ? [] : [/^\.\/dist\/(.*)\.js$/.exec(file)[1]],
);

/** Writes the licences of the packages whose code is in the bundle. */
const licences = {
  name: 'licences',
  generateBundle(_options, bundle) {
    const modules = Object.values(bundle).flatMap((file) => Object.keys(file.modules ?? {}));
    const found = modules.map((id) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1]);
    if (modules.every((id) => !id.includes('node_modules'))) return;
    const folders = [...new Set(found.filter((folder) => folder !== undefined))].sort();
    const texts = folders.map((folder) => {
      const { name, version, license } = JSON.parse(
        readFileSync(join(folder, 'package.json'), 'utf8'),
      );
      const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
      const text = file === undefined ? '' : readFileSync(join(folder, file), 'utf8').trim();
      return `${name} ${version} (${license})\n\n${text}`;
    });
    const source = `The code of these packages is in the files of this folder.\n\n${texts.join(`\n\n${'-'.repeat(72)}\n\n`)}\n`;
    this.emitFile({ type: 'asset', fileName: 'LICENCES.txt', source });
  },
};

/**
 * The packages below `src`, and the parts of one that others import, lowest first: each is one file, so that a start reads few.
 * What is in none of them is read when it is asked for, command by command.
 */
const parts = {
  logging: 'host/(logging/(?!pino)|config/place)[^/]*$', // what a command says of an error
  'json-schema': 'sdk/extension/config/from-json-schema[.]ts$',
  typebox: 'sdk/extension/config/from-typebox[.]ts$', // an extension asks for it
  extension: 'sdk/extension',
  stream: 'sdk/stream',
  screen: 'sdk/channel/terminal/terminal-screen[.]ts$', // the widths of characters take 6 MB, and a pipe has none
  channel: 'sdk/channel',
  receiver: 'sdk/chat/(internal|receiver|strangers)[.]ts$', // a host takes in requests, and need not read Markdown
  chat: 'sdk/chat',
  run: 'agent/run',
  agent: 'agent',
  journal: 'journal',
  host: 'host',
  'claude-agent': 'claude/agent',
  claude: 'claude',
  gateway: 'openclaw/gateway',
  openclaw: 'openclaw',
  postgres: 'postgres',
};
const groups = Object.entries(parts).map(([name, place], at) => ({
  name,
  // what a package hands to the command line as data is read at each start, and the package only if it is asked for
  test: new RegExp(
    `/src/${place.includes('$') ? place : `${place}/(?!commands/|(addition|journal-kind)\\.ts)`}`,
  ),
  priority: Object.keys(parts).length - at, // 0 would be none
}));

/**
 * Leaves out sentences for people: the descriptions, purposes and occasions of the catalog, which `sluice-kernel/schemas` has, and the causes
 * of errors, which `sluice-kernel/error-rows` has.
 */
const undescribed = {
  name: 'undescribed',
  transform: {
    filter: { id: /src\/kernel\/(catalog\/|error-rows\.ts)/ },
    handler: (code) =>
      code
        .replace(/(?:,\s*)?(['"])(?:(?!\1)[^\\\n]|\\.)* (?:(?!\1)[^\\\n]|\\.)*\1,?\s*\)/g, ')') // of a call
        .replace(/^ +(?:cause|purpose|emittedWhen):\s+(['"])(?:(?!\1)[^\\\n]|\\.)*\1,$/gm, ''),
  },
};

/** A published package: one file for each entry point, and the parts that they share. */
const published = (dir, input, ...plugins) => ({
  input,
  platform: 'node',
  external: (id) =>
    id.startsWith('node:') || outside.some((name) => id === name || id.startsWith(`${name}/`)),
  resolve: { alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' } }, // its main file cannot be bundled
  transform: { target: 'node20' },
  plugins: [licences, ...plugins],
  output: {
    dir,
    format: 'esm',
    chunkFileNames: 'chunks/[name]-[hash].js',
    charset: 'ascii', // one other character makes V8 hold the whole file with two bytes for each
    comments: { jsdoc: false }, // the declarations have them
    // one file for each package, or part of one, that others import: a start reads few files
    codeSplitting: { groups },
  },
});

/** The kernel, and `sluice` around it: one kernel serves all. */
export default defineConfig([
  published(
    'src/kernel/dist',
    {
      index: 'src/kernel/index.ts',
      core: 'src/kernel/core.ts',
      internal: 'src/kernel/internal.ts',
    },
    undescribed,
  ),
  published('src/kernel/dist', {
    schemas: 'src/kernel/schemas.ts',
    'error-rows': 'src/kernel/error-rows.ts',
  }),
  published('dist', {
    'cli/main': 'src/main.ts',
    ...Object.fromEntries(entries.map((name) => [name, `src/${name}.ts`])),
  }),
]);
