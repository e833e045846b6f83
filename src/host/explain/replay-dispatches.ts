import type { DispatchRecord } from '@sluice/journal';
import { Recent } from '@sluice/sdk/stream/internal';
import {
  type Author,
  definedFields,
  isSluiceError,
  type Kernel,
  nameOf,
  type OpenKernel,
  type Outcome,
  oneLine,
  openKernel,
  type Stage,
} from 'sluice-kernel/internal';
import { type RecordedOutcome, recordedOutcome } from '../timeline/read-timeline.js';

/** The reason why a recorded dispatch was not dispatched again. */
export type NotReplayed =
  /** The journal has no payload of it. */
  | 'no-payload'
  /** A handler made it: it is made again by that handler. */
  | 'nested'
  /** Its payload does not fit today's schema, or there is no such family. */
  | 'does-not-fit';

/** A recorded dispatch, with its outcome of today. */
export interface ReplayedDispatch {
  readonly recorded: RecordedOutcome;
  /** The outcome of today; absent if it was not replayed. */
  readonly today?: Outcome;
  readonly notReplayed?: NotReplayed;
  readonly differences: readonly OutcomeDifference[];
}

/** The number of messages whose last outcome is persisted, for the annotations that go downstream. */
const keptMessages = 1_000;

/**
 * Dispatches the records of a journal again, through a kernel of today, and compares (spec §20.7). Nothing is sent and no agent is
 * asked: a dispatch alone does neither. Handlers may have effects of their own: the caller decides which handlers are there.
 *
 * @param isOff names handlers that the kernel does not call, and that are not compared.
 * @example
 * for await (const { recorded, differences } of replayDispatches(kernel, await reader.dispatches()))
 *   for (const { what } of differences) console.log(recorded.event.eventId, what);
 */
export async function* replayDispatches(
  kernel: Kernel,
  records: AsyncIterable<DispatchRecord> | Iterable<DispatchRecord>,
  isOff: (author: Author) => boolean = () => false,
): AsyncGenerator<ReplayedDispatch> {
  const open = openKernel(kernel);
  const stages = new Map(kernel.stages().map(({ stage }) => [stage.family as string, stage]));
  const before = new Recent<string, Outcome>(keptMessages); // the last outcome of each message, for what goes downstream
  for await (const record of records) {
    const recorded = recordedOutcome(record);
    const stage = stages.get(record.family);
    const notReplayed = (why: NotReplayed): ReplayedDispatch => ({
      recorded,
      notReplayed: why,
      differences: [],
    });
    if (stage === undefined) yield notReplayed('does-not-fit');
    else if (recorded.omitted !== undefined) yield notReplayed('no-payload');
    else if (recorded.event.sourceContributionId !== null) yield notReplayed('nested');
    else {
      const today = await dispatchAgain(open, recorded, stage, before.get(record.correlationId));
      if (today === undefined) {
        yield notReplayed('does-not-fit');
        continue;
      }
      before.set(record.correlationId, today);
      yield { recorded, today, differences: outcomeDifferences(recorded, today, stage, isOff) };
    }
  }
}

async function dispatchAgain(
  kernel: OpenKernel,
  { event, failures, candidates, answered, principal }: RecordedOutcome,
  stage: Stage,
  after: Outcome | undefined,
): Promise<Outcome | undefined> {
  const { payload: recorded, family: _, hotPath: __, ...refs } = event;
  const { config: _config, ...kept } = recorded as Readonly<Record<string, unknown>>;
  let payload: object;
  try {
    payload = kernel.parsePayload(stage.family, structuredClone(kept));
  } catch (thrown) {
    if (isSluiceError(thrown)) return undefined;
    throw thrown;
  }
  // an envelope does not hold the options of its dispatch; its outcome shows them
  const isObserveOnly = failures.some(({ kind }) => kind === 'observe-only');
  const refused = candidates.filter(({ invalid }) => invalid !== undefined);
  const same = (one: unknown, other: unknown): boolean =>
    JSON.stringify(one) === JSON.stringify(other);
  const given = {
    ...(isObserveOnly && { gate: 'observe-only' as const }),
    ...(candidates.length > 0 && {
      valid: (target: unknown) => refused.find((one) => same(one.target, target))?.invalid ?? true,
    }),
    ...definedFields({ after, answered }),
    ...(stage.principal && { principal: principal ?? null }), // the chain of today may have lost it, or have another
    ...structuredClone(refs),
  };
  return stage.mode === 'sync-sequential'
    ? kernel.dispatchSync(stage.family, payload, given)
    : kernel.dispatch(stage.family, payload, given);
}

/** One difference between a recorded dispatch and the dispatch of today. */
export interface OutcomeDifference {
  readonly about: 'status' | 'change' | 'field' | 'selection' | 'annotation' | 'failure';
  /** The difference in one line: what was, and what would be. */
  readonly what: string;
}

/** The texts in a journal for values that it left out or hid: they tell nothing of the value. */
const hidden: readonly unknown[] = ['[left out]', '[redacted]'];

/**
 * Lists the differences between a dispatch as it was and as it would be today: in its status with the handler that decided, its
 * changes with their authors, its payload, its selection, its annotations and its failures. Times and the order of handlers that
 * ran at once do not count.
 *
 * @param isOff names handlers that did not run today, and are not compared.
 */
export function outcomeDifferences(
  recorded: RecordedOutcome,
  today: Outcome,
  stage: Stage,
  isOff: (author: Author) => boolean = () => false,
): OutcomeDifference[] {
  const was = verdictOf(recorded);
  const is = verdictOf(today);
  return [
    ...(was === is ? [] : [{ about: 'status', what: `was ${was}, would be ${is}` } as const]),
    ...gone('change', recorded.changes.map(changeText), today.changes.map(changeText)),
    ...fields(
      'field',
      recorded.payload,
      today.payload as Fields,
      Object.keys(stage.payload.properties),
    ),
    ...selections(recorded, today),
    ...fields(
      'annotation',
      recorded.annotations,
      today.annotations,
      Object.keys(stage.annotations?.properties ?? {}),
    ),
    ...gone('failure', failuresOf(recorded, isOff), failuresOf(today, isOff)),
  ];
}

type Fields = Readonly<Record<string, unknown>>;
type Compared = Pick<RecordedOutcome, 'status' | 'cancel' | 'failures'>;

function verdictOf(outcome: Compared): string {
  if (outcome.status !== 'cancelled' || outcome.cancel === undefined) return outcome.status;
  return `cancelled by ${nameOf(outcome.cancel)}: ${outcome.cancel.code}`;
}

function changeText(change: Author & { readonly path: string; readonly overruled?: true }): string {
  return `${change.path} ${change.overruled === true ? 'overruled' : 'changed'} by ${nameOf(change)}`;
}

function failuresOf({ failures }: Compared, isOff: (author: Author) => boolean): string[] {
  return failures.flatMap(({ extensionId, contributionId, kind, policy }) => {
    if (extensionId === undefined || contributionId === undefined)
      return [`the stage failed ${policy}: ${kind}`];
    const author = { extensionId, contributionId };
    return isOff(author) ? [] : [`${nameOf(author)} failed ${policy}: ${kind}`];
  });
}

/** Lists the texts that are in one list and not in the other. */
function gone(
  about: OutcomeDifference['about'],
  before: readonly string[],
  after: readonly string[],
): OutcomeDifference[] {
  return [
    ...before.filter((text) => !after.includes(text)).map((text) => `was: ${text}; would not be`),
    ...after.filter((text) => !before.includes(text)).map((text) => `was not; would be: ${text}`),
  ].map((what) => ({ about, what }));
}

function fields(
  about: OutcomeDifference['about'],
  before: Fields,
  after: Fields,
  names: readonly string[],
): OutcomeDifference[] {
  return names.flatMap((name) => {
    if (hidden.includes(before[name]) || name === 'config') return [];
    const was = shown(before[name]);
    const is = shown(after[name]);
    return was === is ? [] : [{ about, what: `${name} was ${was}, would be ${is}` }];
  });
}

function selections(recorded: RecordedOutcome, today: Outcome): OutcomeDifference[] {
  const text = (one: RecordedOutcome['selection']): string =>
    one === undefined ? 'nothing' : `${shown(one.target)} by ${nameOf(one)}`;
  const was = text(recorded.selection);
  const is = text(today.selection);
  return was === is ? [] : [{ about: 'selection', what: `was ${was}, would be ${is}` }];
}

/** Writes a value in one line: the same text for the same value, also if the order of its keys differs. */
function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  try {
    return oneLine(JSON.stringify(value, sorted));
  } catch {
    return 'what cannot be shown';
  }
}

function sorted(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
