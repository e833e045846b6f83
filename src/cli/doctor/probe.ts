import {
  allow,
  createKernel,
  nameOf,
  type OpenContribution,
  openKernel,
  type PlannedHandler,
  type StageInfo,
} from '../../kernel/index.js';

/** A handler that a probe event did not reach. */
export interface Unreached {
  /** `extension/contribution`. */
  readonly name: string;
  /** The reason, as an outcome's `skipped` names it. */
  readonly why: string;
  /** The operator has disabled it. */
  readonly disabled: boolean;
}

/**
 * Sends an event through a stage with a stand-in for each handler: the same class, order, budget and policy, and an
 * answer that changes nothing. No handler runs, so nothing is sent, written or asked (spec §20.5): a handler may
 * have any effect, and cannot tell a probe from a real event.
 */
export async function probe({ stage, handlers }: StageInfo): Promise<readonly Unreached[]> {
  const disabled = new Set(handlers.filter((one) => one.disabled).map(nameOf));
  const made = createKernel({
    stages: [stage],
    trace: true,
    overrides: Object.fromEntries([...disabled].map((name) => [name, { disabled: true }])),
  });
  const kernel = openKernel(made);
  for (const one of handlers) kernel.contribute(standIn(one, stage.family));
  const outcome =
    stage.mode === 'sync-sequential'
      ? kernel.dispatchSync(stage.family, {})
      : await kernel.dispatch(stage.family, {});
  return outcome.skipped.map((one) => ({
    name: nameOf(one),
    why: one.why,
    disabled: disabled.has(nameOf(one)),
  }));
}

function standIn(one: PlannedHandler, family: string): OpenContribution {
  const isVeto = one.class === 'veto';
  return {
    family,
    class: one.class,
    extensionId: one.extensionId,
    id: one.contributionId,
    priority: one.priority,
    timeoutMs: one.timeoutMs,
    ...(one.band === 'last' && { band: one.band }),
    ...(isVeto && one.policy === 'closed' && { failClosed: true }),
    handler: isVeto ? () => allow() : () => undefined,
  };
}
