import type { ExtensionSource } from '../../extension/index.js';
import { nearest } from '../../kernel/index.js';
import { CommandError } from '../errors/command-error.js';
import type { SetConfig } from '../settings/set-config.js';

/** Puts the settings of `--set` over the configuration of a source, once its id is known. */
export function withSet(source: ExtensionSource, sets: readonly SetConfig[]): ExtensionSource {
  if (sets.length === 0) return source;
  let { config } = source;
  return {
    ...source,
    get config() {
      return config;
    },
    load: async () => {
      const extension = await source.load();
      config = source.config;
      for (const { path, value } of sets)
        if (isOf(extension.id, path))
          config = withValue(config, path.slice(extension.id.length + 1).split('.'), value);
      return extension;
    },
  };
}

/** Finds settings of extensions that are not there: a misspelt id leaves its extension as it was. */
export function unusedSets(sets: readonly SetConfig[], ids: readonly string[]): CommandError[] {
  return sets
    .filter(({ path }) => !ids.some((id) => isOf(id, path)))
    .map(({ path }) => {
      const [id = ''] = path.split('.');
      const close = nearest(id, ids);
      const hint =
        close === undefined
          ? `Extensions: ${ids.join(', ') || 'none'}.`
          : `Did you mean "${close}"?`;
      return new CommandError(
        'bad-arguments',
        `--set ${path} names no extension that is loaded`,
        hint,
      );
    });
}

function isOf(extensionId: string, path: string): boolean {
  return path.startsWith(`${extensionId}.`);
}

function withValue(
  config: unknown,
  [key = '', ...rest]: readonly string[],
  value: unknown,
): object {
  const before = (typeof config === 'object' ? config : {}) as Readonly<Record<string, unknown>>; // by its own keys
  const next = rest.length === 0 ? value : withValue(before?.[key], rest, value);
  return Object.assign(Array.isArray(config) ? [...config] : { ...before }, { [key]: next });
}
