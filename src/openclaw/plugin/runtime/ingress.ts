import type { Registering } from '../api/registering.js';
import { moduleOf } from '../sdk/sdk-module.js';

/** The functions of `channel.inbound.ingress`, by those of the module that OpenClaw offers its plugins. */
const names = {
  createResolver: 'createChannelIngressResolver',
  resolve: 'resolveChannelMessageIngress',
  resolveStable: 'resolveStableChannelMessageIngress',
} as const;

/**
 * `channel.inbound.ingress` of profile 2026.9: who may write, by allow lists, pairing and groups. That is judged by the plugin's own
 * OpenClaw, so that nobody is let in whom it would keep out. Nothing if there is no OpenClaw beside the plugin that has it, or if this
 * Node cannot load it.
 */
export function ingressOf({ openclaw, intake: way }: Registering): object | undefined {
  const module = moduleOf(openclaw, 'channel-ingress-runtime');
  if (module === undefined) return undefined;
  const owner = 'api.runtime.channel.inbound.ingress';
  const there = Object.entries(names).map(([name, theirs]) => [name, module[theirs]] as const);
  return way.watch(owner, Object.fromEntries(there.filter(([, run]) => typeof run === 'function')));
}
