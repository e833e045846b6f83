// what api.provide takes; the types alone

export type { AgentDefinition, ChatCommand, HttpRoute } from '@sluice/host';
export type { ChannelPlugin } from '@sluice/sdk/channel';
export {
  defineExtension,
  type Extension,
  type ExtensionApi,
  type ExtensionDefinition,
  fromTypebox,
  // open to merging, as Families is
  type Provisions,
} from '@sluice/sdk/extension';
export * from 'sluice-kernel';
