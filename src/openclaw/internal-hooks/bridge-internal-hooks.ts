import type { Kernel } from 'sluice-kernel';
import { sharedBus } from '../facts/legacy-bus.js';
import { createInternalHookEvent } from './event.js';
import { InternalHookBus } from './internal-hook-bus.js';
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
  const { bus, user, leave } = join(kernel, options);
  return {
    registerInternalHook: (key, handler, owner) => bus.add({ key, handler, owner, user }),
    unregisterInternalHook: (key, handler) => bus.remove(key, (one) => one.handler === handler),
    clearInternalHooks: () => bus.clear(),
    getRegisteredEventKeys: () => bus.keys(),
    triggerInternalHook: (event) => bus.trigger(event),
    createInternalHookEvent: (type, action, sessionKey, context) =>
      createInternalHookEvent(type, action, sessionKey, context, bus.clock.now()),
    stats: () => bus.stats(),
    [Symbol.dispose]: () => {
      bus.clear(user);
      leave();
    },
  };
}

const join = sharedBus(
  (kernel, options: InternalHookOptions) => new InternalHookBus(kernel, options),
);
