import {
  allow,
  type Call,
  type Clock,
  definedFields,
  didYouMean,
  isThenable,
  type Kernel,
  kernelError,
  type OpenContribution,
  type Own,
  systemClock,
} from 'sluice-kernel/internal';
import type { HookPart, LegacyHookRow } from '../hooks/row.js';
import {
  isHookOf,
  type LegacyHookName,
  type LegacyProfile,
  legacyHookNames,
  rowsOf,
} from '../profiles/index.js';
import { bridgeOf, type LegacyBridge } from './bridge-state.js';
import { budgetOf } from './call-handler.js';
import type { LegacyHookRegistration, Registered } from './registration.js';

/** The kernel's own budget is for what the bridge does not end by itself. */
const afterMs = 1_000;

/** The trusted field that a legacy plugin may ask for. */
const systemPromptGrant = 'agent.prompt.building:systemPrompt';

/**
 * Registers a handler of a plugin hook on the canonical stages: one contribution for each part of its hook's row, all
 * over a single call of the handler. Contribution ids are `NNNN`, the plugin's registrations counted from 0, and
 * `NNNN.0`, `NNNN.1` where there are several, so that ties inside a plugin keep their order and nothing runs between
 * the parts of a handler.
 *
 * @param options.trusted lets the plugin replace the system prompt.
 * @param options.clock times its handlers that have a budget of their own.
 * @param options.profile the release that the handler was written for; `2026.3` by default.
 * @throws SluiceError as `kernel.contribute` does, or `bad-contribution` where there is no such hook; nothing stays
 *   registered then.
 * @example
 * const registration = registerLegacyHook(kernel, {
 *   pluginId: 'acme', hookName: 'message_sending', handler: (event) => ({ content: event.content.trim() }),
 * });
 */
export function registerLegacyHook<H extends LegacyHookName<P>, P extends LegacyProfile = '2026.3'>(
  kernel: Kernel,
  registration: LegacyHookRegistration<H, P>,
  options: { readonly trusted?: boolean; readonly profile?: P; readonly clock?: Clock } = {},
): Disposable {
  const { trusted = false, profile = '2026.3', clock = systemClock } = options;
  const bridge = bridgeOf(kernel);
  const { handler: answer, ...named } = registration;
  const { pluginId } = named;
  const row = checkedRow(registration, profile);
  const registered: Registered = { ...named, row, clock, answer, index: bridge.index(pluginId) };
  const ids = row.parts.map((_, part) => idOf(registered, part));
  let audited: boolean | undefined;
  const isAudited = (): boolean => (audited ??= isAuditedHandler(kernel, row, pluginId, ids));
  // only while the handler is contributed: an extension of the same name does not come by it
  const isGranted = trusted && row.parts.some(({ family }) => family === 'agent.prompt.building');
  const granted = isGranted ? kernel.grant(pluginId, [systemPromptGrant]) : undefined;
  try {
    const contributions = row.parts.map((part, at) =>
      contributionOf(bridge, registered, part, ids[at] ?? '', isAudited),
    );
    const made = bridge.contribute(contributions, () => bridge.remove(registered, ids));
    bridge.add(registered, ids);
    return made;
  } finally {
    granted?.[Symbol.dispose]();
  }
}

/** The row of a registration, which is checked. */
function checkedRow(
  {
    pluginId,
    hookName,
    handler,
  }: Pick<LegacyHookRegistration<string>, 'pluginId' | 'hookName'> & { readonly handler: unknown },
  profile: LegacyProfile,
): LegacyHookRow {
  const refuse = (problem: string): never => {
    const family = `plugin hook ${String(hookName)}`;
    const whose = { extensionId: String(pluginId), contributionId: '?', family };
    throw kernelError('bad-contribution', { ...whose, problem });
  };
  const row = isHookOf(profile, hookName) ? rowsOf(profile)[hookName] : undefined;
  if (typeof handler !== 'function') refuse('handler must be a function');
  return (
    row ?? refuse(`there is no such hook${didYouMean(String(hookName), legacyHookNames[profile])}`)
  );
}

function idOf({ index, row }: Registered, part: number): string {
  return row.parts.length === 1 ? index : `${index}.${part}`;
}

/** Returns whether the operator audits each part of a handler: a handler of which one part counts is called for that part. */
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
  part: HookPart,
  id: string,
  isAudited: () => boolean,
): OpenContribution {
  const { pluginId, hookName, priority, row } = registered;
  const isJudge = part.class === 'veto' && row.isClosed === true;
  const budgetMs = budgetOf(registered);
  return {
    family: part.family,
    class: part.class,
    extensionId: pluginId,
    id,
    ...definedFields({ priority, band: row.band }),
    ...(budgetMs !== undefined && { timeoutMs: budgetMs + afterMs }),
    ...(isJudge && { failClosed: true }),
    ...(part.class === 'veto' && { recheck: false }), // the handler was called once, and is not called again
    ...(part.class === 'observer' && { detached: true }), // a void hook delays nobody
    handler: (call: Call, own: Own) => {
      const taken = take(call, own);
      if (!isJudge) return taken;
      return isThenable(taken) ? taken.then((said) => said ?? allow()) : (taken ?? allow());
    },
  };

  function take(call: Call, own: Own): unknown {
    const { event, principal } = call;
    if (call.pass === 'answered') return undefined; // nor is it called when a human has answered
    if (row.isHosted === true && bridge.announced(event) !== undefined) return undefined; // it is not called there
    if (bridge.announced(event)?.row !== row && row.wants?.(event) === false) return undefined;
    const shared = bridge.callOf(hookName, row, event, principal);
    return (isAudited() ? shared.apart(registered) : shared).take(registered, part, call, own);
  }
}
