import { register } from 'node:module';
import { compilerUrl } from './compiler.js';

/** The mark of a module that belongs to an extension: its version, as a query of its URL. */
const mark = 'sluice';

/**
 * The hooks that Node calls when it imports. They are JavaScript in a text: they run in a thread of their own, which the
 * compiler of this package, or of a test, does not reach.
 *
 * A module that is marked hands its mark on to the modules that it imports by path, so that a new version of an extension is
 * new as a whole. Packages are shared and not marked. TypeScript that is marked is compiled, also if its folder does not
 * say that it holds ES modules, and if an import names a `.js` that is a `.ts`.
 */
const hooks = `
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
let esbuild;
let compiler;
export function initialize(data) { compiler = data.compiler; }
const isPath = (specifier) => /^(\\.{0,2}\\/|file:)/.test(specifier);
const versionOf = (url) => /[?&]${mark}=(\\d+)/.exec(url ?? '')?.[1];
const isTypeScript = (url) => /\\.m?tsx?$/.test(new URL(url).pathname);
async function found(specifier, context, next) {
  try {
    return await next(specifier, context);
  } catch (error) {
    if (error?.code !== 'ERR_MODULE_NOT_FOUND' || !/\\.m?js(\\?|$)/.test(specifier)) throw error;
    return next(specifier.replace(/\\.(m?)js(\\?|$)/, '.$1ts$2'), context).catch(() => { throw error; });
  }
}
export async function resolve(specifier, context, next) {
  const version = versionOf(context.parentURL) ?? versionOf(specifier);
  if (version === undefined || !isPath(specifier)) return next(specifier, context);
  const result = await found(specifier, context, next);
  if (!result.url.startsWith('file:')) return result;
  const url = new URL(result.url);
  url.searchParams.set('${mark}', version);
  return { ...result, url: url.href, format: isTypeScript(url.href) ? 'module' : result.format };
}
async function compiled(work) {
  try {
    return await work;
  } catch (error) {
    const [first] = error.errors ?? [];
    throw first === undefined ? error : new SyntaxError(first.text + ' (line ' + first.location?.line + ')');
  }
}
export async function load(url, context, next) {
  if (!url.startsWith('file:') || versionOf(url) === undefined || !isTypeScript(url)) return next(url, context);
  esbuild ??= await import(compiler);
  const file = fileURLToPath(url);
  const { code } = await compiled(esbuild.transform(await readFile(file, 'utf8'), {
    loader: file.endsWith('x') ? 'tsx' : 'ts',
    format: 'esm',
    target: 'node20.19',
    sourcemap: 'inline',
    sourcefile: file,
  }));
  return { format: 'module', source: code, shortCircuit: true };
}
`;

/** The mark of a process that has the hooks: two installed copies of this package agree on it. */
const installed = Symbol.for('sluice.module-hooks');

/** Makes marked URLs importable in this process. Costs a thread, so it is done when the first one is imported. */
export function installModuleHooks(): void {
  const process = globalThis as { [installed]?: true };
  if (process[installed] === true) return;
  process[installed] = true;
  const url = `data:text/javascript,${encodeURIComponent(hooks)}`;
  register(url, { parentURL: import.meta.url, data: { compiler: compilerUrl() } });
}

/** Makes the URL of one version of a module. */
export function versionUrl(url: string, version: number): string {
  const marked = new URL(url);
  marked.searchParams.set(mark, String(version));
  return marked.href;
}
