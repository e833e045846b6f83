import type { ChannelPlugin } from '@sluice/sdk/channel';
import type { KeyValues } from '@sluice/sdk/extension';
import type { Clock, Kernel, Logger } from 'sluice-kernel';
import type { ChatCommand } from './chat-commands.js';
import type { PluginRoutes } from './routes.js';
import type { ToolSource } from './tools.js';

/** The things of a host that its plugins work with. */
export interface PluginHost {
  readonly clock: Clock;
  /** Its journal keeps them. */
  readonly keyValues: KeyValues;
  /** Makes the id of the event that an update begins. The sends that answer it carry the id. */
  eventIdOf(channel: string, accountId: string, updateId: string): string;
}

/** The things that a plugin brings to a host: its tools, and these. */
export interface PluginOffer extends ToolSource {
  readonly channels: readonly ChannelPlugin[];
  /** One whose name another command has is left out. */
  readonly commands: readonly ChatCommand[];
  readonly routes: PluginRoutes;
}

/** A plugin as a host runs it, of whatever system it comes. */
export interface HostPlugin {
  readonly pluginId: string;
  /** The kernel that it was loaded into. The host must have the same. */
  readonly kernel: Kernel;
  /** Writes under its name. */
  readonly logger: Logger;
  /** Gives what it brings. A host calls it once, when it is made. */
  provide(host: PluginHost): PluginOffer;
  /** Starts its services, one after the other. One that fails is reported and left out. Never rejects. */
  start(): Promise<void>;
  /** Stops the services that run, the last one first. Never rejects. */
  stop(): Promise<void>;
}
