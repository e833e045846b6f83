import { isThenable } from 'sluice-kernel/internal';
import type { InternalHookHandler } from '../../internal-hooks/event.js';
import type { Registering } from './registering.js';

/** A plugin's options for a handler of internal hooks. */
interface InternalHookOptions {
  readonly name?: string;
  readonly description?: string;
  /** `false` lists it without attaching it. */
  readonly register?: boolean;
  readonly entry?: { readonly hook: { readonly name?: string; readonly description?: string } };
}

/**
 * `api.registerHook`: a handler for internal hooks. It needs a name, and is attached only where the OpenClaw
 * configuration switches internal hooks on.
 *
 * @throws SluiceError `scope-disposed` once the plugin has been disposed.
 */
export function registerInternal(
  plugin: Registering,
  events: string | readonly string[],
  handler: InternalHookHandler,
  options: InternalHookOptions = {},
): void {
  const { pluginId, scope, report, buses } = plugin;
  const keys = (typeof events === 'string' ? [events] : events)
    .map((event) => event.trim())
    .filter((event) => event !== '');
  const name = options.entry?.hook.name ?? options.name?.trim() ?? '';
  if (name === '') {
    report('warn', `a handler for ${keys.join(', ') || 'no event'} has no name; it is ignored`);
    return;
  }
  if (typeof handler !== 'function') {
    report('error', `"${name}" has no function for a handler; it is ignored`);
    return;
  }
  const isOn = isInternalOn(plugin.config);
  const attached = isOn && options.register !== false;
  if (attached) {
    const { internalHooks: bus } = buses();
    const judged = judgedHandler(plugin, handler);
    for (const key of keys) {
      bus.registerInternalHook(key, judged, pluginId.replaceAll('/', ':'));
      scope.add(`internal hook ${key}`, () => bus.unregisterInternalHook(key, judged));
    }
  } else if (!isOn)
    report('info', `"${name}" is not attached: config.hooks.internal.enabled is not true`);
  const description = options.entry?.hook.description ?? options.description ?? '';
  plugin.internalHooks.push({ name, description, events: keys, attached });
}

/**
 * The handler, of whose answers none comes of a member that is not there: it is taken back, and the handler has
 * failed.
 */
function judgedHandler(
  { refusals }: Registering,
  handler: InternalHookHandler,
): InternalHookHandler {
  return (event) => {
    const answered = event.messages.length;
    const judge = (): void => {
      if (!refusals.isAsked) return;
      const added = event.messages.splice(answered);
      refusals.check(added);
      event.messages.push(...added);
    };
    const result = handler(event);
    if (!isThenable(result)) return judge();
    return refusals.isAsked ? result.then(judge) : result;
  };
}

function isInternalOn(config: Readonly<Record<string, unknown>>): boolean {
  const { hooks } = config as { readonly hooks?: { readonly internal?: { enabled?: unknown } } }; // read carefully
  return hooks?.internal?.enabled === true;
}
