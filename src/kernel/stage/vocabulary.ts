/**
 * The rights of a handler. A contribution declares exactly one class (spec §3).
 *
 * - `observer`: side effects only, returns nothing.
 * - `augmenter`: returns annotations, which are additive.
 * - `mutator`: returns a patch of the stage's payload.
 * - `veto`: returns `cancel()`, `allow()` or nothing.
 * - `resolver`: returns `select()`, an array of them, or nothing.
 */
export type HandlerClass = (typeof handlerClasses)[number];

/** The five handler classes, in the order the spec lists them. */
export const handlerClasses = ['observer', 'augmenter', 'mutator', 'veto', 'resolver'] as const;

/**
 * How a stage calls its handlers (spec §4).
 *
 * - `parallel`: every handler starts in the same tick; none can affect the outcome.
 * - `sequential`: one after the other; a handler that returns synchronously costs no await.
 * - `sync-sequential`: one after the other in the caller's stack; async handlers are refused.
 */
export type ExecutionMode = (typeof executionModes)[number];

/** The three execution modes, in the order the spec lists them. */
export const executionModes = ['parallel', 'sequential', 'sync-sequential'] as const;

/** The one who may dispatch a family: anybody, or the host alone, but for extensions that are granted it. */
export type Emitter = (typeof emitters)[number];

/** Both emitters. */
export const emitters = ['anyone', 'host'] as const;

/**
 * The source of a family's events (spec §2.5).
 *
 * - `host`: every host.
 * - `interactive-channel`: a host with a channel that has buttons, lists or forms.
 * - `turn`: a run of an agent, driven by a turn or seen by a bridge.
 * - `subagent`: a run of an agent that starts subagents.
 * - `extension`: the extension that declares the family.
 * - `nothing`: no source yet.
 */
export type EmissionSource = (typeof emissionSources)[number];

/** The six sources. */
export const emissionSources = [
  'host',
  'interactive-channel',
  'turn',
  'subagent',
  'extension',
  'nothing',
] as const;

/** The effect of a handler's failure on its stage: nothing (`open`), or it ends the stage (`closed`). */
export type FailPolicy = 'open' | 'closed';

/** `enforce`: what a handler returns has its effect. `audit`: it has none, and is told to the tap (judgement §3). */
export type HandlerMode = (typeof handlerModes)[number];

/** Both modes. */
export const handlerModes = ['enforce', 'audit'] as const;

/** How one field of a patch is applied to the payload (spec §6). */
export type PatchLaw = (typeof patchLaws)[number];

/** The six patch laws. */
export const patchLaws = [
  'replace',
  'append',
  'first-defined',
  'merge-keys',
  'prepend-text',
  'append-text',
] as const;

/** A patch law, with the separator that the two text laws put between pieces (default: a blank line). */
export type PatchLawSpec = PatchLaw | { readonly law: PatchLaw; readonly separator?: string };

/** The power of handlers over a source: they can change what happens, or only watch it (spec §11). */
export type Gate = 'enforce' | 'observe-only';

/**
 * When a handler runs among the others of its stage (spec §4.9): `main` by priority, `last` after all of those,
 * whatever their priority.
 */
export type Band = (typeof bands)[number];

/** The two bands, in run order. */
export const bands = ['main', 'last'] as const;

/** The codes of a cancel that stands for a question to a human (judgement §4.2). */
export const approvalCodes = ['approval-required', 'approval-denied', 'approval-timeout'] as const;

/** One of these codes. */
export type ApprovalCode = (typeof approvalCodes)[number];
