import {
  type LegacyHookName,
  type LegacyProfile,
  legacyHookNames,
  legacyHooksOf,
} from '../profiles/index.js';

/** One way in which the bridge deliberately differs from OpenClaw. */
export interface LegacyDivergence<Name extends string = string> {
  readonly name: Name;
  /** The releases that it is a difference from. */
  readonly profiles: readonly LegacyProfile[];
  /** The plugin hooks that it concerns. */
  readonly hooks: readonly LegacyHookName<LegacyProfile>[];
  /** The difference in a sentence: the legacy behaviour, then ours. */
  readonly what: string;
  readonly reason: string;
  /** A plugin by itself, whose handlers break no rule, never meets it. */
  readonly minor?: true;
}

const modifying = [
  ...new Set([
    ...legacyHooksOf('2026.3', 'modifying'),
    ...legacyHooksOf('2026.9', 'modifying', 'claim'),
  ]),
];
const sync = legacyHooksOf('2026.3', 'sync');
const all = [...new Set(Object.values(legacyHookNames).flat())];
const prompts = ['before_prompt_build', 'before_agent_start'] as const;

const rows = [
  {
    name: 'cancel-is-terminal',
    profiles: ['2026.3'],
    hooks: ['message_sending', 'before_tool_call', 'subagent_spawning'],
    what: 'There, every handler runs after a cancel, a block or a refused child, and a later cancel: false undoes it; here it ends the stage, and the handlers after it are not called.',
    reason:
      'What a veto refused must not come back. OpenClaw made it so itself in 2026.3.28 (#54241).',
  },
  {
    name: 'ties-across-plugins',
    profiles: ['2026.3', '2026.9'],
    minor: true,
    hooks: all,
    what: 'There, equal priorities of several plugins run in the order in which the plugins were loaded; here by plugin id, and in the order of registration within a plugin.',
    reason: 'Order does not depend on load order.',
  },
  {
    name: 'priority-must-be-finite',
    profiles: ['2026.3', '2026.9'],
    minor: true,
    hooks: all,
    what: 'There, a priority of NaN leaves the order to chance, and an infinite one counts; here registering with one is refused.',
    reason: 'An order that depends on the sorting algorithm is none.',
  },
  {
    name: 'late-rejection-is-observed',
    profiles: ['2026.3'],
    minor: true,
    hooks: sync,
    what: 'There, the rejection of a promise that a synchronous hook returned is handled by nobody and can end the process; here it is observed. The promise is ignored with a warning on both sides.',
    reason: 'A plugin must not be able to end its host. OpenClaw does the same since #117988.',
  },
  {
    name: 'refused-output',
    profiles: ['2026.3', '2026.9'],
    minor: true,
    hooks: [...modifying, ...sync],
    what: 'There, a result is passed on whatever it is; here a field of the wrong type, or a result that is no object, is refused and told as a failure of the handler. A cancel in the same result stands, and a result that is no object decides nothing.',
    reason: 'What a stage hands on fits its schema.',
  },
  {
    name: 'system-prompt-needs-trust',
    profiles: ['2026.3', '2026.9'],
    hooks: prompts,
    what: 'There, every plugin may replace the system prompt; here only one that was loaded as trusted. The other texts of its result are taken.',
    reason: 'A system prompt outranks every other instruction: its host decides who writes it.',
  },
  {
    name: 'tool-params-merge-by-key',
    profiles: ['2026.3'],
    hooks: ['before_tool_call'],
    what: 'There, the last params replace the ones before as a whole; here they are merged by key, and a key set in place later than it was returned has the later value.',
    reason: 'Two plugins that correct different parameters do not undo each other.',
  },
  {
    name: 'hanging-handler-is-cut',
    profiles: ['2026.3', '2026.9'],
    minor: true,
    hooks: modifying,
    what: "There, a handler that never settles blocks the run for ever; here it is told and passed over when the stage's budget for a handler is spent.",
    reason: 'One plugin must not be able to stop every message.',
  },
  {
    name: 'answers-at-once-share-a-tick',
    profiles: ['2026.3', '2026.9'],
    minor: true,
    hooks: modifying,
    what: 'There, the runner awaits between any two handlers; here not after one that answered at once.',
    reason: 'A synchronous handler costs no await.',
  },
  {
    name: 'unreadable-error-is-told',
    profiles: ['2026.3', '2026.9'],
    minor: true,
    hooks: all,
    what: 'There, a thrown value that cannot be made a text makes the runner itself throw; here it is told as an error that cannot be read.',
    reason: 'A failure of one handler is that handler’s.',
  },
  {
    name: 'null-field-is-left-out',
    profiles: ['2026.3', '2026.9'],
    minor: true,
    hooks: modifying.filter((hook) => hook !== 'subagent_spawning'),
    what: 'There, a field that was answered with null can be null in the result; here it is absent. Callers treat both the same.',
    reason: 'null is no opinion.',
  },
  {
    name: 'empty-text-adds-nothing',
    profiles: ['2026.3', '2026.9'],
    hooks: [...prompts, 'agent_turn_prepare', 'heartbeat_prompt_contribution'],
    what: 'There, an empty text for the context drops the texts that earlier handlers added; here it adds nothing.',
    reason: 'Additions are added: no handler removes what another one said.',
  },
  {
    name: 'spawn-answers-in-one-form',
    profiles: ['2026.3'],
    hooks: ['subagent_spawning'],
    what: 'There, the deciding answer is passed through with whatever else it holds; here the result is { status: ok, threadBindingReady } or { status: error, error }, and an error without a text gets one. Readiness counts with status ok only.',
    reason: 'The result is read off the outcome of the stage, which canonical handlers share.',
  },
  {
    name: 'extra-fields-of-several-answers',
    profiles: ['2026.3', '2026.9'],
    hooks: ['subagent_delivery_target'],
    what: 'There, the answer whose origin counts is passed through with fields that the hook does not know; here those are dropped where several handlers answered.',
    reason: 'The result is read off the outcome of the stage, which canonical handlers share.',
  },
  {
    name: 'unfit-origin-is-no-candidate',
    profiles: ['2026.3', '2026.9'],
    minor: true,
    hooks: ['subagent_delivery_target'],
    what: 'There, any truthy origin counts; here one that names no place (an empty object, an unknown field, a wrong type) is no candidate, and a later one can count.',
    reason: 'An answer goes to a place that exists, or to its requester.',
  },
  {
    name: 'reply-text-alone-counts',
    profiles: ['2026.9'],
    hooks: ['reply_payload_sending'],
    what: 'There, a payload that a handler returns takes the place of the reply whole; here its text does, if it has one: files and other fields stay as they were emitted.',
    reason: 'A text cannot bring a file with it that nobody has checked.',
  },
  {
    name: 'odd-error-is-a-text',
    profiles: ['2026.9'],
    hooks: legacyHooksOf('2026.9', 'void', 'modifying', 'claim'),
    what: 'There, a thrown object that is no error is told by its status and code, or as JSON; here as the text that it makes of itself.',
    reason: 'Its fields may quote a message.',
  },
] as const satisfies readonly LegacyDivergence[];

/** The name of a divergence. */
export type LegacyDivergenceName = (typeof rows)[number]['name'];

/**
 * Every allowed difference between the plugin-hook bridge and the real runners of OpenClaw 2026.3.13 and 2026.9.6, by name. The parity
 * suite runs generated handlers through both: it fails on a difference without a row, and on a row without a difference.
 *
 * @example
 * legacyDivergences.filter(({ hooks }) => hooks.includes('message_sending')).map(({ name }) => name);
 */
export const legacyDivergences: readonly LegacyDivergence<LegacyDivergenceName>[] = rows;
