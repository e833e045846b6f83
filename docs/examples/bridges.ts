import type { Kernel, Logger } from 'sluice';
import {
  bridgeAgentEvents,
  bridgeInternalHooks,
  createLegacyHookRunner,
  loadLegacyPluginFrom,
} from 'sluice/legacy';

/** Everything that a host of today calls, on one kernel. */
export async function bridge(
  kernel: Kernel,
  logger: Logger,
  config: Readonly<Record<string, unknown>>,
): Promise<object> {
  const runner = createLegacyHookRunner(kernel, { logger }); // the methods that your code calls today
  const internal = bridgeInternalHooks(kernel); // registerInternalHook, triggerInternalHook, ...
  const events = bridgeAgentEvents(kernel); // emitAgentEvent, onAgentEvent, ...
  await loadLegacyPluginFrom('./plugins/acme', { config, kernel });
  return { runner, internal, events };
}
