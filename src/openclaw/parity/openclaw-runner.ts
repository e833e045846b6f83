import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { legacyHookNames, rowsOf } from '../profiles/index.js';
import type { MakeLegacyRunner } from './parity-run.js';

/**
 * OpenClaw's own hook runner, for `compareParity`. It is cut out of an installed openclaw@2026.3.13, which exports it nowhere;
 * neither the rest of the package nor its dependencies are loaded. To get the package without its dependencies:
 * `npm pack openclaw@2026.3.13 && tar -xzf openclaw-2026.3.13.tgz`. Of an openclaw@2026.9, give `compareParity` the profile, too:
 * its runner is imported, and needs the package with its dependencies and the Node that it asks for.
 *
 * @param folder the folder of the package, such as `./package` or `./node_modules/openclaw`.
 * @throws Error (as a rejection) if the package has no hook runner that runs by itself: it is another version.
 * @example
 * const legacyRunner = await openclawHookRunner('./node_modules/openclaw');
 * const report = await compareParity({ legacyRunner, plugin: './acme', hook, event, ctx });
 */
export async function openclawHookRunner(folder: string): Promise<MakeLegacyRunner> {
  const later = laterRunner(join(folder, 'dist'));
  if (later !== undefined) return importLater(later);
  const { createHookRunner } = (await cutModule(folder, {
    region: 'src/plugins/hooks.ts',
    exports: ['createHookRunner'],
    with: ['src/shared/text/join-segments.ts'],
  })) as { readonly createHookRunner: MakeLegacyRunner }; // it takes any hook name, and reads the same fields
  return createHookRunner;
}

/** The file of a later release that exports its runner, and the name that it has there. */
function laterRunner(dist: string): { readonly file: string; readonly name: string } | undefined {
  for (const one of existsSync(dist) ? readdirSync(dist).toSorted() : []) {
    if (!one.endsWith('.mjs')) continue;
    const file = join(dist, one);
    const text = readFileSync(file, 'utf8');
    const name = /\bcreateHookRunner as (\w+)\b/.exec(text)?.[1];
    if (name !== undefined && text.includes('\nfunction createHookRunner(')) return { file, name };
  }
  return undefined;
}

async function importLater({
  file,
  name,
}: {
  readonly file: string;
  readonly name: string;
}): Promise<MakeLegacyRunner> {
  const module = (await import(/* @vite-ignore */ pathToFileURL(file).href)) as Readonly<
    Record<string, (registry: object, options: object) => object>
  >; // it exports functions
  const closed = legacyHookNames['2026.9'].filter((hook) => rowsOf('2026.9')[hook]?.isClosed);
  const failurePolicyByHook = Object.fromEntries(closed.map((hook) => [hook, 'fail-closed']));
  return ({ typedHooks }, options) => {
    const runner = module[name]?.({ typedHooks, plugins: [] }, { ...options, failurePolicyByHook });
    if (runner === undefined) throw new TypeError(`${file} does not export ${name}`);
    return runner;
  };
}

/** The cut of one source module out of the bundle of an installed openclaw. */
export interface ModuleCut {
  /** The path of the module in the source of OpenClaw. */
  readonly region: string;
  /** Each of these is declared there: the bundle has several copies, with more or less left out. */
  readonly exports: readonly string[];
  /** Regions of the same file that it calls into. */
  readonly with?: readonly string[];
  /** Code that stands for the rest of what it uses. Each instance has its own. */
  readonly prelude?: string;
  readonly alsoExports?: readonly string[];
}

/**
 * Imports a fresh instance of one source module of an installed openclaw, state and all. It is cut out of the bundle as it is
 * read, so that nothing of it is kept here.
 *
 * @param root the folder of the package.
 * @throws Error if its bundle has no copy of the module that runs by itself.
 */
export async function cutModule(root: string, cut: ModuleCut): Promise<object> {
  const code = `${sourceOf(root, cut)}\n// ${randomUUID()}: an import of the same text is the same instance\n`;
  const url = `data:text/javascript;base64,${Buffer.from(code).toString('base64')}`;
  return (await import(/* @vite-ignore */ url)) as object; // a module
}

function sourceOf(root: string, cut: ModuleCut): string {
  const dist = join(root, 'dist');
  const files = existsSync(dist) ? readdirSync(dist).toSorted() : [];
  for (const file of files) {
    if (!file.endsWith('.js')) continue;
    const bundle = readFileSync(join(dist, file), 'utf8');
    const main = regionOf(bundle, cut.region);
    if (main === undefined || !cut.exports.every((one) => declares(main, one))) continue;
    const others = (cut.with ?? []).map((region) => regionOf(bundle, region));
    if (others.includes(undefined)) continue;
    const names = [...cut.exports, ...(cut.alsoExports ?? [])].join(', ');
    return [cut.prelude ?? '', ...others, main, `export { ${names} };`].join('\n');
  }
  throw new Error(`${dist} has no copy of ${cut.region} with ${cut.exports.join(', ')}.`);
}

/** The text of one source module in a bundle that marks where each of them begins and ends. */
export function regionOf(bundle: string, path: string): string | undefined {
  const begin = bundle.indexOf(`//#region ${path}\n`);
  if (begin < 0) return undefined;
  const end = bundle.indexOf('\n//#endregion', begin);
  return end < 0 ? undefined : bundle.slice(begin, end);
}

function declares(region: string, name: string): boolean {
  return region.includes(`\nfunction ${name}(`) || region.includes(`\nasync function ${name}(`);
}
