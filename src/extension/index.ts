export type { ExtensionApi, Register } from './api.js';
export {
  type ConfigIssue,
  type ConfigSchema,
  type ConfigVerdict,
  readConfig,
} from './config-schema.js';
export {
  defineExtension,
  type Extension,
  type ExtensionDefinition,
  extensionProblem,
} from './extension.js';
export { fromJsonSchema } from './from-json-schema.js';
export { fromTypebox } from './from-typebox.js';
export {
  type DisabledExtension,
  defaultSetupTimeoutMs,
  type LoadedExtension,
  type LoadOptions,
  type LoadResult,
  loadExtension,
} from './load.js';
export {
  importError,
  type LoadModuleOptions,
  loadExtensionModule,
  missingIn,
} from './load-module.js';
export type { Provision, ProvisionKind, Provisions } from './provisions.js';
export { Scope, type Undo, type UndoFailure, type UndoReport } from './scope.js';
