import { isDeepStrictEqual } from 'node:util';
import type { Extension, ExtensionSource } from '@sluice/sdk/extension';
import { readConfig } from '@sluice/sdk/extension/internal';
import { nearestHint } from 'sluice-kernel/internal';
import { badArguments, type CommandError } from '../errors/command-error.js';
import { withValue } from '../settings/flags.js';
import type { SetConfig } from '../settings/settings.js';

/**
 * Puts the settings of `--set` over the configuration of a source, once its id is known.
 *
 * @param report takes the error of a setting that the schema of the extension leaves out.
 */
export function withSet(
  source: ExtensionSource,
  sets: readonly SetConfig[],
  report: (error: CommandError) => void,
): ExtensionSource {
  if (sets.length === 0) return source;
  let { config } = source;
  return {
    ...source,
    get config() {
      return config;
    },
    load: async () => {
      const extension = await source.load();
      const own = sets
        .filter(({ path }) => isOf(extension.id, path))
        .map(({ path, value }) => ({
          path,
          value,
          keys: path.slice(extension.id.length + 1).split('.'),
        }));
      const setAll = (some: typeof own): unknown =>
        some.reduce<unknown>((set, { keys, value }) => withValue(set, keys, value), source.config);
      config = setAll(own);
      for (const one of own) {
        const without = setAll(own.filter((other) => other !== one));
        if (isLeftOut(extension, one.keys, config, without)) report(leftOut(one.path));
      }
      return extension;
    },
  };
}

/**
 * Returns whether a schema leaves a setting out: what it makes of the configuration does not have it, and is the same without
 * it. A renamed key counts as present.
 */
function isLeftOut(
  { id, config: schema }: Extension,
  keys: readonly string[],
  written: unknown,
  without: unknown,
): boolean {
  try {
    const read = readConfig(id, schema, written);
    let found: unknown = read;
    for (const key of keys) found = Object(found)[key];
    return found === undefined && isDeepStrictEqual(read, readConfig(id, schema, without));
  } catch {
    return false; // loading tells what is wrong with it
  }
}

function leftOut(path: string): CommandError {
  const hint = 'Look for a slip in its name: the extension knows no such setting.';
  return badArguments(`--set ${path} changes nothing`, hint);
}

/**
 * Leaves the settings out that name two extensions. Where a path can be read in two ways, the extensions are read before
 * the first is added, so that their ids are known; each is read once.
 */
export async function unmistakable(
  sources: readonly ExtensionSource[],
  sets: readonly SetConfig[],
): Promise<{ readonly sources: readonly ExtensionSource[]; readonly sets: readonly SetConfig[] }> {
  if (sets.every(({ path }) => path.split('.').length < 3)) return { sources, sets };
  const read = await Promise.allSettled(sources.map((source) => source.load()));
  const ids = read.flatMap((one) => (one.status === 'fulfilled' ? [one.value.id] : []));
  const ahead = sources.map((source, at) => {
    let first = read[at]; // a reload reads it anew
    const load = async (): Promise<Extension> => {
      const known = first;
      first = undefined;
      if (known === undefined) return source.load();
      if (known.status === 'rejected') throw known.reason;
      return known.value;
    };
    return { ...source, load };
  });
  const clear = sets.filter(({ path }) => ids.filter((id) => isOf(id, path)).length < 2);
  return { sources: ahead, sets: clear };
}

/** Finds settings that name no extension, since a misspelt id leaves its extension as it was, and settings that name two. */
export function doubtfulSets(sets: readonly SetConfig[], ids: readonly string[]): CommandError[] {
  return sets.flatMap(({ path }) => {
    const [owner, other] = ids.filter((id) => isOf(id, path));
    if (other !== undefined)
      return badArguments(
        `--set ${path} names a setting of "${owner}" and of "${other}"`,
        'Write it in the config file, at the extension that you mean.',
      );
    return owner === undefined ? noExtension(path, ids) : [];
  });
}

function noExtension(path: string, ids: readonly string[]): CommandError {
  const [id = ''] = path.split('.');
  const hint = nearestHint(id, ids, `Extensions: ${ids.join(', ') || 'none'}.`);
  return badArguments(`--set ${path} names no extension that is loaded`, hint);
}

function isOf(extensionId: string, path: string): boolean {
  return path.startsWith(`${extensionId}.`);
}
