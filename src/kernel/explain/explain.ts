import { nameOf } from '../outcome/entry.js';
import type {
  Author,
  Candidate,
  Change,
  OutcomeRecord,
  Selection,
  Step,
} from '../outcome/outcome.js';
import { principalText } from '../outcome/principal.js';
import type { Stage } from '../stage/stage.js';
import { inertText } from '../value/inert-text.js';
import { oneLine } from '../value/one-line.js';

/**
 * Says what a dispatch came to, and who did what: each step, every changed field with its author, what was
 * overruled or written twice, the cancel, the selection and why the others lost, failures with their policy, and
 * what was skipped; with the stage, also the time that a handler and the whole dispatch had. Pure; each line is safe
 * to print. Takes an `Outcome`, or what a journal has kept of one. Steps are there where the kernel traces.
 *
 * @returns lines, the first of them the verdict, the others indented below it.
 * @example
 * for (const line of explainOutcome(outcome)) console.log(line);
 * // egress.preparing cancelled by quiet-hours/night: quiet-hours, "until 07:00"
 * //   quiet-hours/night  veto  cancelled  0.2 ms
 */
export function explainOutcome(
  outcome: OutcomeRecord,
  { stage }: { readonly stage?: Pick<Stage, 'timeoutMs' | 'stageTimeoutMs'> } = {},
): string[] {
  return [
    `${outcome.event.family} ${verdictOf(outcome)}`,
    ...(outcome.principal === undefined
      ? []
      : [`on behalf of ${principalText(outcome.principal)}`]),
    ...(stage === undefined
      ? []
      : [`budget: ${stage.timeoutMs} ms a handler, ${stage.stageTimeoutMs} ms the stage`]),
    ...questionLines(outcome),
    ...(outcome.answered ?? []).map(({ how, ...asker }) =>
      [
        `a human allowed what ${nameOf(asker)} had asked`,
        ...(how === undefined ? [] : [oneLine(how)]),
      ].join(': '),
    ),
    ...outcome.steps.map(stepLine),
    ...outcome.changes.map(changeLine),
    ...selectionLines(outcome),
    ...outcome.staleApprovals.map(
      (stale) =>
        `${nameOf(stale)} ${isAsker(outcome, stale) ? 'asked' : 'allowed'} before ${stale.changedBy.map(nameOf).join(', ')} changed it, and declined to judge again`,
    ),
    ...outcome.failures.map(
      (failure) =>
        `${whose(failure)} failed ${failure.policy}: ${failure.kind}, ${oneLine(failure.message)}`,
    ),
    ...skippedLines(outcome),
  ].map((line, i) => inertText(i === 0 ? line : `  ${line}`));
}

function verdictOf(outcome: OutcomeRecord): string {
  switch (outcome.status) {
    case 'passed':
      return 'passed';
    case 'cancelled': {
      const { cancel } = outcome;
      if (cancel === undefined) return 'cancelled';
      const text = cancel.text === undefined ? '' : `, "${oneLine(cancel.text)}"`;
      const reply = cancel.reply === undefined ? '' : `, reply "${oneLine(cancel.reply)}"`;
      return `cancelled by ${nameOf(cancel)}: ${cancel.code}${text}${reply}`;
    }
    case 'failed': {
      const failure = outcome.failures.findLast(({ policy }) => policy === 'closed');
      return failure === undefined ? 'failed' : `failed: ${whose(failure)}, ${failure.kind}`;
    }
  }
}

/** The question that nobody has answered. */
function questionLines({ cancel }: OutcomeRecord): string[] {
  const { question } = cancel ?? {};
  if (question === undefined) return [];
  const { asker, title, text, of, timeoutMs, scopes } = question;
  const whom = typeof of === 'string' ? `the ${of}` : `the role ${oneLine(of.role)}`;
  const inTime = timeoutMs === undefined ? '' : `, within ${timeoutMs} ms`;
  const always = scopes.length === 0 ? '' : `, "always" for this ${scopes.join(' or ')}`;
  const more = text === undefined ? [] : [`it says: "${oneLine(text)}"`];
  return [`${nameOf(asker)} asks ${whom}: "${oneLine(title)}"${inTime}${always}`, ...more];
}

function isAsker({ cancel }: OutcomeRecord, author: Author): boolean {
  return cancel?.question !== undefined && nameOf(cancel.question.asker) === nameOf(author);
}

function stepLine(step: Step): string {
  const time = step.durationMs === undefined ? '' : `  ${step.durationMs.toFixed(1)} ms`;
  const why = step.why === undefined ? '' : ` (${step.why})`;
  const again = step.recheck === true ? ' on judging again' : '';
  return `${nameOf(step)}  ${step.class}  ${step.result}${again}${why}${time}${budgetText(step)}`;
}

/** The time that a handler had, where it is not the stage's. */
function budgetText({ budget }: Step): string {
  if (budget === undefined) return '';
  const from = budget.from === 'operator' ? 'set by the operator' : 'its own';
  return `  of ${budget.timeoutMs} ms, ${from}`;
}

/** Those that no step shows: all of them, where the kernel does not trace. */
function skippedLines({ skipped, steps }: OutcomeRecord): string[] {
  const shown = new Set(steps.filter(({ result }) => result === 'skipped').map(nameOf));
  return skipped
    .filter((author) => !shown.has(nameOf(author)))
    .map((author) => `${nameOf(author)} skipped: ${author.why}`);
}

/** A write, and who had written the same field before: two writers of a field are a conflict. */
function changeLine(change: Change, at: number, changes: readonly Change[]): string {
  const path = oneLine(change.path);
  const before = changes.slice(0, at).filter((other) => other.path === change.path);
  const names = [...new Set(before.map(nameOf))].filter((name) => name !== nameOf(change));
  if (change.overruled === true) {
    const first =
      names.length === 0 ? 'the emitted value stands' : `${names.join(', ')} set it first`;
    return `${path} not changed by ${nameOf(change)}: overruled, ${first}`;
  }
  const conflict = names.length === 0 ? '' : `, in conflict with ${names.join(', ')}`;
  return `${path} changed by ${nameOf(change)}${conflict}`;
}

function selectionLines({ selection, candidates }: OutcomeRecord): string[] {
  return candidates.map((candidate) => {
    const what = `${targetText(candidate.target)} proposed by ${nameOf(candidate)}`;
    if (selection !== undefined && isWinner(candidate, selection)) return `${what}: selected`;
    return `${what}: ${whyLost(candidate, selection)}`;
  });
}

function isWinner(candidate: Candidate, selection: Selection): boolean {
  if (nameOf(candidate) !== nameOf(selection)) return false;
  return (
    candidate.target === selection.target ||
    targetText(candidate.target) === targetText(selection.target) // read back from a journal
  );
}

/** The law of selection (spec §9), told backwards. */
function whyLost(candidate: Candidate, selection: Selection | undefined): string {
  if (candidate.invalid !== undefined) return `not valid, ${oneLine(candidate.invalid)}`;
  if (selection === undefined) return 'not selected';
  if (selection.explicit && !candidate.explicit)
    return 'lost, it is inferred and the other explicit';
  if (selection.rank > candidate.rank)
    return `lost, its rank ${candidate.rank} is below ${selection.rank}`;
  return 'lost, it came later in run order';
}

function targetText(target: unknown): string {
  try {
    return oneLine(typeof target === 'string' ? target : (JSON.stringify(target) ?? target));
  } catch {
    return 'a target that cannot be shown'; // a cycle, or a bigint
  }
}

function whose(failure: Partial<Author>): string {
  const { extensionId, contributionId } = failure;
  if (extensionId === undefined || contributionId === undefined) return 'the stage itself';
  return nameOf({ extensionId, contributionId });
}
