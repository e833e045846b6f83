import './errors.js'; // merges the codes of this layer into ErrorCode

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
export { ExtensionSet, type ExtensionSetOptions, type ExtensionUser } from './extension-set.js';
export type { ExtensionStatus, ReloadResult } from './extension-status.js';
export { fromJsonSchema } from './from-json-schema.js';
export { fromTypebox } from './from-typebox.js';
export { HandlerWatch, type HandlerWatchOptions } from './handler-watch.js';
export { defaultSetupTimeoutMs, loadExtension } from './load.js';
export {
  type FoundModule,
  findModule,
  importableUrl,
  importError,
  type LoadModuleOptions,
  loadExtensionModule,
  missingIn,
} from './load-module.js';
export type {
  DisabledExtension,
  LoadedExtension,
  LoadOptions,
  LoadResult,
  UnloadReport,
} from './load-result.js';
export type { Manifest } from './manifest.js';
export { moduleFiles } from './module-files.js';
export type { Provision, ProvisionKind, Provisions } from './provisions.js';
export { Scope, type Undo, type UndoFailure, type UndoReport } from './scope.js';
export { type ExtensionSource, givenSource, moduleSource } from './source.js';
export { syntaxPlace, type TextPlace } from './syntax-place.js';
export { sluiceVersion } from './version.js';
