import {
  type AnnotationsOf,
  cancel,
  definedFields,
  type PayloadOf,
  select,
} from 'sluice-kernel/internal';
import { type FieldTable, same, shown } from '../facts/field-table.js';
import { known, measured } from '../facts/known.js';
import { modifyingHook, voidHook } from './make-row.js';
import { type Answer, extrasOf, isGiven, lastGiven } from './row.js';
import type { LegacyPlace, LegacySubagentContext } from './shapes.js';

/** A place is a record of its own: a handler may write to it. */
const place = <const To extends string>(to: To) => ({
  to,
  read: ({ channel, accountId, to: address, threadId }: LegacyPlace) =>
    known({ channel, accountId, to: address, threadId }),
  show: (payload: { readonly [Name in To]?: LegacyPlace }) => payload[to] && { ...payload[to] },
});

type SpawnEvent = {
  childSessionKey: string;
  agentId: string;
  label?: string;
  mode: 'run' | 'session';
  requester?: LegacyPlace;
  threadRequested: boolean;
};

const spawnEvent: FieldTable<SpawnEvent, PayloadOf<'subagent.spawning'>> = {
  ...same('childSessionKey', 'agentId', 'label', 'threadRequested'),
  mode: 'spawnMode',
  requester: place('requester'),
};

const spawnContext: FieldTable<LegacySubagentContext, PayloadOf<'subagent.spawning'>> = {
  ...same('runId', 'requesterSessionKey'),
  childSessionKey: shown('childSessionKey'),
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
  subagent_spawning: modifyingHook('subagent.spawning')<
    SpawnEvent,
    LegacySubagentContext,
    { status: 'ok'; threadBindingReady?: boolean } | { status: 'error'; error: string }
  >({
    parts: [
      { class: 'augmenter', read: readReady },
      { class: 'veto', read: readError },
    ],
    why: "Not in the seed's table. An error refuses the child, so it is a veto; readiness is an annotation. The caller fails a spawn with a thread that nobody made ready.",
    merge: 'the first error ends the stage; else ok, ready if any is',
    instead: "{ status: 'ok', threadBindingReady } or { status: 'error', error }",
    event: spawnEvent,
    context: spawnContext,
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
  subagent_delivery_target: modifyingHook('subagent.delivery.resolving')<
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
      { class: 'resolver', read: ({ value: { origin } }) => (origin ? select(origin) : undefined) },
    ],
    why: "An answer is a candidate without rank: the first in run order wins, and an explicit candidate of an extension beats it. Without one the answer goes to the requester's place.",
    merge: 'the first origin; the later handlers still run',
    instead: '{ origin }',
    event: {
      ...same('childSessionKey', 'requesterSessionKey', 'childRunId', 'spawnMode'),
      ...same('expectsCompletionMessage'),
      requesterOrigin: place('requesterOrigin'),
    },
    context: {
      runId: 'childRunId',
      childSessionKey: shown('childSessionKey'),
      requesterSessionKey: shown('requesterSessionKey'),
    },
    result: ({ outcomes: [outcome], answers }) => {
      if (outcome.status === 'cancelled') return undefined; // it goes to the requester's place
      const origin = outcome.selection?.target;
      if (answers.length === 0 && origin === undefined) return undefined;
      return { ...extrasOf(answers, ['origin']), ...definedFields({ origin }) };
    },
  }),
  subagent_spawned: voidHook('subagent.spawned')<
    SpawnEvent & { runId: string },
    LegacySubagentContext
  >({
    why: "Not in the seed's table. Told when the child runs.",
    event: { ...spawnEvent, ...same('runId') },
    context: { ...spawnContext, runId: shown('runId') },
  }),
  subagent_ended: voidHook('subagent.completed')<
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
    why: "Not in the seed's table. Also told when a session is reset or deleted, with that outcome.",
    event: {
      ...same('targetSessionKey', 'targetKind', 'reason', 'sendFarewell', 'accountId', 'runId'),
      ...same('outcome', 'error'),
      endedAt: measured('endedAtMs'),
    },
    context: {
      ...same('runId', 'requesterSessionKey'),
      childSessionKey: shown('targetSessionKey'),
    },
  }),
};
