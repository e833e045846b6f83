import { isFields } from 'sluice-kernel/internal';
import type { Registering } from '../api/registering.js';
import { moduleOf } from '../sdk/sdk-module.js';

type Run = (...given: readonly unknown[]) => unknown;

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
  const members = Object.entries(names).flatMap(([name, there]) => {
    const run: unknown = module[there];
    if (typeof run !== 'function') return [];
    const watched = (...given: readonly unknown[]): unknown => {
      const made: unknown = (run as Run)(...given);
      return name === 'createResolver' && isFields(made)
        ? way.watch(`${owner}.${name}`, made)
        : made;
    };
    return [[name, watched] as const];
  });
  return way.watch(owner, Object.fromEntries(members));
}
