import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { missingIn } from '@sluice/sdk/extension/internal';
import type { PluginSdk } from '../sdk/find-openclaw.js';

/** The import of OpenClaw's own code that a plugin could not be loaded for. */
export interface NeededSdk {
  /** The file that imports it. */
  readonly file: string;
  /** As the file names it: `openclaw/plugin-sdk/core`. */
  readonly specifier: string;
  readonly problem: string;
}

/**
 * Reads out of a failed import that OpenClaw's own code was missing. Node's error names the package and not the subpath: the
 * file that imports it does.
 *
 * @param sdk the OpenClaw that the plugin was offered.
 * @param source the plugin's entry file: it is named if the error names none.
 * @returns nothing if the import failed for another reason.
 */
export function neededSdk(thrown: unknown, source: string, sdk: PluginSdk): NeededSdk | undefined {
  const text = thrown instanceof Error ? thrown.message : '';
  const [, module, name] =
    /^The requested module '(openclaw[^']*)' does not provide an export named '([^']+)'/.exec(
      text,
    ) ?? [];
  if (module !== undefined && name !== undefined)
    return missingName(placeIn(thrown, module, name) ?? source, module, name, sdk);
  const file = importerIn(text) ?? source;
  const missing = missingIn(thrown);
  if (missing !== undefined && /^openclaw(\/|$)/.test(missing)) {
    const specifier = missing === 'openclaw' ? (importIn(file) ?? missing) : missing;
    return { file, specifier, problem: 'it is not installed beside the plugin' };
  }
  const [, subpath, manifest] =
    /^Package subpath '\.\/([^']+)' is not defined by "exports" in (\S*openclaw[/\\]package\.json)/.exec(
      text,
    ) ?? [];
  if (subpath === undefined || manifest === undefined) return undefined;
  const problem = `openclaw@${versionOf(manifest)}, which is installed in ${dirname(manifest)}, does not export it`;
  return { file, specifier: `openclaw/${subpath}`, problem };
}

/** The import of a name that neither the plugin's OpenClaw nor Sluice has. */
export function missingName(
  file: string,
  specifier: string,
  name: string,
  { version, path }: PluginSdk,
): NeededSdk {
  const problem =
    version === undefined
      ? `Sluice, which stands in for it, has no "${name}"`
      : `neither openclaw@${version} of ${path} nor Sluice has "${name}" there`;
  return { file, specifier, problem };
}

/** The file with which the stack of a failed import begins, and the line of the name there: the stack has that of the compiled text. */
function placeIn(thrown: unknown, module: string, name: string): string | undefined {
  const stack = thrown instanceof Error ? (thrown.stack ?? '') : '';
  const [, url, line] = /^(file:\S+?)(?:\?\S*)?:(\d+)$/m.exec(stack) ?? [];
  if (url === undefined) return undefined;
  const file = fileURLToPath(url);
  return `${file}:${lineOf(readFileSync(file, 'utf8'), module, name) ?? line}`;
}

/** The line on which a text imports a name of a module, counted from 1. */
function lineOf(text: string, module: string, name: string): number | undefined {
  const names = /(?:import|export)\b([^'";]*?)\bfrom\s*['"]([^'"]+)['"]/g;
  for (const { 0: all, 1: list = '', 2: from, index } of text.matchAll(names)) {
    const at = list.split(/[\s,{}]+/).includes(name) ? index + all.indexOf(name) : undefined;
    if (from === module && at !== undefined) return text.slice(0, at).split('\n').length;
  }
  return undefined;
}

/** Node names the importing file at the end, as a path or as a URL. */
function importerIn(text: string): string | undefined {
  const named = / imported from (\S+)$/.exec(text.split('\n', 1)[0] ?? '')?.[1];
  if (named === undefined) return undefined;
  const path = named.startsWith('file:') ? fileURLToPath(named) : named;
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true ? path : undefined;
}

/** The first import of OpenClaw in a file that is no type's alone. */
function importIn(file: string): string | undefined {
  const text = readFileSync(file, 'utf8').replace(/import\s+type\s[^;]*;/g, '');
  return /['"](openclaw(?:\/[\w./-]+)?)['"]/.exec(text)?.[1];
}

function versionOf(manifest: string): string {
  const { version } = JSON.parse(readFileSync(join(manifest.trim()), 'utf8')) as {
    readonly version?: unknown;
  }; // a package that Node has just read
  return String(version);
}
