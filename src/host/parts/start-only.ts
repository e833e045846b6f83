import type { ChannelPlugin } from '@sluice/sdk/channel';
import type { HostOptions } from './options.js';

/** Returns whether a channel's accounts are to be started: all of them, or those that the operator names and those that only send. */
export function isToStart(
  { id, capabilities }: ChannelPlugin,
  only: HostOptions['startOnly'],
): boolean {
  return only === undefined || only.includes(id) || capabilities.sendsOnly === true;
}
