// what api.provide takes; the types alone
export type { ChannelPlugin } from './channel/index.js';
export { type ErrorTable, errorTable } from './error-table.js';
export {
  defineExtension,
  type Extension,
  type ExtensionApi,
  type ExtensionDefinition,
  fromTypebox,
  // open to merging, as Families is
  type Provisions,
} from './extension/index.js';
export type { AgentDefinition, ChatCommand, HttpRoute } from './host/index.js';
export * from './kernel/public.js';
