// what api.provide takes; the types alone

export { type ErrorTable, errorTable } from './error-table.js';
export type { AgentDefinition, ChatCommand, HttpRoute } from './host/index.js';
export * from './kernel/public.js';
export type { ChannelPlugin } from './sdk/channel/index.js';
export {
  defineExtension,
  type Extension,
  type ExtensionApi,
  type ExtensionDefinition,
  fromTypebox,
  // open to merging, as Families is
  type Provisions,
} from './sdk/extension/index.js';
