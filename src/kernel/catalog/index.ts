import type { Stage } from '../stage/stage.js';
import type { StageTypes } from '../stage/stage-types.js';
import { accountStages } from './account.js';
import { agentEndStages } from './agent-end.js';
import { agentOutputStages } from './agent-output.js';
import { agentStartStages } from './agent-start.js';
import { commandStages } from './command.js';
import { compactionStages } from './compaction.js';
import { egressStages } from './egress.js';
import { ingressStages } from './ingress.js';
import { interactionStages } from './interaction.js';
import { routingStages } from './routing.js';
import { runtimeStages } from './runtime.js';
import { sessionStages } from './session.js';
import { subagentStages } from './subagent.js';
import { toolStages } from './tool.js';
import { transcriptStages } from './transcript.js';

export type * from './account.js';
export type * from './agent-end.js';
export type * from './agent-output.js';
export type * from './agent-start.js';
export type * from './command.js';
export type * from './compaction.js';
export type * from './egress.js';
export type * from './ingress.js';
export type * from './interaction.js';
export type * from './pieces/annotations.js';
export type * from './pieces/delivery.js';
export type * from './pieces/message.js';
export type * from './pieces/piece.js';
export type * from './pieces/place.js';
export type * from './pieces/run.js';
export type * from './routing.js';
export type * from './runtime.js';
export type * from './session.js';
export type * from './subagent.js';
export type * from './tool.js';
export type * from './transcript.js';

const rows = [
  ...runtimeStages,
  ...commandStages,
  ...accountStages,
  ...ingressStages,
  ...routingStages,
  ...sessionStages,
  ...agentStartStages,
  ...agentOutputStages,
  ...toolStages,
  ...transcriptStages,
  ...compactionStages,
  ...agentEndStages,
  ...egressStages,
  ...interactionStages,
  ...subagentStages,
] as const;

/**
 * Every canonical stage, in the order in which a message and a process meet them (spec §2).
 *
 * @example
 * const kernel = createKernel({ stages: [...canonicalStages, billingChecking] });
 */
export const canonicalStages: readonly Stage[] = Object.freeze(rows);

/** The types of every canonical family, read off its row. `Families` extends it. */
export type CanonicalFamilies = {
  [Row in (typeof rows)[number] as Row['family']]: StageTypes<Row>;
};
