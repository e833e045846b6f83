import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { servedGroups, servedMembers, unsupportedMembers } from '../../plugin/api/unsupported.js';

/** A place in a plugin's source that names something which is not supported. */
export interface PluginMention {
  readonly method: string;
  readonly instead: string;
  /** The file in the plugin's folder, and the line in it, from 1. */
  readonly file: string;
  readonly line: number;
}

/** The files of a plugin that are read at most: a large folder must not hold the command up. */
const maxFiles = 500;

/** A member of the api, or of its runtime if the plugin keeps that behind a function: `getAcmeRuntime().tts`. */
const pattern =
  /\b(?:api\s*\??\.\s*(?:runtime\s*\??\.\s*)?|get\w*Runtime\(\)\s*\??\.\s*)(?:events\s*\??\.\s*)?(\w+)(?:\??\.(\w+))?/g;

/**
 * Searches the source of a plugin for members that it would ask for only later, in a handler, a command or a service. It
 * reads text, so that a comment counts, too, and a member under another name is missed.
 *
 * @param path the plugin's folder, or a file in it.
 */
export function pluginMentions(path: string): readonly PluginMention[] {
  const folder = statSync(path).isDirectory() ? path : dirname(path);
  const found = new Map<string, PluginMention>();
  for (const file of sourceFiles(folder).slice(0, maxFiles)) {
    const text = readFileSync(file, 'utf8');
    for (const hit of text.matchAll(pattern)) {
      const { method, member } = namedBy(hit[0]);
      const instead = (unsupportedMembers as Readonly<Record<string, string>>)[member];
      const isServed = servedMembers.has(method) || servedGroups.has(method);
      if (instead === undefined || isServed || found.has(method)) continue;
      const line = text.slice(0, hit.index).split('\n').length;
      found.set(method, { method, instead, file: relative(folder, file), line });
    }
  }
  return [...found.values()];
}

/** Splits `api.runtime?.tts.speak` into the method that it names and the part of the api that the method belongs to. */
function namedBy(text: string): { readonly method: string; readonly member: string } {
  const method = text.replace(/[\s?]+/g, '').replace(/^get\w*Runtime\(\)/, 'api.runtime');
  const names = method.split('.');
  const isPart = names[1] === 'runtime' && names[2] !== 'events';
  return { method, member: names.slice(0, isPart ? 3 : names[1] === 'runtime' ? 4 : 2).join('.') };
}

/** The first line of a plugin's source that a pattern matches: `src/index.ts:12`. */
export function placeIn(folder: string, pattern: RegExp): string | undefined {
  for (const file of sourceFiles(folder).slice(0, maxFiles)) {
    const text = readFileSync(file, 'utf8');
    const at = text.search(pattern);
    if (at >= 0) return `${relative(folder, file)}:${text.slice(0, at).split('\n').length}`;
  }
  return undefined;
}

/** The files of a plugin that are code, without those of packages, of tests and of types. */
export function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => name !== 'node_modules' && !name.startsWith('.'))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return sourceFiles(path);
      return /\.[cm]?[jt]s$/.test(entry.name) && !/\.(?:test|spec|d)\./.test(entry.name)
        ? [path]
        : [];
    });
}
