import { readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isSluiceError, oneLine, type SluiceError } from 'sluice-kernel/internal';
import { type Extension, extensionProblem } from '../define/extension.js';
import { extensionError } from '../errors.js';
import { installModuleHooks, versionUrl } from './module-hooks.js';
import { syntaxPlace } from './syntax-place.js';

/** The options of finding and importing the module of an extension. */
export interface LoadModuleOptions {
  /** The folder that paths and package names are read from, by default the working folder. */
  readonly from?: string;
  /** Imports a URL or a package name, by default with `import()`. For hosts that transform modules, and tests. */
  readonly importModule?: (specifier: string) => Promise<unknown>;
  /** A number above 0 reads a new version of the module, and of the modules that it imports by path. Unique in a process. */
  readonly version?: number;
}

/**
 * Imports an extension by path or package name: the module's default export, or the one named `extension`.
 *
 * @param specifier a path that begins with `./`, `../` or `/`, a `file:` URL, or a package name.
 * @throws SluiceError `module-not-found`, `module-failed`, `module-needs-compiling` or `no-extension`: one line
 *   that names the file.
 * @example
 * const extension = await loadExtensionModule('./extensions/quiet-hours.js');
 * const result = await loadExtension(kernel, extension, { config });
 */
export async function loadExtensionModule(
  specifier: string,
  options: LoadModuleOptions = {},
): Promise<Extension> {
  const { from = process.cwd(), importModule = (url) => import(url), version = 0 } = options;
  const { url, file } = findModule(specifier, from);
  let imported: unknown;
  try {
    imported = await importModule(importableUrl(url, version));
  } catch (thrown) {
    throw importError(thrown, specifier, file, from);
  }
  return extensionOf(imported, file);
}

/**
 * Finds the module that a specifier names.
 *
 * @returns a `file:` URL and the path of the file, or twice the name of a package that only `import()` can find.
 * @throws SluiceError `module-not-found`.
 */
export function findModule(specifier: string, from: string) {
  const url = isPath(specifier)
    ? fileOf(specifier, from)
    : (packageFileOf(specifier, from) ?? specifier);
  return { url, file: url.startsWith('file:') ? fileURLToPath(url) : url };
}

/**
 * Makes the URL by which a module can be imported. TypeScript, and a new version of any module, needs hooks; plain JavaScript
 * does not.
 */
export function importableUrl(url: string, version = 0): string {
  if (!url.startsWith('file:') || (version === 0 && !/\.m?tsx?$/.test(url))) return url;
  return markedUrl(url, version);
}

/** Makes the URL by which the hooks know a module, so that all that it imports by path is compiled if it is TypeScript. */
export function markedUrl(url: string, version = 0): string {
  installModuleHooks();
  return versionUrl(url, version);
}

function isPath(specifier: string): boolean {
  return /^(\.{0,2}[/\\]|\.{1,2}$|file:|[A-Za-z]:[/\\])/.test(specifier);
}

function fileOf(specifier: string, from: string): string {
  const file = specifier.startsWith('file:') ? fileURLToPath(specifier) : resolve(from, specifier);
  let problem = `there is no ${file}`;
  try {
    const entry = statSync(file, { throwIfNoEntry: false });
    if (entry?.isFile() === true) return pathToFileURL(file).href;
    if (entry !== undefined) problem = `${file} is not a file; name the file in it`;
  } catch (error) {
    problem = oneLine(error); // a name that is too long, say
  }
  throw extensionError('module-not-found', { specifier, problem, from });
}

/** Finds the file that a package name means in a folder; `undefined` if only `import()` can say. */
function packageFileOf(name: string, from: string): string | undefined {
  try {
    return pathToFileURL(createRequire(join(from, 'sluice')).resolve(name)).href;
  } catch (thrown) {
    const missing = missingIn(thrown);
    // not installed there, or without an entry for `require`: importing it, from this package, says which
    if (missing === undefined || missing === name) return undefined;
    const problem = `it is installed, and its file ${missing} is not there: build it`;
    throw extensionError('module-not-found', { specifier: name, problem, from }, { cause: thrown });
  }
}

/** Reads the name of the module or package that Node did not find. Only the text of its error holds it. */
export function missingIn(thrown: unknown): string | undefined {
  const text = thrown instanceof Error ? thrown.message : '';
  return /^Cannot find (?:module|package) '([^']+)'/.exec(text)?.[1];
}

function extensionOf(imported: unknown, file: string): Extension {
  const exported = imported as Readonly<Record<string, unknown>>; // what import() gives is an object
  const present = ['default', 'extension'].filter((name) => exported[name] !== undefined);
  for (const name of present) {
    const candidate = exported[name];
    if (extensionProblem(candidate) === undefined) return candidate as Extension; // just checked
  }
  const [first] = present;
  const names = Object.keys(exported).join(', ') || 'nothing';
  const problem =
    first === undefined
      ? `it exports ${names}`
      : `its export "${first}" is none: ${extensionProblem(exported[first])}${pluginHint(exported[first])}`;
  throw extensionError('no-extension', { file, problem });
}

/** A plugin of another gateway is a function, or an object with a function "register". */
function pluginHint(exported: unknown): string {
  const isPlugin =
    typeof exported === 'function' ||
    (typeof exported === 'object' && exported !== null && 'register' in exported);
  return isPlugin ? '; if it is a plugin, load its folder with --plugin' : '';
}

const typescriptCodes: readonly unknown[] = [
  'ERR_UNKNOWN_FILE_EXTENSION',
  'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX',
  'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING',
];

/** Turns the error of an import into one that names the file. */
export function importError(
  thrown: unknown,
  specifier: string,
  file: string,
  from: string,
): SluiceError {
  // defineExtension has refused it while the module was loaded, and its error names the mistake
  if (isSluiceError(thrown, 'bad-extension'))
    return extensionError('bad-extension', { ...thrown.details, file }, { cause: thrown });
  const cause = { cause: thrown };
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
  if (typescriptCodes.includes(code) && /\.[cm]?tsx?$/.test(file))
    return extensionError('module-needs-compiling', { file, node: process.version }, cause);
  const missing = missingIn(thrown); // the package itself, or one that it imports
  if (missing !== undefined && (file === missing || file.startsWith(`${missing}/`))) {
    const problem = 'no such package is installed';
    return extensionError('module-not-found', { specifier, problem, from }, cause);
  }
  const problem = `${oneLine(thrown)}${isTakenForScript(thrown) ? takenForScript : placeIn(file, thrown)}`;
  return extensionError('module-failed', { file, problem }, cause);
}

/** Finds the place of a syntax error in the file itself, unless the error names it. */
function placeIn(file: string, thrown: unknown): string {
  if (!(thrown instanceof SyntaxError) || / \(line \d+\)$/.test(thrown.message)) return '';
  try {
    const place = syntaxPlace(file, readFileSync(file, 'utf8'));
    return place === undefined ? '' : ` (line ${place.line})`;
  } catch {
    return ''; // the file is gone
  }
}

const takenForScript =
  ': Node takes an ES module for CommonJS; name the file .mjs, or put "type": "module" in the package.json of its folder';

/** Recognizes an ES module in a folder whose package says `commonjs`, as `npm init` writes it, by the text of the error. */
function isTakenForScript(thrown: unknown): boolean {
  const text = thrown instanceof Error ? thrown.message : '';
  return /^(?:Unexpected token 'export'|Cannot use import statement outside a module)/.test(text);
}
