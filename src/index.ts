// what api.provide takes; the types alone

// these merge their rows into ErrorRows, also for a program that imports nothing else of them
export type {} from '@sluice/claude/errors';
export type { AgentDefinition, ChatCommand, HttpRoute } from '@sluice/host';
export type {} from '@sluice/openclaw/errors';
export type {} from '@sluice/openclaw/gateway/errors';
export type { ChannelPlugin } from '@sluice/sdk/channel';
export {
  defineCommand,
  defineExtension,
  defineTool,
  type Extension,
  type ExtensionApi,
  type ExtensionDefinition,
  fromTypebox,
  type MessagePlace,
  // open to merging, as Families is
  type Provisions,
  placeOf,
} from '@sluice/sdk/extension';
export * from 'sluice-kernel';
