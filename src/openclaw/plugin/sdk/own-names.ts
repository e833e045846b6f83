import type { Fields } from '../../../kernel/index.js';
import { channelEntry, pluginEntry } from './own-entries.js';
import { readNumber, readText, readTexts } from './own-params.js';

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

/** The names of accounts are compared in this form; no name is that of the default account. */
function normalizeAccountId(value: unknown): string {
  const text = typeof value === 'string' ? value.trim().toLowerCase() : '';
  const name = text.replace(/[^a-z0-9_-]+/g, '-').replace(/^-+|-+$/g, '');
  return name === '' ? 'default' : name.slice(0, 64);
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
  normalizeAccountId,
});
