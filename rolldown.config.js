import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { defineConfig } from 'rolldown';

const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
/** Packages that stay outside: those that users install with this one: peers, and packages with native code. */
const outside = ['libsql', 'esbuild', ...Object.keys(manifest.peerDependencies)];

const entries = Object.values(manifest.exports).flatMap(({ default: file }) =>
  file === undefined ? [] : [/^\.\/dist\/(.*)\.js$/.exec(file)[1]],
);

/** Adds a declaration to those that are reached, and each declaration that it imports. */
function reach(file, reached) {
  if (reached.has(file) || !existsSync(file)) return;
  reached.add(file);
  for (const [, name] of readFileSync(file, 'utf8').matchAll(/['"](\.[^'"]+)\.js['"]/g))
    reach(join(dirname(file), `${name}.d.ts`), reached);
}

/** Removes the files of the build that this bundle replaces, and the declarations that no entry point reaches. */
const withoutBuild = {
  name: 'without-build',
  generateBundle() {
    rmSync('dist/chunks', { recursive: true, force: true });
    const reached = new Set();
    for (const { types } of Object.values(manifest.exports))
      if (types !== undefined) reach(join(types), reached);
    for (const entry of readdirSync('dist', { recursive: true })) {
      const file = join('dist', String(entry));
      if (file.endsWith('.js') || (file.endsWith('.d.ts') && !reached.has(file))) rmSync(file);
    }
  },
};

/** Writes the licences of the packages whose code is in the bundle. */
const licences = {
  name: 'licences',
  generateBundle(_options, bundle) {
    const modules = Object.values(bundle).flatMap((file) => Object.keys(file.modules ?? {}));
    const found = modules.map((id) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1]);
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

/** The published package: one file for each entry point, and the parts that they share. One kernel serves all of them. */
export default defineConfig({
  input: {
    main: 'src/main.ts',
    ...Object.fromEntries(entries.map((name) => [name, `src/${name}.ts`])),
  },
  platform: 'node',
  external: (id) =>
    id.startsWith('node:') || outside.some((name) => id === name || id.startsWith(`${name}/`)),
  transform: { target: 'node20' },
  plugins: [withoutBuild, licences],
  output: { dir: 'dist', format: 'esm', chunkFileNames: 'chunks/[name]-[hash].js' },
});
