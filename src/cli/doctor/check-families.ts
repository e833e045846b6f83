import { hostExtensionId } from '../../host/internal.js';
import type { EmissionSource, Kernel, StageInfo } from '../../kernel/index.js';
import type { AgentProvider } from '../../stream/index.js';
import { counted } from '../shell/text.js';
import type { Finding } from './finding.js';
import { probe } from './probe.js';

/** What of a host decides which events there will be. */
export interface EmissionFacts {
  readonly kernel: Kernel;
  readonly providers: readonly AgentProvider[];
  /** The ids of the channels that are started. */
  readonly channels: readonly string[];
}

/**
 * Looks at every family that a handler listens to: whether the host emits it, whether the handler can do there what it wants to,
 * and, by a probe event, whether the runner gets to it (spec §20.5).
 */
export async function checkFamilies(facts: EmissionFacts): Promise<Finding[]> {
  const heard = facts.kernel
    .stages()
    .map(({ stage, handlers }) => ({
      stage,
      handlers: handlers.filter(({ extensionId }) => extensionId !== hostExtensionId),
    }))
    .filter(({ handlers }) => handlers.length > 0);
  const findings: Finding[] = [];
  for (const info of heard)
    findings.push(
      ...neverEmitted(info, facts),
      ...observeOnly(info, facts),
      ...deprecated(info),
      ...(await neverReached(info)),
    );
  if (findings.some(({ severity }) => severity !== 'ok')) return findings;
  const handlers = heard.reduce((sum, info) => sum + info.handlers.length, 0);
  const what = `a probe event reached ${counted(handlers, 'handler', 'handlers')} in ${counted(heard.length, 'family', 'families')}`;
  return [...findings, { severity: 'ok', check: 'families', what }];
}

function namesOf(handlers: StageInfo['handlers']): string {
  return handlers.map((one) => `${one.extensionId}/${one.contributionId}`).join(', ');
}

/** An observer misses nothing where nothing is emitted; a handler that decides or changes there believes that it does. */
function neverEmitted({ stage, handlers }: StageInfo, facts: EmissionFacts): Finding[] {
  const why = whyNever(stage.emittedBy, facts);
  if (why === undefined) return [];
  const watching = handlers.filter((one) => one.class === 'observer');
  const deciding = handlers.filter((one) => one.class !== 'observer');
  return (
    [
      ['error', deciding],
      ['warning', watching],
    ] as const
  ).flatMap(([severity, some]) =>
    some.length === 0
      ? []
      : [
          {
            severity,
            check: 'families' as const,
            what: `"${stage.family}" is never emitted here: ${why}`,
            whose: namesOf(some),
            hint: 'Listen to another family; `sluice stages --json` says who emits each, and when.',
          },
        ],
  );
}

/** Why the host has no source for a family's events, if it has none. */
function whyNever(source: EmissionSource, facts: EmissionFacts): string | undefined {
  switch (source) {
    case 'nothing':
      return 'nothing emits it yet';
    case 'subagent':
      return facts.providers.some(({ subagentOf }) => subagentOf !== undefined)
        ? undefined
        : 'no agent of this host starts subagents';
    case 'interactive-channel':
      return facts.channels.some((id) => id !== 'console')
        ? undefined
        : 'the console has no buttons, lists or forms';
    case 'host':
    case 'turn':
    case 'extension':
      return undefined;
    default:
      return source satisfies never;
  }
}

/** What a source can only tell of afterwards: what is decided there has no effect. */
function observeOnly({ stage, handlers }: StageInfo, { providers }: EmissionFacts): Finding[] {
  if (stage.family !== 'agent.tool.calling') return [];
  const deciding = handlers.filter(
    ({ class: one }) => one === 'veto' || one === 'mutator' || one === 'resolver',
  );
  if (deciding.length === 0) return [];
  return providers
    .filter(({ toolGate }) => toolGate === 'observe-only')
    .map(({ id }) => ({
      severity: 'error',
      check: 'families',
      what: `the agent "${id}" tells of tool calls afterwards: a cancel or patch at "${stage.family}" has no effect`,
      whose: namesOf(deciding),
      hint: 'Use an agent whose tools can be gated, such as "claude", or observe only.',
    }));
}

function deprecated({ stage, handlers }: StageInfo): Finding[] {
  if (stage.deprecated === undefined) return [];
  const { since, use, removeAfter } = stage.deprecated;
  const end = removeAfter === undefined ? '' : `, and is gone after ${removeAfter}`;
  return [
    {
      severity: 'warning',
      check: 'families',
      what: `"${stage.family}" is deprecated since ${since}${end}`,
      whose: namesOf(handlers),
      hint: `Listen to "${use}".`,
    },
  ];
}

/** Handlers that a probe event did not get to. One that the operator has disabled is as it should be. */
async function neverReached(info: StageInfo): Promise<Finding[]> {
  return (await probe(info)).map(({ name, why, disabled }) => ({
    severity: disabled ? 'ok' : 'error',
    check: 'families',
    what: `a probe event through "${info.stage.family}" does not reach it: ${why}`,
    whose: name,
    hint: disabled ? 'Remove its override to enable it.' : 'See `sluice stages` for the order.',
  }));
}
