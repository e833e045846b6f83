import { oneLine } from 'sluice-kernel/internal';

/** The names that a plugin's object may have. */
export interface PluginDefinition {
  readonly id?: string;
  readonly name?: string;
  readonly version?: string;
  readonly description?: string;
}

/** The export of a module: the register function and its names, or the reason why it is no plugin. */
export interface PluginExport {
  readonly register?: (api: unknown) => unknown;
  readonly definition: PluginDefinition;
  /** Why there is no `register`. */
  readonly problem?: string;
}

/** Reads a plugin's module: its default export if it has one, a function or an object with `register` or `activate`. */
export function pluginExportOf(module: unknown): PluginExport {
  try {
    return read(defaultOf(module));
  } catch (thrown) {
    return { definition: {}, problem: `reading it threw: ${oneLine(thrown)}` }; // a getter of the plugin's
  }
}

function read(exported: unknown): PluginExport {
  if (typeof exported === 'function') return { register: exported as Register, definition: {} };
  if (typeof exported !== 'object' || exported === null)
    return { definition: {}, problem: `it is ${exported === null ? 'null' : typeof exported}` };
  const { register, activate, ...rest } = exported as Readonly<Record<string, unknown>>; // read field by field
  const definition = Object.fromEntries(
    ['id', 'name', 'version', 'description']
      .filter((field) => typeof rest[field] === 'string' && rest[field] !== '')
      .map((field) => [field, rest[field]]),
  ) as PluginDefinition; // each field is a text
  const run = register ?? activate;
  if (typeof run !== 'function')
    return { definition, problem: 'it has no function "register" or "activate"' };
  return { register: (api) => (run as Register).call(exported, api), definition };
}

type Register = (api: unknown) => unknown;

/** A module that was compiled to CommonJS and is imported has its default export one level further in. */
function defaultOf(module: unknown): unknown {
  if (typeof module !== 'object' || module === null || !('default' in module)) return module;
  const { default: inner } = module;
  const isCompiled =
    typeof inner === 'object' && inner !== null && '__esModule' in inner && 'default' in inner;
  return isCompiled ? inner.default : inner;
}
