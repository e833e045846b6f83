/**
 * Returns whether a text can only be that of an ES module, although its package calls it CommonJS: OpenClaw's loader takes it.
 *
 * @param compile `compileFunction` of `node:vm`: the hooks run this function in their own thread.
 */
export function isModuleText(
  text: string,
  compile: (text: string, names: readonly string[]) => unknown,
): boolean {
  if (!/\b(?:import|export)\b/.test(text)) return false;
  try {
    compile(text, ['exports', 'require', 'module', '__filename', '__dirname']);
    return false;
  } catch (thrown) {
    return /import statement|'import\.meta'|token '(?:export|import)'/.test(String(thrown));
  }
}

/**
 * The hooks that Node calls when a plugin imports. They are JavaScript in a text, as they run in a thread of their own. The URL of a
 * plugin's module names the folder of its OpenClaw in `openclaw`, empty for none; a module hands it on to those that it imports by path.
 * The URL of the entry file also names the plugin's folder, by which the files that no hook has marked are known: those of CommonJS.
 *
 * A plugin was written for a loader that gives each module `require`, `__filename` and `__dirname`, that takes a path without its ending,
 * and that imports JSON without an attribute.
 */
export const sdkHooks = `
import { readFile } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { compileFunction } from 'node:vm';
let own;
let compiler;
let esbuild;
export function initialize(data) { ({ own, compiler } = data); }
const isPath = (specifier) => /^(\\.{0,2}\\/|\\.{1,2}$|file:)/.test(specifier);
const missing = ['ERR_MODULE_NOT_FOUND', 'ERR_PACKAGE_PATH_NOT_EXPORTED', 'ERR_UNSUPPORTED_DIR_IMPORT'];
const folders = new Map();
const rootOf = (url) => (url?.startsWith('file:') ? new URL(url).searchParams.get('openclaw') : null);
function learn(specifier) {
  if (!/^file:.*[?&]plugin=/.test(specifier)) return;
  const { searchParams } = new URL(specifier);
  if (searchParams.has('openclaw')) folders.set(searchParams.get('plugin'), searchParams.get('openclaw'));
}
function rootOfFolder(url) {
  if (!url?.startsWith('file:')) return null;
  for (let end = url.lastIndexOf('/'); end > 7; end = url.lastIndexOf('/', end - 1)) {
    const root = folders.get(url.slice(0, end + 1));
    if (root !== undefined) return root;
    if (url.slice(0, end).endsWith('/node_modules')) return null;
  }
  return null;
}
async function found(specifier, context, next, others) {
  try {
    return await next(specifier, context);
  } catch (error) {
    if (!missing.includes(error?.code)) throw error;
    for (const other of others) {
      const result = await next(other, context).catch(() => undefined);
      if (result !== undefined) return result;
    }
    throw error;
  }
}
export async function resolve(specifier, context, next) {
  learn(specifier);
  const marked = rootOf(context.parentURL);
  const isOpenclaw = /^openclaw(\\/|$)/.test(specifier);
  const root = marked ?? (isOpenclaw ? rootOfFolder(context.parentURL) : null);
  if (root === null) return next(specifier, context);
  if (isOpenclaw) {
    const offered = { url: own, format: 'module', shortCircuit: true };
    const isSdk = /^openclaw(\\/plugin-sdk(\\/|$)|$)/.test(specifier);
    if (root === '') return isSdk ? offered : next(specifier, context);
    const parentURL = pathToFileURL(root + '/package.json').href;
    return next(specifier, { ...context, parentURL }).catch((error) => {
      if (isSdk && missing.includes(error?.code)) return offered;
      throw error;
    });
  }
  if (!isPath(specifier)) return next(specifier, context);
  const hasEnding = /\\.([cm]?[jt]sx?|json|node)(\\?|$)/.test(specifier);
  const endings = hasEnding ? [] : ['.ts', '.js', '/index.ts', '/index.js'];
  const others = endings.map((ending) => specifier.replace(/\\/$/, '') + ending);
  const result = await found(specifier, context, next, others);
  if (!result.url.startsWith('file:')) return result;
  const url = new URL(result.url);
  url.searchParams.set('openclaw', root);
  return { ...result, url: url.href };
}
const given = [
  'import { createRequire as sluiceCreateRequire } from "node:module";',
  'import { fileURLToPath as sluiceToPath } from "node:url";',
  'const sluiceFile = sluiceToPath(import.meta.url);',
  'const sluiceFolder = sluiceToPath(new URL(".", import.meta.url)).replace(/[/\\\\\\\\]$/, "");',
  'const sluiceRequire = sluiceCreateRequire(sluiceFile);',
].join('');
const isModule = ${isModuleText.toString()};
export async function load(url, context, next) {
  if (rootOf(url) !== null && context.format !== 'module' && /\\.js(\\?|$)/.test(url)) {
    const text = await readFile(fileURLToPath(url), 'utf8');
    if (isModule(text, compileFunction)) return load(url, { ...context, format: 'module' }, async () => ({ format: 'module', source: text, shortCircuit: true }));
  }
  const isJson = rootOf(url) !== null && /\\.json[?]/.test(url);
  const type = isJson ? { importAttributes: { ...context.importAttributes, type: 'json' } } : {};
  const result = await next(url, { ...context, ...type });
  if (rootOf(url) === null || result.format !== 'module' || !result.source) return result;
  const text = typeof result.source === 'string' ? result.source : Buffer.from(result.source).toString();
  if (!/\\b(require|__filename|__dirname)\\b/.test(text)) return result;
  esbuild ??= await import(compiler);
  const define = { require: 'sluiceRequire', __filename: 'sluiceFile', __dirname: 'sluiceFolder' };
  const options = { define, banner: given, format: 'esm', target: 'node20.19', logLevel: 'silent' };
  const changed = await esbuild.transform(text, options).catch(() => undefined);
  return changed === undefined ? result : { ...result, source: changed.code };
}
`;
