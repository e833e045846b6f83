import {
  type AnnotationsOf,
  cancel,
  definedFields,
  type PayloadOf,
  select,
} from '../../kernel/index.js';
import { known, knownAmount } from '../facts/known.js';
import { modifyingHook, voidHook } from './make-row.js';
import { type Answer, extrasOf, isGiven, lastGiven } from './row.js';
import { payloadOf } from './run-context.js';
import type { LegacyPlace, LegacySubagentContext } from './shapes.js';

const placeOf = ({ channel, accountId, to, threadId }: LegacyPlace): LegacyPlace =>
  known({ channel, accountId, to, threadId });

type SpawnEvent = {
  childSessionKey: string;
  agentId: string;
  label?: string;
  mode: 'run' | 'session';
  requester?: LegacyPlace;
  threadRequested: boolean;
};

const spawnOf = (event: SpawnEvent, ctx: LegacySubagentContext) => {
  const { childSessionKey, agentId, label, mode, requester, threadRequested } = event;
  const { requesterSessionKey } = ctx;
  return {
    childSessionKey,
    agentId,
    spawnMode: mode,
    threadRequested,
    ...definedFields({ label, requesterSessionKey }),
    ...(requester !== undefined && { requester: placeOf(requester) }),
  };
};

type SpawnPayload = PayloadOf<'subagent.spawning'>;

const legacySpawnOf = (payload: SpawnPayload): SpawnEvent => {
  const { childSessionKey, agentId, label, spawnMode, requester, threadRequested } = payload;
  const known = { childSessionKey, agentId, mode: spawnMode, threadRequested };
  return { ...known, ...definedFields({ label, requester: requester && { ...requester } }) };
};

const spawnContextOf = (payload: SpawnPayload): LegacySubagentContext => {
  const { runId, childSessionKey, requesterSessionKey } = payload;
  return definedFields({ runId, childSessionKey, requesterSessionKey });
};

const readReady = ({ value }: Answer) =>
  value.status === 'ok' && value.threadBindingReady ? { bindingReady: true } : undefined;

const readError = ({ value }: Answer) => {
  if (value.status === 'ok') return undefined;
  if (value.status !== 'error') return isGiven(value.status) ? value : undefined;
  return cancel('binding-failed', typeof value.error === 'string' ? { text: value.error } : {});
};

/** The hooks of an agent's children. */
export const subagentHooks = {
  subagent_spawning: modifyingHook<
    SpawnEvent,
    LegacySubagentContext,
    { status: 'ok'; threadBindingReady?: boolean } | { status: 'error'; error: string }
  >({
    parts: [
      { family: 'subagent.spawning', class: 'augmenter', read: readReady },
      { family: 'subagent.spawning', class: 'veto', read: readError },
    ],
    coverage: ['observe', 'veto'],
    why: "Not in the seed's table. An error refuses the child, so it is a veto; readiness is an annotation. The caller fails a spawn with a thread that nobody made ready.",
    merge: 'the first error ends the stage; else ok, ready if any is',
    instead: "{ status: 'ok', threadBindingReady } or { status: 'error', error }",
    announce: (event, ctx) => [
      {
        family: 'subagent.spawning',
        payload: { ...spawnOf(event, ctx), ...definedFields({ runId: ctx.runId }) },
        given: { agentId: event.agentId },
      },
    ],
    view: (envelope) => {
      const payload = payloadOf<SpawnPayload>(envelope);
      return { event: legacySpawnOf(payload), ctx: spawnContextOf(payload) };
    },
    result: ({ outcomes: [outcome], answers }) => {
      const notes = outcome.annotations as Partial<AnnotationsOf<'subagent.spawning'>>;
      const ready = notes.bindingReady ?? false;
      const extras = extrasOf(answers, ['status', 'threadBindingReady', 'error']);
      if (outcome.status === 'cancelled')
        return {
          ...extras,
          status: 'error',
          error: lastGiven(answers, 'error') ?? outcome.cancel.text ?? outcome.cancel.code,
        };
      if (outcome.status === 'failed')
        return { ...extras, status: 'error', error: 'the stage failed closed' };
      if (answers.length === 0)
        return ready ? { status: 'ok', threadBindingReady: true } : undefined;
      if (answers.length > 1 || ready)
        return { ...extras, status: 'ok', threadBindingReady: ready };
      return { ...answers[0] };
    },
  }),
  subagent_delivery_target: modifyingHook<
    {
      childSessionKey: string;
      requesterSessionKey: string;
      requesterOrigin?: LegacyPlace;
      childRunId?: string;
      spawnMode?: 'run' | 'session';
      expectsCompletionMessage: boolean;
    },
    LegacySubagentContext,
    { origin?: LegacyPlace }
  >({
    parts: [
      {
        family: 'subagent.delivery.resolving',
        class: 'resolver',
        read: ({ value: { origin } }) => (origin ? select(origin) : undefined),
      },
    ],
    coverage: ['resolve'],
    why: "An answer is a candidate without rank: the first in run order wins, and an explicit candidate of an extension beats it. Without one the answer goes to the requester's place.",
    merge: 'the first origin; the later handlers still run',
    instead: '{ origin }',
    announce: (event, ctx) => {
      const { childSessionKey, requesterSessionKey, requesterOrigin, childRunId } = event;
      const { spawnMode, expectsCompletionMessage } = event;
      const payload = {
        childSessionKey,
        requesterSessionKey,
        expectsCompletionMessage,
        ...definedFields({ spawnMode, childRunId: childRunId ?? ctx.runId }),
        ...(requesterOrigin !== undefined && { requesterOrigin: placeOf(requesterOrigin) }),
      };
      return [{ family: 'subagent.delivery.resolving', payload, given: {} }];
    },
    view: (envelope) => {
      const payload = payloadOf<PayloadOf<'subagent.delivery.resolving'>>(envelope);
      const { childSessionKey, requesterSessionKey, expectsCompletionMessage } = payload;
      const { childRunId, spawnMode, requesterOrigin } = payload;
      const origin = requesterOrigin && { ...requesterOrigin };
      return {
        event: {
          ...{ childSessionKey, requesterSessionKey, expectsCompletionMessage },
          ...definedFields({ childRunId, spawnMode, requesterOrigin: origin }),
        },
        ctx: { ...definedFields({ runId: childRunId }), childSessionKey, requesterSessionKey },
      };
    },
    result: ({ outcomes: [outcome], answers }) => {
      if (outcome.status === 'cancelled') return undefined; // it goes to the requester's place
      const origin = outcome.selection?.target;
      if (answers.length === 0 && origin === undefined) return undefined;
      return { ...extrasOf(answers, ['origin']), ...definedFields({ origin }) };
    },
  }),
  subagent_spawned: voidHook<SpawnEvent & { runId: string }, LegacySubagentContext>({
    parts: [{ family: 'subagent.spawned', class: 'observer' }],
    why: "Not in the seed's table. Told when the child runs.",
    announce: (event, ctx) => [
      {
        family: 'subagent.spawned',
        payload: { ...spawnOf(event, ctx), runId: event.runId },
        given: { agentId: event.agentId },
      },
    ],
    view: (envelope) => {
      const payload = payloadOf<PayloadOf<'subagent.spawned'>>(envelope);
      return {
        event: { ...legacySpawnOf(payload), runId: payload.runId },
        ctx: spawnContextOf(payload),
      };
    },
  }),
  subagent_ended: voidHook<
    {
      targetSessionKey: string;
      targetKind: 'subagent' | 'acp';
      reason: string;
      sendFarewell?: boolean;
      accountId?: string;
      runId?: string;
      endedAt?: number;
      outcome?: 'ok' | 'error' | 'timeout' | 'killed' | 'reset' | 'deleted';
      error?: string;
    },
    LegacySubagentContext
  >({
    parts: [{ family: 'subagent.completed', class: 'observer' }],
    why: "Not in the seed's table. Also told when a session is reset or deleted, with that outcome.",
    announce: (event, ctx) => {
      const { targetSessionKey, targetKind, reason, sendFarewell, accountId, outcome } = event;
      const { endedAt, error } = event;
      const { requesterSessionKey } = ctx;
      const runId = event.runId ?? ctx.runId;
      const ids = definedFields({ runId, accountId, requesterSessionKey });
      const told = definedFields({ sendFarewell, outcome, error, endedAtMs: knownAmount(endedAt) });
      const payload = { targetSessionKey, targetKind, reason, ...ids, ...told };
      return [{ family: 'subagent.completed', payload, given: {} }];
    },
    view: (envelope) => {
      const payload = payloadOf<PayloadOf<'subagent.completed'>>(envelope);
      const { targetSessionKey, targetKind, reason, sendFarewell, accountId, runId } = payload;
      const { endedAtMs, outcome, error, requesterSessionKey } = payload;
      const told = { sendFarewell, accountId, runId, endedAt: endedAtMs, outcome, error };
      return {
        event: { targetSessionKey, targetKind, reason, ...definedFields(told) },
        ctx: definedFields({ runId, childSessionKey: targetSessionKey, requesterSessionKey }),
      };
    },
  }),
};
