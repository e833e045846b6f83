import type { Kernel } from 'sluice-kernel';
import { sharedBus } from '../facts/shared-bus.js';
import type { InternalHookHandler } from './event.js';
import { internalHookBus } from './internal-hook-bus.js';
import type { InternalHookOptions, InternalHooks } from './internal-hooks.js';

/**
 * Puts the internal hook bus on a kernel. Handlers of one event run in the legacy order (those of the type, then those
 * of the action, each in order of registration), awaited one by one, on one mutable event; a canonical event that
 * somebody else dispatches reaches them too, as an event made of its envelope.
 *
 * A kernel has one such bus, as a legacy process has: each call gives access to the same, and options count at the
 * first. Disposing takes the handlers away that were registered through it, and after the last the bus.
 *
 * @throws SluiceError from `registerInternalHook`, as `kernel.contribute` throws.
 * @example
 * const hooks = bridgeInternalHooks(kernel, { logger });
 * hooks.registerInternalHook('command:new', (event) => void event.messages.push('Saved.'));
 * const event = hooks.createInternalHookEvent('command', 'new', 'agent:main:main', { commandSource: 'telegram' });
 * await hooks.triggerInternalHook(event); // command.received
 * event.messages; // ['Saved.']
 */
export function bridgeInternalHooks(
  kernel: Kernel,
  options: InternalHookOptions = {},
): InternalHooks {
  const { bus, leave } = join(kernel, options);
  const own: { readonly key: string; readonly handler: InternalHookHandler }[] = [];
  return {
    ...bus,
    registerInternalHook: (key, handler, owner) => {
      bus.registerInternalHook(key, handler, owner);
      own.push({ key, handler });
    },
    unregisterInternalHook: (key, handler) => {
      bus.unregisterInternalHook(key, handler);
      const at = own.findIndex((one) => one.key === key && one.handler === handler);
      if (at >= 0) own.splice(at, 1);
    },
    clearInternalHooks: () => {
      bus.clearInternalHooks();
      own.length = 0;
    },
    [Symbol.dispose]: () => {
      for (const { key, handler } of own.splice(0)) bus.unregisterInternalHook(key, handler);
      leave();
    },
  };
}

const join = sharedBus(internalHookBus);
