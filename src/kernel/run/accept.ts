import { Notes } from '../merge/notes.js';
import { beats } from '../merge/selection.js';
import { Work } from '../merge/work.js';
import { codes, type Entry, nameOf } from '../outcome/entry.js';
import type { CancelRecord, Candidate, FailureKind, Step } from '../outcome/outcome.js';
import { copyPlain } from '../value/copy-plain.js';
import { didYouMean } from '../value/nearest.js';
import { oneLine } from '../value/one-line.js';
import { shapeOf } from '../value/plain.js';
import { takeQuestion } from './questions.js';
import { changesOf } from './state/changes.js';
import { failed, noted } from './state/failures.js';
import type { Run } from './state/run.js';
import { stepOf } from './state/step-of.js';

/**
 * Takes what a handler returned, by its class: merges it, or records it as bad output (spec §3.2).
 *
 * @param at the handler's index in the plan; below 0 while it judges again.
 * @returns whether the stage ends here.
 */
export function accept(run: Run, entry: Entry, at: number, result: unknown): boolean {
  if (result === undefined || result === null) {
    if (entry.code !== codes.strictVeto) return step(run, entry, 'nothing');
    const problem = 'a fail-closed veto must return allow() or cancel(), and it returned nothing';
    return refused(run, entry, problem);
  }
  switch (entry.code) {
    case codes.mutator:
      return patch(run, entry, at, result);
    case codes.augmenter:
      return annotate(run, entry, result);
    case codes.veto:
    case codes.strictVeto:
      return judge(run, entry, result);
    case codes.resolver:
      return propose(run, entry, at, result);
    default:
      return odd(run, entry, 'an observer returns nothing', result);
  }
}

/**
 * Takes what a handler returned that has written the payload it was called with: the write had no effect on anybody, and is a failure
 * by the handler's policy (spec §5.7). Nothing else it returned counts, but for a cancel or a question, which stands.
 */
export function wrote(run: Run, entry: Entry, result: unknown): boolean {
  const problem = 'it wrote to its payload, which has no effect: a mutator returns a patch';
  const isVeto = entry.code === codes.veto || entry.code === codes.strictVeto;
  const { kind } = (typeof result === 'object' && result !== null ? result : {}) as Verdict;
  if (!isVeto || (kind !== 'cancel' && kind !== 'ask'))
    return refused(run, entry, problem, 'wrote-payload');
  noted(run, entry, 'wrote-payload', problem);
  return judge(run, entry, result);
}

function patch(run: Run, entry: Entry, at: number, result: unknown): boolean {
  if (typeof result !== 'object' || result === null)
    return odd(run, entry, 'a mutator returns a patch', result);
  if (run.terms.observeOnly) return observeOnly(run, entry, 'a patch');
  const work = (run.work ??= newWork(run, entry));
  work.entry = entry;
  work.isChanged = false;
  const verdict = work.merges.patch(work, result);
  if (verdict !== true) {
    const problem = `its patch was refused as a whole: ${verdict.problem}${writers(run, verdict.unfit)}`;
    const grant = verdict.needs === undefined ? '' : grantHint(run, entry, verdict.needs);
    return refused(run, entry, `${problem}${grant}`, verdict.kind);
  }
  if (work.isChanged) {
    run.lastChangeAt = at;
    run.call = undefined;
  }
  return step(run, entry, 'patched');
}

function newWork({ emitted, merges, services }: Run, entry: Entry): Work {
  return new Work(emitted, merges, services.strict, entry);
}

/** As an operator grants it, ready to be written. */
function grantHint(run: Run, { extensionId }: Entry, field: string): string {
  const granted = { [extensionId]: [`${run.plan.stage.family}:${field}`] };
  return `; to grant it, write "grants": ${JSON.stringify(granted)} in the config`;
}

/** Names who wrote a field before, where a patch does not fit after that. */
function writers(run: Run, field: string | undefined): string {
  if (field === undefined) return '';
  const authors = changesOf(run).filter(({ path }) => /^[^.[]*/.exec(path)?.[0] === field);
  const names = new Set(authors.map(nameOf));
  return names.size === 0 ? '' : ` (by ${[...names].join(', ')})`;
}

function annotate(run: Run, entry: Entry, result: unknown): boolean {
  if (typeof result !== 'object' || result === null)
    return odd(run, entry, 'an augmenter returns annotations', result);
  const notes = (run.cold.notes ??= new Notes(run.annotations, entry));
  notes.entry = entry;
  const verdict = run.merges.annotations(notes, result);
  if (verdict !== true)
    return refused(run, entry, `its annotations were refused as a whole: ${verdict.problem}`);
  if (notes.value !== run.annotations) run.renew(notes.value, run.selection);
  return step(run, entry, 'annotated');
}

function judge(run: Run, entry: Entry, result: unknown): boolean {
  const verdict = (typeof result === 'object' && result !== null ? result : {}) as Verdict;
  const { kind } = verdict;
  if (kind === 'allow') return step(run, entry, 'allowed');
  if (kind === 'ask') return ask(run, entry, result as object); // it has a kind
  if (kind !== 'cancel') return odd(run, entry, 'a veto returns cancel() or allow()', result);
  if (run.terms.observeOnly) return observeOnly(run, entry, 'a cancel');
  const declared = run.plan.stage.cancelCodes;
  const code = textOf(() => verdict.code) ?? 'unreadable';
  const known = declared.includes(code);
  if (!known) {
    const hint = didYouMean(code, declared) || '.';
    const problem = `it cancelled with "${oneLine(code)}", which the stage does not declare${hint} It declares: ${declared.join(', ')}. The cancel stands, as "other"`;
    noted(run, entry, 'bad-output', problem);
  }
  const text = textOf(() => verdict.text);
  const given = detailsOf(() => verdict.details);
  const reply = replyOf(run, entry, verdict);
  const details = known ? given : Object.freeze({ ...given, undeclaredCode: code });
  run.status = 'cancelled';
  const { extensionId, contributionId } = entry;
  const record: Mutable<CancelRecord> = {
    extensionId,
    contributionId,
    code: known ? code : 'other',
  };
  // not by a copy of the fields that are there, which takes a microsecond
  if (text !== undefined) record.text = text;
  if (details !== undefined) record.details = details;
  if (reply !== undefined) record.reply = reply;
  run.cold.cancel = Object.freeze(record);
  step(run, entry, 'cancelled');
  return true;
}

function ask(run: Run, entry: Entry, result: object): boolean {
  if (run.terms.observeOnly) return observeOnly(run, entry, 'a question');
  const untaken = takeQuestion(run, entry, result);
  if (untaken === undefined) return step(run, entry, 'asked');
  return failed(run, entry, 'bad-output', new Error(untaken.problem), untaken.policy);
}

/** The reply of a cancel. One that the stage does not take, or that is no text, is left out and noted: the cancel stands (spec §8.6). */
function replyOf(run: Run, entry: Entry, verdict: Verdict): string | undefined {
  const given = fieldOf(() => verdict.reply);
  if (given === undefined) return undefined;
  const { cancelReplies, family } = run.plan.stage;
  if (cancelReplies && typeof given === 'string' && given.trim() !== '') return given;
  const problem = cancelReplies
    ? 'the reply of its cancel is no text, or has no words; the cancel stands without it'
    : `its cancel has a reply, which ${family} does not take: give the reason as text; the cancel stands without it`;
  noted(run, entry, 'bad-output', problem);
  return undefined;
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** The result of a veto, before it is known to be a decision. */
type Verdict = Readonly<Partial<Record<'kind' | 'code' | 'text' | 'details' | 'reply', unknown>>>;

/** Stands for a field that cannot be read. */
const cannotRead = Symbol('cannot be read');

/** Reads a field of a verdict once. A cancel counts also without its reason (§8.5). */
function fieldOf(read: () => unknown): unknown {
  try {
    return read();
  } catch {
    return cannotRead;
  }
}

function textOf(read: () => unknown): string | undefined {
  const value = fieldOf(read);
  return typeof value === 'string' ? value : undefined;
}

/** Copies the details of a cancel, frozen; details that are no plain data are left out, and the cancel says so. */
function detailsOf(read: () => unknown): Readonly<Record<string, unknown>> | undefined {
  const value = fieldOf(read);
  if (value === undefined || value === null) return undefined;
  const unreadable = (why: string) => Object.freeze({ unreadable: why });
  if (value === cannotRead) return unreadable('it cannot be read');
  const taken = copyPlain(Object(value));
  if (!('copy' in taken)) return unreadable(`${taken.path}: ${taken.problem}`);
  if (typeof value !== 'object' || Array.isArray(taken.copy))
    return unreadable('it must be an object');
  return taken.copy as Readonly<Record<string, unknown>>; // a copy of a plain object
}

function propose(run: Run, entry: Entry, at: number, result: unknown): boolean {
  if (run.terms.observeOnly) return observeOnly(run, entry, 'a candidate');
  const proposals: readonly unknown[] = Array.isArray(result) ? result : [result];
  const candidates: Candidate[] = [];
  const isClosed = entry.policy === 'closed'; // §3.7: what cannot be used is a failure of it
  for (const proposal of proposals) {
    const read = candidateOf(run, entry, proposal);
    const problem = typeof read === 'string' ? read : isClosed ? read.invalid : undefined;
    if (typeof read === 'string' || problem !== undefined)
      return refused(run, entry, problem ?? '');
    candidates.push(read);
  }
  let best = run.selection;
  for (const candidate of candidates) {
    (run.cold.candidates ??= []).push(candidate);
    if (beats(candidate, best)) best = candidate;
  }
  if (best !== run.selection) {
    run.renew(run.annotations, best);
    (run.cold.choosers ??= []).push(entry);
    run.lastChangeAt = at;
  }
  return step(run, entry, 'proposed');
}

/** Reads a proposal once; a text says why it is none. */
function candidateOf(run: Run, entry: Entry, proposal: unknown): Candidate | string {
  const {
    kind,
    target: given,
    explicit,
    rank,
  }: Readonly<Record<string, unknown>> = Object(proposal);
  if (kind !== 'select')
    return `a resolver returns select() or an array of them, and it returned ${shapeOf(proposal)}`;
  if (typeof explicit !== 'boolean' || typeof rank !== 'number' || !Number.isFinite(rank))
    return 'a candidate needs explicit (true or false) and rank (a finite number): use select()';
  let target = given;
  if (typeof given === 'object' && given !== null) {
    const taken = copyPlain(given);
    if (!('copy' in taken)) return `its target at ${taken.path}: ${taken.problem}`;
    target = taken.copy;
  }
  const invalid = run.merges.misfit(target) ?? refusedByHost(run, target);
  const { extensionId, contributionId } = entry;
  return Object.freeze(
    invalid === undefined
      ? { extensionId, contributionId, target, explicit, rank }
      : { extensionId, contributionId, target, explicit, rank, invalid },
  );
}

function refusedByHost(run: Run, target: unknown): string | undefined {
  const valid = run.terms.valid as ((target: unknown) => unknown) | undefined; // typed per family at dispatch
  if (valid === undefined) return undefined;
  try {
    const verdict = valid(target);
    if (verdict === true) return undefined;
    return typeof verdict === 'string' ? verdict : 'the host does not take it';
  } catch (thrown) {
    return `the host's predicate threw: ${oneLine(thrown)}`;
  }
}

function observeOnly(run: Run, entry: Entry, what: string): boolean {
  const problem = `it returned ${what}, and this dispatch can only be observed: it had no effect`;
  return refused(run, entry, problem, 'observe-only');
}

/** Records what is no result of its class. */
function odd(run: Run, entry: Entry, rule: string, result: unknown): boolean {
  return refused(run, entry, `${rule}, and it returned ${shapeOf(result)}`);
}

function refused(
  run: Run,
  entry: Entry,
  problem: string,
  kind: FailureKind = 'bad-output',
): boolean {
  return failed(run, entry, kind, new Error(problem));
}

function step(run: Run, entry: Entry, result: Step['result']): false {
  run.steps?.push(stepOf(entry, result, run.rechecking ? { recheck: true } : {}));
  return false;
}
