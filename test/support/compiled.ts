import { randomUUID } from 'node:crypto';
import { rename } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build } from 'esbuild';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The compiled command line. The global set-up of the tests keeps it up to date. */
export const cliProgram = join(root, 'dist/cli/main.js');

/**
 * Bundles a program, the source that it imports and the packages of that, into one file. Node starts
 * it about four times as fast as the program itself, which is read from a thousand files.
 *
 * @param program the path of a file of JavaScript or TypeScript.
 * @returns the path of the bundle. It lies in this project, so that native packages are found from there.
 */
export async function compiled(program: string): Promise<string> {
  const outfile = join(
    root,
    '.cache/compiled',
    `${basename(program, extname(program))}-${process.pid}.mjs`,
  );
  await whole(outfile, {
    entryPoints: [program],
    bundle: true,
    external: ['libsql', 'pino', 'esbuild', 'ws', '@anthropic-ai/claude-agent-sdk'],
    format: 'esm',
    target: 'es2023',
    platform: 'node',
    logLevel: 'error',
    alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' }, // its main file cannot be bundled
    // packages of CommonJS call `require`, which a module of ECMAScript does not have
    banner: {
      js: "import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);",
    },
  });
  return outfile;
}

/** Builds a file and puts it in its place as a whole: another test may start the one that is there, or build it as well. */
async function whole(outfile: string, options: BuildOptions): Promise<void> {
  const written = `${outfile}.${randomUUID()}`;
  await build({ ...options, outfile: written });
  await rename(written, outfile);
}
