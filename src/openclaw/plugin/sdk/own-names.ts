import type { Fields } from 'sluice-kernel/internal';
import { plainName } from '../channel/settings.js';

/** The configuration schema of a plugin that takes none, in both forms that OpenClaw reads. */
function emptyPluginConfigSchema(): object {
  const refused = (message: string): object => ({
    success: false,
    error: { issues: [{ path: [], message }] },
  });
  return {
    jsonSchema: { type: 'object', additionalProperties: false, properties: {} },
    safeParse: (value: unknown): object => {
      if (value === undefined) return { success: true, data: undefined };
      if (typeof value !== 'object' || value === null || Array.isArray(value))
        return refused('the config is no object');
      return Object.keys(value).length === 0
        ? { success: true, data: value }
        : refused('the config has to be empty');
    },
  };
}

/** The answer of a tool as a text, with the value that the text was made of. */
function textResult(text: string, details: unknown): object {
  return { content: [{ type: 'text', text }], details };
}

/** Keeps the `api.runtime` of a plugin for the modules that have no `api`. */
function createPluginRuntimeStore(missing: string | { readonly errorMessage?: string }): object {
  let kept: unknown = null;
  const message = typeof missing === 'string' ? missing : (missing.errorMessage ?? 'no runtime');
  return {
    setRuntime: (runtime: unknown): void => {
      kept = runtime;
    },
    clearRuntime: (): void => {
      kept = null;
    },
    tryGetRuntime: (): unknown => kept,
    getRuntime: (): unknown => {
      if (kept === null) throw new Error(message);
      return kept;
    },
  };
}

/** A JSON Schema of one of several texts. */
function stringEnum(values: readonly string[], options: Fields = {}): object {
  return { type: 'string', enum: [...values], ...options };
}

/**
 * The names that Sluice offers in place of each module `openclaw/plugin-sdk*` if no OpenClaw has that module: those that plugins by others
 * than OpenClaw use most. Written for Sluice; each behaves as OpenClaw documents it.
 */
export const ownNames: Fields = Object.freeze({
  definePluginEntry: pluginEntry(emptyPluginConfigSchema),
  defineChannelPluginEntry: channelEntry(emptyPluginConfigSchema),
  emptyPluginConfigSchema,
  buildJsonPluginConfigSchema: (jsonSchema: object) => ({ jsonSchema }),
  jsonResult: (payload: unknown) => textResult(JSON.stringify(payload, null, 2), payload),
  textResult,
  readStringParam: readText,
  readNumberParam: readNumber,
  readStringArrayParam: readTexts,
  stringEnum,
  createPluginRuntimeStore,
  DEFAULT_ACCOUNT_ID: 'default',
  normalizeAccountId: (value: unknown) => plainName(value, 'default'),
});

interface Entry {
  readonly configSchema?: unknown;
}

/** The fields of `defineChannelPluginEntry` that are its own. */
interface ChannelEntry extends Entry {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly plugin: unknown;
  readonly setRuntime?: (runtime: unknown) => void;
  readonly registerFull?: (api: ChannelApi) => void;
}

/** The part of a plugin's api that a channel's entry uses. */
interface ChannelApi {
  readonly runtime: unknown;
  readonly registerChannel: (registration: { readonly plugin: unknown }) => void;
}

/** `definePluginEntry`: the entry as it is given, with its schema made when it is first read. */
function pluginEntry(empty: () => object) {
  return <E extends Entry>({ configSchema = empty, ...entry }: E): object => {
    let made: unknown;
    return {
      ...entry,
      get configSchema(): unknown {
        return (made ??= typeof configSchema === 'function' ? configSchema() : configSchema);
      },
    };
  };
}

/** `defineChannelPluginEntry`: an entry that registers the channel, and then the rest. */
function channelEntry(empty: () => object) {
  const define = pluginEntry(empty);
  return ({ plugin, setRuntime, registerFull, ...entry }: ChannelEntry): object => {
    const register = (api: ChannelApi): void => {
      setRuntime?.(api.runtime);
      api.registerChannel({ plugin });
      registerFull?.(api);
    };
    const defined = define({ ...entry, register });
    return Object.assign(defined, { channelPlugin: plugin });
  };
}

type Params = Readonly<Record<string, unknown>>;

interface ParamOptions {
  readonly required?: boolean;
  /** The name of the parameter in an error; its key by default. */
  readonly label?: string;
}

/** Gives what was read of a parameter; a required one that gives nothing is an error. */
function orRequired<T>(value: T | undefined, key: string, options: ParamOptions): T | undefined {
  if (value === undefined && options.required === true)
    throw new Error(`${options.label ?? key} required`);
  return value;
}

/** `readStringParam`: a text of a tool's parameters, without blanks at its ends. */
function readText(
  params: Params,
  key: string,
  options: ParamOptions & { readonly trim?: boolean; readonly allowEmpty?: boolean } = {},
): string | undefined {
  const given = params[key];
  const text =
    typeof given === 'string' ? (options.trim === false ? given : given.trim()) : undefined;
  const isNothing = text === '' && options.allowEmpty !== true;
  return orRequired(isNothing ? undefined : text, key, options);
}

/** `readNumberParam`: a number, also one that is written as a text. */
function readNumber(
  params: Params,
  key: string,
  options: ParamOptions & { readonly integer?: boolean } = {},
): number | undefined {
  const given = params[key];
  const value = typeof given === 'string' ? Number.parseFloat(given) : given;
  const number = typeof value === 'number' && Number.isFinite(value) ? value : undefined;
  const read = orRequired(number, key, options);
  return read !== undefined && options.integer === true ? Math.trunc(read) : read;
}

/** `readStringArrayParam`: the texts of a list, or a text alone as a list of one. */
function readTexts(params: Params, key: string, options: ParamOptions = {}): string[] | undefined {
  const given = params[key];
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  const texts = list
    .filter((one) => typeof one === 'string')
    .map((one) => one.trim())
    .filter((one) => one !== '');
  return orRequired(texts.length === 0 ? undefined : texts, key, options);
}
