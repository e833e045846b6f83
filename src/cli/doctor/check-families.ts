import { hostExtensionId } from '@sluice/host/internal';
import type { AgentProvider } from '@sluice/sdk/stream';
import {
  allow,
  createKernel,
  type EmissionSource,
  type Kernel,
  nameOf,
  type OpenContribution,
  openKernel,
  type PlannedHandler,
  previewNotice,
  type StageInfo,
} from 'sluice-kernel/internal';
import { counted } from '../shell/text.js';
import { type Finding, findingsOf } from './finding.js';

const findings = findingsOf('families');

/** The parts of a host that decide which events there will be. */
interface EmissionFacts {
  readonly kernel: Kernel;
  readonly providers: readonly AgentProvider[];
  /** The ids of the channels that are started. */
  readonly channels: readonly string[];
}

/**
 * Looks at every family that a handler listens to: the host must emit it, the handler must have an effect there, and a probe
 * event must reach the handler (spec §20.5).
 */
export async function checkFamilies(facts: EmissionFacts): Promise<Finding[]> {
  const heard = facts.kernel
    .stages()
    .map(({ stage, handlers }) => ({
      stage,
      handlers: handlers.filter(({ extensionId }) => extensionId !== hostExtensionId),
    }))
    .filter(({ handlers }) => handlers.length > 0);
  const found: Finding[] = [];
  for (const info of heard)
    found.push(
      ...neverEmitted(info, facts),
      ...observeOnly(info, facts),
      ...deprecated(info),
      ...(await neverReached(info)),
    );
  if (found.some(({ severity }) => severity !== 'ok')) return found;
  const handlers = heard.reduce((sum, info) => sum + info.handlers.length, 0);
  const what = `a probe event reached ${counted(handlers, 'handler', 'handlers')} in ${counted(heard.length, 'family', 'families')}`;
  return [...found, findings.ok(what)];
}

function namesOf(handlers: StageInfo['handlers']): string {
  return handlers.map(nameOf).join(', ');
}

/** Without events an observer misses nothing, so nobody is blamed; a handler that decides or changes is useless, and its author does not know. */
function neverEmitted({ stage, handlers }: StageInfo, facts: EmissionFacts): Finding[] {
  const [isLacking, why] = lackable[stage.emittedBy] ?? [];
  if (isLacking?.(facts) !== true) return [];
  const watching = handlers.filter((one) => one.class === 'observer');
  const deciding = handlers.filter((one) => one.class !== 'observer');
  const what = `"${stage.family}" is never emitted here: ${why}`;
  const hint = 'Listen to another family; `sluice stages --json` says who emits each, and when.';
  return [
    ...(deciding.length === 0 ? [] : [findings.error(what, namesOf(deciding), hint)]),
    ...(watching.length === 0 ? [] : [findings.ok(what, namesOf(watching))]),
  ];
}

/** The sources of events that a host may lack: whether it does, and the reason in words. */
const lackable: Partial<Record<EmissionSource, [(facts: EmissionFacts) => boolean, why: string]>> =
  {
    nothing: [() => true, 'nothing emits it yet'],
    subagent: [
      ({ providers }) => providers.every(({ subagentOf }) => subagentOf === undefined),
      'no agent of this host starts subagents',
    ],
    'interactive-channel': [
      ({ channels }) => channels.every((id) => id === 'console'),
      'the console has no buttons, lists or forms',
    ],
  };

/** Finds handlers that decide about events that an agent tells of afterwards: their decisions have no effect. */
function observeOnly({ stage, handlers }: StageInfo, { providers }: EmissionFacts): Finding[] {
  if (stage.family !== 'agent.tool.calling') return [];
  const deciding = handlers.filter(
    ({ class: one }) => one === 'veto' || one === 'mutator' || one === 'resolver',
  );
  if (deciding.length === 0) return [];
  const telling = providers.filter(({ toolGate }) => toolGate === 'observe-only');
  return telling.map(({ id }) => {
    const what = `the agent "${id}" tells of tool calls afterwards: a cancel or patch at "${stage.family}" has no effect`;
    const hint = 'Use an agent whose tools can be gated, such as "claude", or observe only.';
    return findings.error(what, namesOf(deciding), hint);
  });
}

function deprecated({ stage, handlers }: StageInfo): Finding[] {
  if (stage.deprecated === undefined) return [];
  const { since, use, removeAfter } = stage.deprecated;
  const end = removeAfter === undefined ? '' : `, and is gone after ${removeAfter}`;
  const what = `"${stage.family}" is deprecated since ${since}${end}`;
  return [findings.warning(what, namesOf(handlers), `Listen to "${use}".`)];
}

/** Finds handlers that a probe event does not reach. A handler that the operator has disabled is no problem. */
async function neverReached(info: StageInfo): Promise<Finding[]> {
  return (await probe(info)).map(({ name, why, disabled }) => {
    const what = `a probe event through "${info.stage.family}" does not reach it: ${why}`;
    if (disabled) return { ...findings.ok(what, name), hint: 'Remove its override to enable it.' };
    return findings.error(what, name, 'See `sluice stages` for the order.');
  });
}

/**
 * Sends an event through a stage with a stand-in for each handler: the same class, order, budget and policy, and an
 * answer that changes nothing. No handler runs, so nothing is sent, written or asked (spec §20.5): a handler may
 * have any effect, and cannot tell a probe from a real event.
 *
 * @returns the handlers that it did not reach, each with the reason, and whether the operator has disabled it.
 */
export async function probe({ stage, handlers }: StageInfo) {
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

/** Names the handlers because of which no answer is shown while it grows: nothing else tells of them. */
export function checkPreviews(kernel: Kernel): Finding[] {
  const notice = previewNotice(kernel.plan('egress.preparing'));
  const hint =
    "Write preview: 'ok' in a handler that does to each growing text what it does to the whole.";
  return notice === undefined ? [] : [findings.warning(notice, 'egress.preparing', hint)];
}
