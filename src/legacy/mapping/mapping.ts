import type { FamilyName, HandlerClass } from '../../kernel/index.js';
import { agentEventRows } from '../agent-events/rows.js';
import { type LegacyHookName, pluginHooks } from '../hooks/index.js';
import type { BridgeStatus } from '../hooks/row.js';
import { internalHookRows } from '../internal/rows.js';

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

/** The three legacy buses. */
export interface LegacyMapping {
  readonly pluginHooks: readonly (MappedSource & { readonly source: LegacyHookName })[];
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
  pluginHooks: (Object.keys(pluginHooks) as LegacyHookName[]).map((source) => {
    const { parts, coverage, status, merge, why } = pluginHooks[source];
    return { source, parts: parts.map(partOf), coverage, status, merge, why };
  }),
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

function partOf({ family, class: handlerClass }: MappedPart): MappedPart {
  return { family, class: handlerClass };
}
