import type { AuditRecord } from '../outcome/audit.js';
import { nameOf, ownerOf } from '../outcome/entry.js';
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

/** A line of an explanation. */
export interface ExplainLine {
  /** The thing that it tells of. */
  readonly kind:
    | 'verdict'
    | 'principal'
    | 'budget'
    | 'question'
    | 'answer'
    | 'step'
    | 'change'
    | 'candidate'
    | 'stale-approval'
    | 'failure'
    | 'skipped'
    | 'audit';
  /** 0 for the verdict, 1 for the lines below it. */
  readonly depth: 0 | 1;
  /** Safe to print, on one line. */
  readonly words: string;
}

/**
 * Says as data what a dispatch came to, and who did what: the verdict, then each step, every changed field with its author, what
 * was overruled or written twice, the selection and why the others lost, failures with their policy, what was skipped, and what
 * audited handlers would have done; with the stage, also the time that a handler and the whole dispatch had. Pure. Takes an
 * `Outcome`, or what a journal has kept of one. Steps are there where the kernel traces.
 *
 * @example
 * for (const { depth, words } of explain(outcome)) console.log('  '.repeat(depth) + words);
 * // egress.preparing cancelled by quiet-hours/night: quiet-hours, "until 07:00"
 * //   quiet-hours/night  veto  cancelled  0.2 ms
 */
export function explain(
  outcome: OutcomeRecord,
  {
    stage,
    audits = [],
  }: {
    readonly stage?: Pick<Stage, 'timeoutMs' | 'stageTimeoutMs'> | undefined;
    readonly audits?: readonly AuditRecord[];
  } = {},
): readonly ExplainLine[] {
  const { principal, answered = [], failures } = outcome;
  const below = (kind: ExplainLine['kind'], texts: readonly string[]): readonly ExplainLine[] =>
    texts.map((text) => ({ kind, depth: 1, words: inertText(text) }));
  const verdict = inertText(`${outcome.event.family} ${verdictOf(outcome)}`);
  return [
    { kind: 'verdict', depth: 0, words: verdict },
    ...below('principal', principal ? [`on behalf of ${principalText(principal)}`] : []),
    ...below('budget', stage ? [budgetOf(stage)] : []),
    ...below('question', questionLines(outcome)),
    ...below('answer', answered.map(answerLine)),
    ...below('step', outcome.steps.map(stepLine)),
    ...below('change', outcome.changes.map(changeLine)),
    ...below('candidate', selectionLines(outcome)),
    ...below('stale-approval', staleLines(outcome)),
    ...below('failure', failures.map(failureLine)),
    ...below('skipped', skippedLines(outcome)),
    ...below('audit', audits.map(auditText)),
  ];
}

function verdictOf({ status, cancel, failures }: OutcomeRecord): string {
  if (status === 'cancelled' && cancel !== undefined) {
    const text = cancel.text === undefined ? '' : `, "${oneLine(cancel.text)}"`;
    const reply = cancel.reply === undefined ? '' : `, reply "${oneLine(cancel.reply)}"`;
    return `cancelled by ${nameOf(cancel)}: ${cancel.code}${text}${reply}`;
  }
  const failure = failures.findLast(({ policy }) => policy === 'closed');
  if (status !== 'failed' || failure === undefined) return status;
  return `failed: ${whose(failure)}, ${failure.kind}`;
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

function budgetOf({ timeoutMs, stageTimeoutMs }: Pick<Stage, 'timeoutMs' | 'stageTimeoutMs'>) {
  return `budget: ${timeoutMs} ms a handler, ${stageTimeoutMs} ms the stage`;
}

function answerLine({ how, ...asker }: NonNullable<OutcomeRecord['answered']>[number]): string {
  const said = how === undefined ? '' : `: ${oneLine(how)}`;
  return `a human allowed what ${nameOf(asker)} had asked${said}`;
}

function failureLine(failure: OutcomeRecord['failures'][number]): string {
  const { policy, kind, message } = failure;
  return `${whose(failure)} failed ${policy}: ${kind}, ${oneLine(message)}`;
}

function staleLines({ cancel, staleApprovals }: OutcomeRecord): string[] {
  const asker = cancel?.question && nameOf(cancel.question.asker);
  return staleApprovals.map((stale) => {
    const name = nameOf(stale);
    const changedBy = stale.changedBy.map(nameOf).join(', ');
    return `${name} ${name === asker ? 'asked' : 'allowed'} before ${changedBy} changed it, and declined to judge again`;
  });
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
  return ownerOf(failure) ?? 'the stage itself';
}

/** Says in one line what an audited handler would have done (judgement §3.6). */
function auditText(record: AuditRecord): string {
  const { pass, failure, verdict } = record;
  const again = pass === 'first' ? '' : ` (${pass})`;
  const more = failure === undefined || verdict === 'failed' ? '' : `; also ${failureText(record)}`;
  return inertText(`${nameOf(record)}, in audit mode${again}, ${verdictText(record)}${more}`);
}

function verdictText(record: AuditRecord): string {
  const { verdict, code = '', text, paths = [], candidates = [] } = record;
  const said = text === undefined ? '' : `, "${oneLine(text)}"`;
  const targets = candidates.map(({ target }) => targetText(target)).join(', ');
  const texts = {
    nothing: 'would have done nothing',
    allow: 'would have allowed it',
    cancel: `would have cancelled it: ${oneLine(code)}${said}`,
    ask: `would have asked a human${said}`,
    patch: `would have changed ${pathsText(paths)}`,
    annotate: `would have annotated ${pathsText(paths)}`,
    propose: `would have proposed ${targets || 'nothing'}`,
    failed: failureText(record),
  };
  return texts[verdict];
}

function failureText({ failure }: AuditRecord): string {
  return failure === undefined ? 'failed' : `failed: ${failure.kind}, ${oneLine(failure.message)}`;
}

function pathsText(paths: NonNullable<AuditRecord['paths']>): string {
  return paths.map(({ path, digest }) => `${oneLine(path)} (digest ${digest})`).join(', ');
}
