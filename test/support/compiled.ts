import { basename, join, resolve } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The compiled command line. The global set-up of the tests keeps it up to date. */
export const cliProgram = join(root, 'dist/cli/main.js');

/**
 * Compiles a program that a test starts into one file of JavaScript, which imports the compiled source in `dist`. Node
 * starts it about four times as fast as with a compiler in its process.
 *
 * @param program the path of a TypeScript file.
 * @returns the path of the JavaScript file. It lies in this project, so that packages are found from there.
 */
export async function compiled(program: string): Promise<string> {
  const outfile = join(root, '.cache/compiled', `${basename(program, '.ts')}-${process.pid}.mjs`);
  await build({
    entryPoints: [program],
    outfile,
    bundle: true,
    packages: 'external',
    format: 'esm',
    target: 'es2023',
    platform: 'node',
    logLevel: 'error',
    plugins: [
      {
        name: 'source-is-compiled',
        setup: ({ onResolve }) => {
          onResolve({ filter: /^\.\.?\// }, ({ path, resolveDir }) => {
            const file = resolve(resolveDir, path);
            if (!file.startsWith(join(root, 'src/'))) return undefined;
            return { path: file.replace(join(root, 'src/'), join(root, 'dist/')), external: true };
          });
        },
      },
    ],
  });
  return outfile;
}
