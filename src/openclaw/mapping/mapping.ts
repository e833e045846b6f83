import type { FamilyName, HandlerClass } from 'sluice-kernel';
import { agentEventRows } from '../agent-events/rows.js';
import type { BridgeStatus, LegacyHookRow } from '../hooks/row.js';
import { internalHookRows } from '../internal-hooks/rows.js';
import {
  type LegacyHookName,
  type LegacyProfile,
  legacyHookNames,
  profiles,
  rowsOf,
} from '../profiles/index.js';

/** A part of a legacy handler in the pipeline. */
export interface MappedPart {
  readonly family: FamilyName;
  readonly class: HandlerClass;
}

/** One legacy source and what it is on the pipeline. */
export interface MappedSource {
  /** The hook, key or stream, as its bus writes it. */
  readonly source: string;
  readonly parts: readonly MappedPart[];
  /** The ways in which its handlers can change an event. */
  readonly coverage: readonly ('observe' | 'mutate' | 'veto' | 'resolve' | 'reply')[];
  readonly status: BridgeStatus;
  /** How the answers of several handlers become one. */
  readonly merge: string;
  /** Why it is mapped so, and what there is to know about it. */
  readonly why: string;
}

/** A plugin hook. Two profiles that treat it differently have a row each. */
interface MappedHook extends MappedSource {
  readonly source: LegacyHookName<LegacyProfile>;
  readonly profiles: readonly LegacyProfile[];
}

/** The three legacy buses. */
export interface LegacyMapping {
  readonly pluginHooks: readonly MappedHook[];
  readonly internalHooks: readonly MappedSource[];
  readonly agentEvents: readonly MappedSource[];
}

const noMerge = 'none: nothing is returned';

/**
 * Every plugin hook, internal hook key and agent-event stream of OpenClaw 2026.3, and what it is on the pipeline: read
 * from the very rows that the bridges run on (seed 004, "Legacy Hook Mapping").
 *
 * @example
 * legacyMapping.pluginHooks.find(({ source }) => source === 'message_sending')?.parts;
 */
export const legacyMapping: LegacyMapping = {
  pluginHooks: mappedHooks(),
  internalHooks: internalHookRows.map(({ type, action, sinks, coverage, status, why }) => ({
    source: `${type}:${action}`,
    parts: sinks.map(partOf),
    coverage: [coverage],
    status,
    merge: coverage === 'observe' ? noMerge : 'all handlers share one event, in order',
    why,
  })),
  agentEvents: agentEventRows.map(({ stream, phase, parts, status, why }) => ({
    source: phase === undefined ? stream : `${stream} ${phase}`,
    parts: parts.map(partOf),
    coverage: ['observe'],
    status,
    merge: noMerge,
    why,
  })),
};

function mappedHooks(): MappedHook[] {
  const found = new Map<LegacyHookRow, MappedHook & { readonly profiles: LegacyProfile[] }>();
  for (const profile of Object.keys(profiles) as LegacyProfile[]) // its keys are the profiles
    for (const source of legacyHookNames[profile]) {
      const row = rowsOf(profile)[source];
      if (row === undefined) continue;
      const { parts, coverage, status, merge, why } = row;
      const known = found.get(row);
      if (known === undefined)
        found.set(row, {
          ...{ source, profiles: [profile], parts: parts.map(partOf) },
          ...{ coverage, status, merge, why },
        });
      else known.profiles.push(profile);
    }
  return [...found.values()];
}

function partOf({ family, class: handlerClass }: MappedPart): MappedPart {
  return { family, class: handlerClass };
}
