import {
  type Call,
  definedFields,
  didYouMean,
  type Kernel,
  kernelError,
  type OpenContribution,
  type Own,
  openKernel,
} from '../../kernel/index.js';
import { type LegacyHookName, legacyHookNames, pluginHooks } from '../hooks/index.js';
import type { HookPart, LegacyHookRow } from '../hooks/row.js';
import { bridgeOf, type LegacyBridge } from './bridge-state.js';
import type { LegacyHookRegistration, Registered } from './registration.js';

/** The trusted field that a legacy plugin may ask for. */
const systemPromptGrant = 'agent.prompt.building:systemPrompt';

/**
 * Registers a handler of a plugin hook on the canonical stages: one contribution for each part of its hook's row, all
 * over a single call of the handler. Contribution ids are `NNNN`, the plugin's registrations counted from 0, and
 * `NNNN.0`, `NNNN.1` where there are several, so that ties inside a plugin keep their order and nothing runs between
 * the parts of a handler.
 *
 * @param options.trusted lets the plugin replace the system prompt.
 * @throws SluiceError as `kernel.contribute` does, or `bad-contribution` where there is no such hook; nothing stays
 *   registered then.
 * @example
 * const registration = registerLegacyHook(kernel, {
 *   pluginId: 'acme', hookName: 'message_sending', handler: (event) => ({ content: event.content.trim() }),
 * });
 */
export function registerLegacyHook<H extends LegacyHookName>(
  kernel: Kernel,
  registration: LegacyHookRegistration<H>,
  { trusted = false }: { readonly trusted?: boolean } = {},
): Disposable {
  const bridge = bridgeOf(kernel);
  const open = openKernel(kernel);
  const { handler: answer, ...named } = registration;
  const { pluginId, hookName } = named;
  checkRegistration(registration);
  const row: LegacyHookRow = pluginHooks[hookName];
  const registered: Registered = { ...named, answer, index: bridge.index(pluginId) };
  const ids = row.parts.map((_, part) => idOf(registered, row, part));
  let audited: boolean | undefined;
  const isAudited = (): boolean => (audited ??= isAuditedHandler(kernel, row, pluginId, ids));
  const undo: Disposable[] = [{ [Symbol.dispose]: () => bridge.remove(registered, ids) }];
  const dispose = (): void => {
    for (const one of undo.splice(0).reverse()) one[Symbol.dispose]();
  };
  // only while the handler is contributed: an extension of the same name does not come by it
  const isGranted = trusted && row.parts.some(({ family }) => family === 'agent.prompt.building');
  const granted = isGranted ? kernel.grant(pluginId, [systemPromptGrant]) : undefined;
  try {
    for (const [at, part] of row.parts.entries())
      undo.push(
        open.contribute(contributionOf(bridge, registered, row, part, ids[at] ?? '', isAudited)),
      );
  } catch (error) {
    dispose();
    throw error;
  } finally {
    granted?.[Symbol.dispose]();
  }
  bridge.add(registered, ids);
  return { [Symbol.dispose]: dispose };
}

function checkRegistration({ pluginId, hookName, handler }: LegacyHookRegistration): void {
  const refuse = (problem: string): never => {
    const family = `plugin hook ${String(hookName)}`;
    const whose = { extensionId: String(pluginId), contributionId: '?', family };
    throw kernelError('bad-contribution', { ...whose, problem });
  };
  if (!legacyHookNames.includes(hookName))
    refuse(`there is no such hook${didYouMean(String(hookName), legacyHookNames)}`);
  if (typeof handler !== 'function') refuse('handler must be a function');
}

function idOf({ index }: Registered, row: LegacyHookRow, part: number): string {
  return row.parts.length === 1 ? index : `${index}.${part}`;
}

/** Tells whether the operator audits each part of a handler: a handler of which one part counts is called for that part. */
function isAuditedHandler(
  kernel: Kernel,
  { parts }: LegacyHookRow,
  pluginId: string,
  ids: readonly string[],
): boolean {
  return parts.every(({ family }, at) =>
    kernel
      .plan(family)
      .some(
        ({ extensionId, contributionId, mode }) =>
          extensionId === pluginId && contributionId === ids[at] && mode === 'audit',
      ),
  );
}

function contributionOf(
  bridge: LegacyBridge,
  registered: Registered,
  row: LegacyHookRow,
  part: HookPart,
  id: string,
  isAudited: () => boolean,
): OpenContribution {
  const { pluginId, hookName, priority } = registered;
  return {
    family: part.family,
    class: part.class,
    extensionId: pluginId,
    id,
    ...definedFields({ priority, band: row.band }),
    ...(part.class === 'veto' && { recheck: false }), // the handler was called once, and is not called again
    ...(part.class === 'observer' && { detached: true }), // a void hook delays nobody
    handler: (call: Call, own: Own) => {
      const { event, principal } = call;
      if (call.pass === 'answered') return undefined; // nor is it called when a human has answered
      if (!bridge.isAnnounced(hookName, event) && row.wants?.(event) === false) return undefined;
      const shared = bridge.callOf(hookName, row, event, principal);
      return (isAudited() ? shared.apart(registered) : shared).take(registered, part, call, own);
    },
  };
}
