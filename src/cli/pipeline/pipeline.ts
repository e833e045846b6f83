import { type ExtensionData, extensionData, hostExtensionId, Texts } from '@sluice/host/internal';
import { memoryJournal } from '@sluice/journal';
import { ExtensionSet, type HandlerWatch, moduleSource } from '@sluice/sdk/extension';
import {
  createKernel,
  definedFields,
  isSluiceError,
  type Kernel,
  type KernelOptions,
  type Logger,
  nameOf,
  nearest,
} from 'sluice-kernel/internal';
import { CommandError } from '../errors/command-error.js';
import { askedOfPackages } from '../settings/agent-choice.js';
import type { ExtensionSetting, Settings } from '../settings/settings.js';
import type { LoadedPlugin } from '../shell/shell.js';
import { channelPackages, installedPackages, type NamedPackage } from './channel-packages.js';
import { doubtfulSets, unmistakable, withSet } from './with-set.js';

/** A pipeline without a host: a kernel with its extensions and plugins. To dispose it waits for running handlers, and undoes all. */
export interface Pipeline extends AsyncDisposable {
  readonly kernel: Kernel;
  /** The errors of extensions and plugins. A broken one is left out, and the others are loaded. */
  readonly errors: readonly unknown[];
  /** The names in the settings of the required extensions that are missing; one that is to be audited is required. */
  readonly missing: readonly string[];
  /** The extensions; a host uses what they provide. */
  readonly extensions: ExtensionSet;
  /** The plugins for a host to run, also one that could not be set up, with what it registered. */
  readonly plugins: readonly LoadedPlugin[];
}

/**
 * Makes a kernel as the settings say, and loads their extensions and plugins into it.
 *
 * @throws CommandError `bad-config` if the kernel refuses a setting.
 */
export async function openPipeline(
  settings: Settings,
  logger: Logger,
  options: Pick<KernelOptions, 'tap' | 'trace' | 'quarantine'> & {
    readonly watch?: HandlerWatch;
    /** The stores and folders of the extensions; those of this pipeline alone, and gone with it, if absent. */
    readonly data?: ExtensionData;
  } = {},
): Promise<Pipeline> {
  const {
    watch,
    data = extensionData(memoryJournal({ acknowledge: 'ended' })),
    ...kernelOptions
  } = options;
  const { grants, leastPrivilege, overrides, audit, budgets } = settings;
  const kernel = refusedSettings(() =>
    createKernel({
      ...kernelOptions,
      grants,
      leastPrivilege,
      overrides,
      audit,
      logger,
      ...(watch !== undefined && { instrument: watch.instrument }),
    }),
  );
  watch?.watch(kernel);
  const { setupTimeoutMs } = budgets;
  const texts = new Texts(settings);
  const loading = {
    logger: withoutRefusals(logger),
    host: { storeOf: data.storeOf, stateDirOf: data.stateDirOf, textsOf: texts.textsOf },
    ...definedFields({ setupTimeoutMs, around: watch?.around }),
  };
  const extensions = new ExtensionSet(kernel, loading);
  const errors: unknown[] = [];
  const missing: string[] = [];
  const asked = askedOfPackages(settings.agents);
  const askedFor = [...asked].map(([scheme, value]) => ({ path: `${scheme}.asked`, value }));
  const loadEach = async (some: readonly ExtensionSetting[]): Promise<void> => {
    const given = some.map(({ specifier, from, config: written }) => {
      const over = settings.givenConfig[specifier];
      const config = over === undefined ? written : { ...(written ?? {}), ...over };
      return moduleSource(specifier, { from, config });
    });
    const { sources, sets } = await unmistakable(given, [...settings.setConfig, ...askedFor]);
    for (const [at, source] of sources.entries()) {
      const set = withSet(source, sets, (dropped) => void errors.push(dropped));
      const { error } = await extensions.add(set);
      if (error === undefined) continue;
      errors.push(error);
      if (some[at]?.required === true) missing.push(source.name);
    }
  };
  // the operator has named the channel or the agent: that is the grant
  const loadNamed = async (grant: string, packages: readonly NamedPackage[]): Promise<void> => {
    for (const { extensionId } of leastPrivilege ? packages : [])
      if (extensionId !== undefined) kernel.grant(extensionId, [grant]);
    await loadEach(packages);
  };
  await loadEach(settings.extensions);
  await loadNamed('provide:channel', await channelPackages(settings, extensions.live, errors));
  const lacking = [...asked.keys()].filter(
    (scheme) => !extensions.statuses.some(({ extensionId }) => extensionId === scheme),
  );
  const named = lacking.map((scheme) => `sluice-${scheme}`);
  await loadNamed('provide:agent', await installedPackages(named, settings.workspaceDir));
  const { pluginLoader } = settings;
  const loaded = await pluginLoader?.loadPlugins(kernel, settings, withoutRefusals(logger));
  const { plugins = [] } = loaded ?? {};
  errors.push(...(loaded?.errors ?? []));
  errors.push(...unmatched(kernel, Object.keys(overrides)));
  const ids = extensions.statuses.map(({ extensionId }) => extensionId);
  errors.push(...doubtfulSets(settings.setConfig, ids));
  const hint = 'See its README for the sentences of an extension.';
  errors.push(...texts.problems().map((what) => new CommandError('bad-config', what, hint)));
  const unaudited = audit.filter((id) => !ids.includes(id));
  const pluginIds = plugins.map(({ pluginId }) => pluginId);
  errors.push(...unaudited.map((id) => notAudited(id, ids, pluginIds)));
  return {
    kernel,
    errors,
    missing: [...missing, ...unaudited],
    extensions,
    plugins,
    [Symbol.asyncDispose]: async () => {
      await kernel.close();
      for (const plugin of plugins.toReversed()) await plugin.dispose();
      await extensions[Symbol.asyncDispose]();
      if (options.data === undefined) data[Symbol.dispose]();
    },
  };
}

/** Finds overrides that change nothing, because no handler has that name: a misspelt one leaves its handler as it was. */
function unmatched(kernel: Kernel, keys: readonly string[]): CommandError[] {
  const names = kernel.stages().flatMap(({ handlers }) => handlers.map(nameOf));
  return keys
    .filter((key) => !names.includes(key) && !key.startsWith(`${hostExtensionId}/`)) // the host's own come later
    .map((key) => {
      const hint = `Use the name of a handler, as \`sluice stages\` prints it${suchAs(key, names)}.`;
      return new CommandError(
        'bad-config',
        `override "${key}" names no handler that is loaded`,
        hint,
      );
    });
}

function suchAs(name: string, names: readonly string[]): string {
  const close = nearest(name, names);
  return close === undefined ? '' : `, such as "${close}"`;
}

/** The error of a name that is to be audited, and that no extension has: a misspelt one leaves its extension in force. */
function notAudited(
  name: string,
  extensions: readonly string[],
  plugins: readonly string[],
): CommandError {
  if (plugins.includes(name))
    return new CommandError(
      'bad-config',
      `audit "${name}" names an OpenClaw plugin: it cannot be audited as a whole`,
      `Audit its handlers one by one: "overrides": { "${name}/HANDLER": { "mode": "audit" } }.`,
    );
  return new CommandError(
    'bad-config',
    `audit "${name}" names no extension that is loaded`,
    `Use the id of an extension${suchAs(name, extensions)}.`,
  );
}

/** Makes a logger for loading: the reason why an extension is disabled comes back as an error, and is printed once. */
function withoutRefusals(logger: Logger): Logger {
  return {
    ...logger,
    error: (message, fields) => {
      if (fields?.['hint'] === undefined) logger.error(message, fields);
    },
  };
}

/**
 * Makes something of settings. An option that is refused came from the config, so the error is one of the config.
 *
 * @throws CommandError `bad-config`, and what `make` throws otherwise.
 */
function refusedSettings<T>(make: () => T): T {
  try {
    return make();
  } catch (thrown) {
    if (!isSluiceError(thrown, 'bad-option')) throw thrown;
    throw new CommandError('bad-config', thrown.message, thrown.hint, { cause: thrown });
  }
}
