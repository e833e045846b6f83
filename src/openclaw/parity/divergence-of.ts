import { isFields, isThenable } from 'sluice-kernel/internal';
import {
  type LegacyDivergence,
  type LegacyDivergenceName,
  legacyDivergences,
} from '../mapping/divergences.js';
import type { LegacyProfile } from '../profiles/index.js';
import type { ParityDifference } from './differences.js';
import type { ParityRun } from './parity-run.js';

/** One call of the runners, as it went on both sides. */
export interface ComparedStep {
  readonly hook: string;
  /** The handlers of the hook, in the order in which the plugins were loaded. */
  readonly handlers: readonly {
    readonly hook?: string;
    readonly pluginId: string;
    readonly priority?: number;
  }[];
  readonly legacy: ParityRun;
  readonly pipeline: ParityRun;
  /** The answers on the legacy side, as of `answersOf`. */
  readonly answers: readonly Readonly<Record<string, unknown>>[];
}

type Explains = (difference: ParityDifference, step: ComparedStep) => boolean;

const inResult =
  (fields = '\\w+') =>
  ({ path }: ParityDifference): boolean =>
    new RegExp(`^result\\.(?:${fields})(?:\\W|$)`).test(path);

/** Returns whether a runner told of a failure in some words, in its log or by its own failure. */
const isSaid = ({ log, ending }: ParityRun, words: RegExp): boolean =>
  log.some(({ text }) => words.test(text)) ||
  (ending.kind === 'threw' && words.test(ending.message));

/** Of each row, when it explains a difference. Rows by which a whole call can go another way come first. */
const rules: Partial<Readonly<Record<LegacyDivergenceName, Explains>>> = {
  'priority-must-be-finite': (_, { handlers }) =>
    handlers.some(({ priority = 0 }) => !Number.isFinite(priority)),
  'unreadable-error-is-told': (_, { pipeline }) =>
    isSaid(pipeline, /an error that cannot be read$/),
  'hanging-handler-is-cut': (_, { pipeline }) => isSaid(pipeline, / failed: it took longer than /),
  'ties-across-plugins': (_, { handlers }) =>
    handlers.some(({ pluginId, priority = 0 }, at) =>
      handlers
        .slice(0, at)
        .some((earlier) => (earlier.priority ?? 0) === priority && earlier.pluginId > pluginId),
    ),
  'answers-at-once-share-a-tick': ({ path }) => /^calls\[\d+\]\.isAtOnce$/.test(path),
  'cancel-is-terminal': (_, { answers }) =>
    answers
      .slice(0, -1)
      .some(({ cancel, block, status }) => Boolean(cancel) || Boolean(block) || status === 'error'),
  'system-prompt-needs-trust': (_, { pipeline }) => isSaid(pipeline, /may be set only by/),
  'refused-output': (_, { pipeline }) =>
    isSaid(
      pipeline,
      / failed: (?:its (?:patch was|annotations were) refused|an? (?:mutator|veto|augmenter|resolver) returns)/,
    ),
  'null-field-is-left-out': ({ path, legacy, pipeline }, { hook }) =>
    hook !== 'subagent_spawning' &&
    /^result\.\w+$/.test(path) &&
    legacy === null &&
    pipeline === undefined,
  'empty-text-adds-nothing': (difference, { answers }) =>
    inResult('prependContext|prependSystemContext|appendSystemContext')(difference) &&
    answers.some((answer) => Object.values(answer).includes('')),
  'tool-params-merge-by-key': (difference, { hook, answers }) =>
    hook === 'before_tool_call' &&
    inResult('params')(difference) &&
    answers.some(({ params }) => isFields(params)),
  'extra-fields-of-several-answers': (difference, { hook, answers }) =>
    hook === 'subagent_delivery_target' &&
    inResult('(?!origin\\b)\\w+')(difference) &&
    difference.pipeline === undefined &&
    answers.length > 1,
  'unfit-origin-is-no-candidate': ({ path }, { hook, answers }) =>
    hook === 'subagent_delivery_target' &&
    path.startsWith('result') &&
    answers.some(({ origin }) => Boolean(origin)),
  'spawn-answers-in-one-form': ({ path }, { hook }) =>
    hook === 'subagent_spawning' && path.startsWith('result'),
};

/** The row that explains a difference; `undefined` if none does. A path of a further call begins with `next[0].`. */
export function divergenceOf(
  difference: ParityDifference,
  steps: readonly ComparedStep[],
  profile: LegacyProfile = '2026.3',
): LegacyDivergenceName | undefined {
  const [whole, at] = /^next\[(\d+)\]\./.exec(difference.path) ?? [''];
  const step = steps[at === undefined ? 0 : Number(at) + 1];
  if (step === undefined) return undefined;
  const own = { ...difference, path: difference.path.slice(whole.length) };
  const names = Object.keys(rules) as LegacyDivergenceName[]; // the table's own keys
  return names.find((name) => concerns(name, step.hook, profile) && rules[name]?.(own, step));
}

function concerns(row: LegacyDivergenceName, hook: string, profile: LegacyProfile): boolean {
  const rows: readonly LegacyDivergence[] = legacyDivergences;
  return rows.some(
    ({ name, hooks, profiles }) =>
      name === row && profiles.includes(profile) && hooks.some((one) => one === hook),
  );
}

/** The answers of a call, by its handlers in the order of their calls: an empty record if none has come, or it is none. */
export async function answersOf(
  run: ParityRun,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const settled = await Promise.all(
    (run.answers ?? []).map(async (answer) => {
      if (!(answer instanceof Promise)) return isThenable(answer) ? undefined : answer;
      return Promise.race([answer, Promise.resolve()]).catch(() => undefined);
    }),
  );
  return settled.map((answer) => (isFields(answer) ? answer : {}));
}
