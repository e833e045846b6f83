import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { isDetached, startedApart } from './own-group.js';

/**
 * Makes the URL of the module that compiles for the hooks of `import`, whose thread no module of this package reaches: it
 * exports `transform` of esbuild. The compiler is a process that stands outside the terminal's group, and is started again when
 * it has died: esbuild itself would fail from then on (spec §13.14).
 */
export function compilerUrl(): string {
  const esbuild = pathToFileURL(createRequire(import.meta.url).resolve('esbuild')).href;
  const text = `
import childProcess from 'node:child_process';
import esbuild from '${esbuild}';
const startedApart = ${startedApart.toString()};
let starts = 0;
const compile = (text, options) => startedApart(childProcess, ${isDetached}, () => esbuild.transform(text, options));
export async function transform(text, options) {
  const start = starts;
  try {
    return await compile(text, options);
  } catch (error) {
    if (error.errors?.[0]?.location) throw error; // a mistake of the text
    if (start === starts) {
      starts++;
      await esbuild.stop();
    }
    return compile(text, options);
  }
}
`;
  return `data:text/javascript,${encodeURIComponent(text)}`;
}
