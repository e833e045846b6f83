import type { Stage, StageTypes } from '../stage.js';
import * as account from './account.js';
import * as agent from './agent.js';
import * as command from './command.js';
import * as compaction from './compaction.js';
import * as egress from './egress.js';
import * as ingress from './ingress.js';
import * as interaction from './interaction.js';
import * as prompt from './prompt.js';
import * as routing from './routing.js';
import * as runtime from './runtime.js';
import * as session from './session.js';
import * as subagent from './subagent.js';
import * as tool from './tool.js';
import * as transcript from './transcript.js';

export type * from './account.js';
export type * from './agent.js';
export type * from './annotations.js';
export type * from './command.js';
export type * from './compaction.js';
export type * from './delivery.js';
export type * from './egress.js';
export type * from './ingress.js';
export type * from './interaction.js';
export type * from './message.js';
export type * from './piece.js';
export type * from './place.js';
export type * from './prompt.js';
export type * from './routing.js';
export type * from './run.js';
export type * from './runtime.js';
export type * from './session.js';
export type * from './subagent.js';
export type * from './tool.js';
export type * from './transcript.js';

/** Every canonical stage, in the order in which a message and a process meet them (spec §2). */
export const canonicalStages: readonly Stage[] = Object.freeze([
  runtime.runtimeStarted,
  runtime.runtimeStopping,
  runtime.gatewayStarting,
  runtime.gatewayStarted,
  runtime.gatewayStopping,
  command.commandReceived,
  command.commandCompleted,
  account.accountStarted,
  account.accountStopped,
  ingress.ingressReceived,
  ingress.ingressNormalized,
  routing.routingResolving,
  routing.routingResolved,
  session.sessionStarting,
  session.sessionStarted,
  session.sessionResetting,
  session.sessionEnded,
  agent.agentStarting,
  prompt.agentModelResolving,
  prompt.agentPromptBuilding,
  prompt.agentLlmInput,
  agent.agentOutputDelta,
  tool.agentToolCalling,
  tool.agentToolCalled,
  transcript.transcriptToolResultPersisting,
  transcript.transcriptMessageWriting,
  compaction.compactionBefore,
  compaction.compactionAfter,
  agent.agentCompleted,
  prompt.agentLlmOutput,
  egress.egressPreparing,
  egress.egressSending,
  egress.egressSent,
  egress.egressCancelled,
  egress.egressFailed,
  interaction.interactionReceived,
  interaction.interactionResolved,
  interaction.interactionCompleted,
  subagent.subagentSpawning,
  subagent.subagentSpawned,
  subagent.subagentDeliveryResolving,
  subagent.subagentDeliveryResolved,
  subagent.subagentCompleted,
]);

/** The types of every canonical family. `Families` extends it. */
export interface CanonicalFamilies {
  'runtime.started': StageTypes<typeof runtime.runtimeStarted, runtime.RuntimeStarted>;
  'runtime.stopping': StageTypes<typeof runtime.runtimeStopping, runtime.RuntimeStopping>;
  'gateway.starting': StageTypes<typeof runtime.gatewayStarting, runtime.GatewayStarting>;
  'gateway.started': StageTypes<typeof runtime.gatewayStarted, runtime.GatewayStarted>;
  'gateway.stopping': StageTypes<typeof runtime.gatewayStopping, runtime.GatewayStopping>;
  'command.received': StageTypes<typeof command.commandReceived, command.CommandReceived>;
  'command.completed': StageTypes<typeof command.commandCompleted, command.CommandCompleted>;
  'account.started': StageTypes<typeof account.accountStarted, account.AccountStarted>;
  'account.stopped': StageTypes<typeof account.accountStopped, account.AccountStopped>;
  'ingress.received': StageTypes<typeof ingress.ingressReceived, ingress.IngressReceived>;
  'ingress.normalized': StageTypes<
    typeof ingress.ingressNormalized,
    ingress.IngressNormalized,
    ingress.IngressNormalizedPatch
  >;
  'routing.resolving': StageTypes<typeof routing.routingResolving, routing.RoutingResolving>;
  'routing.resolved': StageTypes<typeof routing.routingResolved, routing.RoutingResolved>;
  'session.starting': StageTypes<
    typeof session.sessionStarting,
    session.SessionStarting,
    session.SessionStartingPatch
  >;
  'session.started': StageTypes<typeof session.sessionStarted, session.SessionStarted>;
  'session.resetting': StageTypes<typeof session.sessionResetting, session.SessionResetting>;
  'session.ended': StageTypes<typeof session.sessionEnded, session.SessionEnded>;
  'agent.starting': StageTypes<typeof agent.agentStarting, agent.AgentStarting>;
  'agent.model.resolving': StageTypes<
    typeof prompt.agentModelResolving,
    prompt.AgentModelResolving,
    prompt.AgentModelResolvingPatch
  >;
  'agent.prompt.building': StageTypes<
    typeof prompt.agentPromptBuilding,
    prompt.AgentPromptBuilding,
    prompt.AgentPromptBuildingPatch
  >;
  'agent.llm.input': StageTypes<typeof prompt.agentLlmInput, prompt.AgentLlmInput>;
  'agent.output.delta': StageTypes<typeof agent.agentOutputDelta, agent.AgentOutputDelta>;
  'agent.tool.calling': StageTypes<
    typeof tool.agentToolCalling,
    tool.AgentToolCalling,
    tool.AgentToolCallingPatch
  >;
  'agent.tool.called': StageTypes<typeof tool.agentToolCalled, tool.AgentToolCalled>;
  'transcript.tool-result.persisting': StageTypes<
    typeof transcript.transcriptToolResultPersisting,
    transcript.TranscriptToolResultPersisting,
    transcript.TranscriptToolResultPersistingPatch
  >;
  'transcript.message.writing': StageTypes<
    typeof transcript.transcriptMessageWriting,
    transcript.TranscriptMessageWriting,
    transcript.TranscriptMessageWritingPatch
  >;
  'compaction.before': StageTypes<typeof compaction.compactionBefore, compaction.CompactionBefore>;
  'compaction.after': StageTypes<typeof compaction.compactionAfter, compaction.CompactionAfter>;
  'agent.completed': StageTypes<typeof agent.agentCompleted, agent.AgentCompleted>;
  'agent.llm.output': StageTypes<typeof prompt.agentLlmOutput, prompt.AgentLlmOutput>;
  'egress.preparing': StageTypes<
    typeof egress.egressPreparing,
    egress.EgressPreparing,
    egress.EgressPreparingPatch
  >;
  'egress.sending': StageTypes<typeof egress.egressSending, egress.EgressSending>;
  'egress.sent': StageTypes<typeof egress.egressSent, egress.EgressSent>;
  'egress.cancelled': StageTypes<typeof egress.egressCancelled, egress.EgressCancelled>;
  'egress.failed': StageTypes<typeof egress.egressFailed, egress.EgressFailed>;
  'interaction.received': StageTypes<
    typeof interaction.interactionReceived,
    interaction.InteractionReceived
  >;
  'interaction.resolved': StageTypes<
    typeof interaction.interactionResolved,
    interaction.InteractionResolved
  >;
  'interaction.completed': StageTypes<
    typeof interaction.interactionCompleted,
    interaction.InteractionCompleted
  >;
  'subagent.spawning': StageTypes<typeof subagent.subagentSpawning, subagent.SubagentSpawning>;
  'subagent.spawned': StageTypes<typeof subagent.subagentSpawned, subagent.SubagentSpawned>;
  'subagent.delivery.resolving': StageTypes<
    typeof subagent.subagentDeliveryResolving,
    subagent.SubagentDeliveryResolving
  >;
  'subagent.delivery.resolved': StageTypes<
    typeof subagent.subagentDeliveryResolved,
    subagent.SubagentDeliveryResolved
  >;
  'subagent.completed': StageTypes<typeof subagent.subagentCompleted, subagent.SubagentCompleted>;
}
