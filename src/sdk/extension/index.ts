import './errors.js'; // merges the codes of this layer into ErrorCode

export type { ConfigIssue, ConfigSchema, ConfigVerdict } from './config/config-schema.js';
export { fromJsonSchema } from './config/from-json-schema.js';
export { fromTypebox } from './config/from-typebox.js';
export type * from './define/added-times.js';
export type { ExtensionApi, Register } from './define/api.js';
export { sluiceVersion } from './define/copy.js';
export type { Declarations } from './define/declarations.js';
export {
  defineExtension,
  type Extension,
  type ExtensionDefinition,
} from './define/extension.js';
export type * from './define/extension-host.js';
export type { Manifest } from './define/manifest.js';
export * from './define/place.js';
export type * from './define/provisions.js'; // as a whole: names of a list do not merge with those of an author
export type * from './define/question.js';
export * from './define/scope.js';
export type * from './define/send.js';
export type * from './define/store.js';
export type * from './define/texts.js';
export { defineCommand, defineTool, type TypedCommand, type TypedTool } from './define/typed.js';
export { loadExtension } from './load/load.js';
export { type LoadModuleOptions, loadExtensionModule } from './load/load-module.js';
export type * from './load/load-result.js';
export { inOwnGroup } from './load/own-group.js';
export type { Registration, RegistrationKind, Registrations } from './named/registration.js';
export type * from './named/schedule.js';
export { ExtensionSet, type ExtensionSetOptions, type ExtensionUser } from './set/extension-set.js';
export type { ExtensionStatus, ReloadResult } from './set/extension-status.js';
export { HandlerWatch, type HandlerWatchOptions } from './set/handler-watch.js';
export { type ExtensionSource, givenSource, moduleSource } from './set/source.js';
export type * from './store/key-values.js';
