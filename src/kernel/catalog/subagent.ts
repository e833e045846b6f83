import type { Infer } from '../schema/schema.js';
import { named } from '../stage/named.js';
import { annotated } from './pieces/annotations.js';
import {
  annotatedStage,
  atLength,
  canonicalStage,
  watchedStage,
} from './pieces/canonical-stage.js';
import * as f from './pieces/field.js';
import { contributionRef, place, placeFields } from './pieces/place.js';

const spawnFields = {
  runId: f.optional(f.text("The child's run.")),
  childSessionKey: f.text("The child's session."),
  requesterSessionKey: f.optional(f.text('The session that asks for the child.')),
  agentId: f.text('The agent that the child is.'),
  label: f.optional(f.text('What the child is called.')),
  spawnMode: f.oneOf(['run', 'session'], 'For one run, or to stay.'),
  requester: f.optional(place('Where the request came from.')),
  threadRequested: f.flag('The child is to talk in a thread of its own.'),
};

const subagentSpawningPayload = f.object(spawnFields);
/** The payload of `subagent.spawning`. */
export interface SubagentSpawning extends Readonly<Infer<typeof subagentSpawningPayload>> {}

const subagentSpawnedPayload = f.object({ ...spawnFields, runId: f.text("The child's run.") });
/** The payload of `subagent.spawned`. */
export interface SubagentSpawned extends Readonly<Infer<typeof subagentSpawnedPayload>> {}

const deliveryFields = {
  childSessionKey: f.text("The child's session."),
  requesterSessionKey: f.text('The session that asked for the child.'),
  requesterOrigin: f.optional(place('Where the request came from.')),
  childRunId: f.optional(f.text("The child's run.")),
  spawnMode: f.optional(f.oneOf(['run', 'session'], 'For one run, or to stay.')),
  expectsCompletionMessage: f.flag('The requester waits to be told.'),
};

/** The address of a child's answer; an absent field is as at the requester's. */
export const subagentTarget = { ...f.object(placeFields), minProperties: 1 };
export interface SubagentTarget extends Infer<typeof subagentTarget> {}

const subagentDeliveryResolvingPayload = f.object({
  ...deliveryFields,
  explicitTarget: f.optional(place('Where the requester said that the answer is to go.')),
});
/** The payload of `subagent.delivery.resolving`. */
export interface SubagentDeliveryResolving
  extends Readonly<Infer<typeof subagentDeliveryResolvingPayload>> {}

const subagentDeliveryResolvedPayload = f.object({
  ...deliveryFields,
  target: place("Where the child's answer goes."),
  explicit: f.flag('The requester or an explicit selection named it.'),
  selectedBy: f.optional(contributionRef('Whose selection it was; absent where the host decided.')),
});
/** The payload of `subagent.delivery.resolved`. */
export interface SubagentDeliveryResolved
  extends Readonly<Infer<typeof subagentDeliveryResolvedPayload>> {}

const subagentCompletedPayload = f.object({
  runId: f.optional(f.text("The child's run.")),
  targetSessionKey: f.text('The session that ended.'),
  targetKind: f.oneOf(['subagent', 'acp'], 'Whether a child of an agent or of an outside client.'),
  requesterSessionKey: f.optional(f.text('The session that asked for the child.')),
  accountId: f.optional(f.text("The channel's account that the child talked by.")),
  reason: f.text('Why it ended.'),
  outcome: f.optional(
    f.oneOf(['ok', 'error', 'timeout', 'killed', 'reset', 'deleted'], 'How it ended.'),
  ),
  error: f.optional(f.text('What went wrong.')),
  sendFarewell: f.optional(f.flag('Say goodbye where the child talked.')),
  endedAtMs: f.optional(f.amount('When it ended, in milliseconds since 1970.')),
});
/** The payload of `subagent.completed`. */
export interface SubagentCompleted extends Readonly<Infer<typeof subagentCompletedPayload>> {}

export const subagentStages = [
  canonicalStage({
    family: 'subagent.spawning',
    classes: ['observer', 'augmenter', 'veto'],
    mode: 'sequential',
    payload: named<SubagentSpawning>(subagentSpawningPayload),
    annotations: annotated('bindingReady'),
    cancelCodes: ['blocked', 'policy', 'disabled', 'binding-failed', 'limit-reached'],
    principal: true,
    asks: true,
    purpose: 'Prepares the place of a child, or refuses it.',
    emittedBy: 'subagent',
    emittedWhen: 'when an agent asks for a child',
  }),
  watchedStage({
    family: 'subagent.spawned',
    payload: named<SubagentSpawned>(subagentSpawnedPayload),
    purpose: 'Tells that a child runs.',
    emittedBy: 'subagent',
    emittedWhen: 'when a child runs',
  }),
  canonicalStage({
    family: 'subagent.delivery.resolving',
    classes: ['augmenter', 'resolver', 'veto'],
    mode: 'sequential',
    payload: named<SubagentDeliveryResolving>(subagentDeliveryResolvingPayload),
    annotations: annotated(),
    selection: named<SubagentTarget>(subagentTarget),
    settled: (payload) => payload.explicitTarget !== undefined,
    cancelCodes: ['blocked', 'policy', 'owned-elsewhere', 'not-wanted'],
    purpose: "Finds where a child's answer goes.",
    emittedBy: 'subagent',
    emittedWhen: 'when the answer of a subagent is to go out on its own',
  }),
  annotatedStage({
    family: 'subagent.delivery.resolved',
    payload: named<SubagentDeliveryResolved>(subagentDeliveryResolvedPayload),
    annotations: annotated('indexKeys'),
    purpose: "Publishes where a child's answer goes.",
    emittedBy: 'subagent',
    emittedWhen: "when the place of a subagent's answer is known",
  }),
  watchedStage({
    family: 'subagent.completed',
    payload: named<SubagentCompleted>(subagentCompletedPayload),
    ...atLength,
    purpose: 'Tells that a child is gone.',
    emittedBy: 'subagent',
    emittedWhen: 'when a child has ended, or the run that it belongs to',
  }),
] as const;
