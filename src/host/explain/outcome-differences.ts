import { type Author, nameOf, type Outcome, oneLine, type Stage } from 'sluice-kernel/internal';
import type { RecordedOutcome } from '../timeline/recorded-outcome.js';

/** One difference between a recorded dispatch and the dispatch of today. */
export interface OutcomeDifference {
  readonly about: 'status' | 'change' | 'field' | 'selection' | 'annotation' | 'failure';
  /** The difference in one line: what was, and what would be. */
  readonly what: string;
}

/** The texts in a journal for values that it left out or hid, as far as no digest follows. */
const hidden = /^\[(?:left out|redacted)\](?: sha256:|$)/;

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

const isHidden = (value: unknown): boolean => typeof value === 'string' && hidden.test(value);

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
    if (isHidden(before[name]) || name === 'config') return [];
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
