import { freezePlain } from '../freeze.js';
import { beats } from '../merge/selection.js';
import { nearest } from '../nearest.js';
import type { Candidate, Step } from '../outcome.js';
import { authorOf, codes, type Entry, nameOf } from './entry.js';
import { failed, oneLine } from './failures.js';
import { type Run, Slot, versionsOf } from './run.js';

/**
 * Takes what a handler returned, by its class: merges it, or records it as bad output (spec §5).
 *
 * @param at the handler's index in the plan; below 0 while it judges again.
 * @returns whether the stage ends here.
 */
export function accept(run: Run, entry: Entry, at: number, result: unknown): boolean {
  if (result === undefined || result === null) {
    if (entry.code !== codes.strictVeto) return step(run, entry, 'nothing');
    return bad(
      run,
      entry,
      'a fail-closed veto must return allow() or cancel(), and it returned nothing',
    );
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
      return propose(run, entry, result);
    default:
      return bad(run, entry, `an observer returns nothing, and it returned ${shape(result)}`);
  }
}

function patch(run: Run, entry: Entry, at: number, result: unknown): boolean {
  if (typeof result !== 'object' || result === null)
    return bad(run, entry, `a mutator returns a patch, and it returned ${shape(result)}`);
  if (run.observeOnly) return observeOnly(run, entry, 'a patch');
  const slot = (run.patches ??= new Slot(run, run.payload, entry));
  slot.entry = entry;
  const verdict = run.merges.patch(slot, result);
  if (verdict !== true)
    return failed(
      run,
      entry,
      verdict.kind,
      new Error(
        `its patch was refused as a whole: ${verdict.problem}${writers(run, verdict.problem)}`,
      ),
    );
  if (slot.value !== run.payload) {
    run.payload = slot.value;
    (run.versions ??= []).push(entry, slot.value);
    run.lastPatchAt = at;
    run.renewCall();
  }
  return step(run, entry, 'patched');
}

/** Names who wrote before, where a patch does not fit what was written before it. */
function writers(run: Run, problem: string): string {
  if (!problem.includes('written before') || run.versions === undefined) return '';
  const names = new Set(versionsOf(run).map(({ entry }) => nameOf(entry)));
  return ` (by ${[...names].join(', ')})`;
}

function annotate(run: Run, entry: Entry, result: unknown): boolean {
  if (typeof result !== 'object' || result === null)
    return bad(run, entry, `an augmenter returns annotations, and it returned ${shape(result)}`);
  const slot = (run.notes ??= new Slot(run, run.annotations, entry));
  slot.entry = entry;
  const verdict = run.merges.annotations(slot, result);
  if (verdict !== true)
    return failed(
      run,
      entry,
      verdict.kind,
      new Error(`its annotations were refused as a whole: ${verdict.problem}`),
    );
  if (slot.value !== run.annotations) {
    run.annotations = slot.value;
    run.renewCall();
  }
  return step(run, entry, 'annotated');
}

function judge(run: Run, entry: Entry, result: unknown): boolean {
  const { kind, code: given, text, details } = (result ?? {}) as Readonly<Record<string, unknown>>;
  if (kind === 'allow') return step(run, entry, 'allowed');
  if (kind !== 'cancel')
    return bad(run, entry, `a veto returns cancel() or allow(), and it returned ${shape(result)}`);
  if (run.observeOnly) return observeOnly(run, entry, 'a cancel');
  const declared = run.plan.stage.cancelCodes;
  const code = String(given);
  const known = declared.includes(code);
  if (!known) {
    // §8.5: a cancel is never lost for its reason's sake
    const close = nearest(code, declared);
    const hint = close === undefined ? '' : `; did you mean "${close}"?`;
    const problem = `it cancelled with "${code}", which the stage does not declare${hint} It declares: ${declared.join(', ')}. The cancel stands, as "other"`;
    failed(run, { ...entry, policy: 'open' }, 'bad-output', new Error(problem));
  }
  const kept = known ? detailsOf(details) : { ...detailsOf(details), undeclaredCode: code };
  run.status = 'cancelled';
  run.cancel = Object.freeze({
    ...authorOf(entry),
    code: known ? code : 'other',
    ...(typeof text === 'string' && { text }),
    ...(kept !== undefined && { details: Object.freeze(kept) }),
  });
  step(run, entry, 'cancelled');
  return true;
}

/** What a cancel says beside its code, frozen; what is no plain data is left out, and the cancel says so. */
function detailsOf(details: unknown): Record<string, unknown> | undefined {
  if (details === undefined || details === null) return undefined;
  if (typeof details !== 'object') return { unreadable: 'details must be an object' };
  const problem = freezePlain(details, [], true);
  if (problem === undefined) return details as Record<string, unknown>; // a plain object, checked just now
  return { unreadable: `${problem.path}: ${problem.problem}` };
}

function propose(run: Run, entry: Entry, result: unknown): boolean {
  if (run.observeOnly) return observeOnly(run, entry, 'a candidate');
  const proposals: readonly unknown[] = Array.isArray(result) ? result : [result];
  const candidates: Candidate[] = [];
  for (const proposal of proposals) {
    const read = candidateOf(run, entry, proposal);
    if (typeof read === 'string') return bad(run, entry, read);
    candidates.push(read);
  }
  const before = run.selection;
  for (const candidate of candidates) {
    (run.candidates ??= []).push(candidate);
    if (beats(candidate, run.selection)) run.selection = candidate;
  }
  if (run.selection !== before) run.renewCall();
  return step(run, entry, 'proposed');
}

/** Reads a proposal once; a text says why it is none. */
function candidateOf(run: Run, entry: Entry, proposal: unknown): Candidate | string {
  if (typeof proposal !== 'object' || proposal === null)
    return `a resolver returns select() or an array of them, and it returned ${shape(proposal)}`;
  const { kind, target, explicit, rank } = proposal as Readonly<Record<string, unknown>>;
  if (kind !== 'select')
    return `a resolver returns select() or an array of them, and it returned ${shape(proposal)}`;
  if (typeof explicit !== 'boolean' || typeof rank !== 'number' || !Number.isFinite(rank))
    return 'a candidate needs explicit (true or false) and rank (a finite number): use select()';
  if (typeof target === 'object' && target !== null) {
    const problem = freezePlain(target, [], true);
    if (problem !== undefined) return `its target at ${problem.path}: ${problem.problem}`;
  }
  const invalid = run.merges.misfit(target) ?? refusedByHost(run, target);
  const candidate = { ...authorOf(entry), target, explicit, rank };
  return Object.freeze(invalid === undefined ? candidate : { ...candidate, invalid });
}

function refusedByHost(run: Run, target: unknown): string | undefined {
  const valid = run.given?.valid as ((target: unknown) => true | string) | undefined; // typed per family at dispatch
  try {
    const verdict = valid?.(target) ?? true;
    return verdict === true ? undefined : verdict;
  } catch (thrown) {
    return `the host's predicate threw: ${oneLine(thrown)}`;
  }
}

function observeOnly(run: Run, entry: Entry, what: string): boolean {
  return failed(
    run,
    entry,
    'observe-only',
    new Error(`it returned ${what}, and this dispatch can only be observed: it had no effect`),
  );
}

function bad(run: Run, entry: Entry, problem: string): boolean {
  return failed(run, entry, 'bad-output', new Error(problem));
}

function step(run: Run, entry: Entry, result: Step['result']): false {
  run.steps?.push({
    ...authorOf(entry),
    class: entry.class,
    result,
    ...(run.rechecking && { recheck: true }),
  });
  return false;
}

/** What a wrong result looks like: its keys, or its type. Never its values. */
function shape(result: unknown): string {
  if (Array.isArray(result)) return 'an array';
  if (typeof result !== 'object' || result === null) return `a ${typeof result}`;
  const keys = Object.keys(result);
  return keys.length === 0
    ? 'an object'
    : `an object with ${keys
        .slice(0, 5)
        .map((key) => `"${key}"`)
        .join(', ')}`;
}
