import { definedFields } from 'sluice-kernel/internal';
import type { ConfigSchema } from '../config/config-schema.js';
import { extensionError } from '../errors.js';
import type { ExtensionApi } from './api.js';
import { markCopy } from './copy.js';
import type { Declarations } from './declarations.js';
import { type Manifest, manifestProblem } from './manifest.js';

/** The mark of an extension: plain data, so that two installed copies of this package agree. */
const kind = 'sluice-extension';

/** The argument of `defineExtension`. */
export interface ExtensionDefinition<Config> {
  /** The extension's name: no spaces. Outcomes, logs, grants and overrides use it. */
  readonly id: string;
  /** Its version, the Sluice that it needs, and the grants that it asks for. */
  readonly manifest?: Manifest;
  /** The schema of its configuration: a synchronous Standard Schema, or `fromTypebox(schema)`. */
  readonly config?: ConfigSchema<Config>;
  /** The facts that a program needs before the setup: of a channel, its options and secrets. */
  readonly declares?: Declarations;
  /** Registers handlers and takes resources. May be async: nothing is live before it has ended. */
  setup(api: ExtensionApi, config: Config): void | Promise<void>;
}

/** An extension, defined and not yet loaded. */
export interface Extension<Config = unknown> {
  readonly kind: typeof kind;
  readonly id: string;
  readonly manifest: Manifest;
  readonly config: ConfigSchema<Config> | undefined;
  readonly declares?: Declarations;
  /** A method, so that extensions of any config fit one list: the loader calls it with the config that its schema read. */
  setup(api: ExtensionApi, config: Config): void | Promise<void>;
}

const idPattern = /^[^\s/\p{Cc}]+$/u;

/**
 * Defines an extension: its name, the schema of its configuration, and its setup.
 *
 * @throws SluiceError `bad-extension`.
 * @example
 * export default defineExtension({
 *   id: 'sign',
 *   config: z.object({ name: z.string() }),
 *   setup(api, { name }) {
 *     api.mutate('egress.preparing', 'sign', { preview: 'ok' }, ({ payload }) => ({
 *       content: `${payload.content}\n-- ${name}`,
 *     }));
 *   },
 * });
 */
export function defineExtension<Config = undefined>(
  definition: ExtensionDefinition<Config>,
): Extension<Config> {
  const { id, manifest = {}, config, declares, setup } = definition;
  const declared = definedFields({ declares });
  const extension = { kind, id, manifest, config, ...declared, setup } as const;
  markCopy(extension);
  Object.freeze(extension);
  const problem = extensionProblem(extension);
  if (problem !== undefined)
    throw extensionError('bad-extension', { extensionId: String(id), problem });
  return extension;
}

/** Reads the id of a value that should be an extension, and may be anything. */
export function idOf(value: unknown, otherwise: string): string {
  return String((value as Partial<Extension> | undefined)?.id ?? otherwise);
}

/** Says why a value is no extension; `undefined` if it is one. It takes anything, because a module may export anything. */
export function extensionProblem(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return `it is ${nameOfType(value)}`;
  const given = value as Partial<Record<keyof Extension, unknown>>; // read by its fields, each of them checked
  if (given.kind !== kind) return 'defineExtension did not make it';
  if (typeof given.id !== 'string' || !idPattern.test(given.id))
    return 'its id must be a name without spaces or slashes';
  if (given.id in Object.prototype || given.id === 'prototype')
    return `"${given.id}" is a name that every object has already; choose another id`;
  if (typeof given.setup !== 'function') return 'its setup must be a function';
  if (given.config !== undefined && !isConfigSchema(given.config))
    return 'its config must be a Standard Schema, such as a zod object or fromTypebox(schema)';
  return manifestProblem(given.manifest ?? {}); // none in one that an older copy of this package made
}

function isConfigSchema(value: unknown): boolean {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  const standard = (value as Partial<ConfigSchema>)['~standard'];
  return standard?.version === 1 && typeof standard.validate === 'function';
}

function nameOfType(value: unknown): string {
  return value === null || value === undefined ? String(value) : `a ${typeof value}`;
}
