import { type Author, type Outcome, oneLine, type Stage } from '../../kernel/index.js';
import type { RecordedOutcome } from './recorded-outcome.js';

/** One thing that a dispatch would come to otherwise today. */
export interface OutcomeDifference {
  readonly about: 'status' | 'change' | 'field' | 'selection' | 'annotation' | 'failure';
  /** In one line: what was, and what would be. */
  readonly what: string;
}

/** What stands in a journal for what it left out or hid: it says nothing of the value. */
const hidden: readonly unknown[] = ['[left out]', '[redacted]'];

/**
 * What differs between a dispatch as it was and as it would be today: its status and who decided, who changed what, what the
 * payload became, the selection, the annotations, the failures. Times and the order of what ran at once do not count.
 *
 * @param isOff says of whom nothing is compared: handlers that did not run today.
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

function nameOf(author: Author): string {
  return `${author.extensionId}/${author.contributionId}`;
}

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

/** What is in one list and not in the other. */
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

/** A value in one line; the same text for the same value, whatever the order of its keys. */
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
