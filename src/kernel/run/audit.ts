import { kernelError } from '../errors.js';
import { Notes } from '../merge/notes.js';
import { Work } from '../merge/work.js';
import type { AuditRecord, AuditVerdict } from '../outcome/audit.js';
import { authorOf, codes, type Entry } from '../outcome/entry.js';
import type { Author, FailureKind } from '../outcome/outcome.js';
import { type Logger, silentLogger } from '../stage/ports.js';
import { Timer } from '../stage/waits.js';
import { isThenable, whenSettled } from '../value/thenable.js';
import { accept } from './accept.js';
import { abandonCall, HandlerCall, sourceOf } from './services/call.js';
import { ContributionOwn } from './services/own.js';
import { Counters, type Services, Taps } from './services/services.js';
import { changesOf } from './state/changes.js';
import { failed } from './state/failures.js';
import { notifyTap } from './state/notify-tap.js';
import { Run } from './state/run.js';

/**
 * Makes the entry that stands for a handler in audit mode (judgement §3): it is called in its place, and what it returns is taken by
 * a dispatch of its own, which has no effect on anybody.
 */
export function auditedEntry(entry: Entry, logger: Logger): Entry {
  const { extensionId, contributionId, handler } = entry;
  const own = new AuditedOwn(extensionId, contributionId, logger);
  return {
    ...entry,
    code: codes.audited,
    policy: 'open',
    own,
    handler: (call) => {
      const run = sourceOf(call) as Run; // the loops give a call of the kernel
      const its = new HandlerCall(run, run.context); // its own: what it reads and aborts is nobody else's
      if (run.services.strict) Object.freeze(its);
      callAudited(run, its, entry, () => handler(its, own));
    },
  };
}

/** The `own` of an audited handler: it may not dispatch. */
class AuditedOwn extends ContributionOwn {
  override get dispatch(): () => never {
    const { extensionId, contributionId } = this;
    return () => {
      throw kernelError('audited-dispatch', { extensionId, contributionId });
    };
  }

  static {
    Object.freeze(AuditedOwn.prototype); // one handler cannot change what the others have
  }
}

function callAudited(run: Run, call: HandlerCall, entry: Entry, handler: () => unknown): void {
  const shadow = shadowOf(run, entry);
  const { pass } = call;
  let result: unknown;
  try {
    result = handler();
  } catch (thrown) {
    conclude(run, entry, pass, failure(shadow, entry, 'threw', thrown));
    return;
  }
  if (typeof result === 'object' && result !== null && isThenable(result)) {
    awaitAudited(run, call, entry, shadow, result);
    return;
  }
  conclude(run, entry, pass, verdictOf(shadow, entry, result));
}

/** Lets an async handler go on by itself. Its time is its own: nobody waits for it. */
function awaitAudited(
  run: Run,
  call: HandlerCall,
  entry: Entry,
  shadow: Run,
  pending: PromiseLike<unknown>,
): void {
  const { pass } = call;
  let isOpen = true;
  const timer = new Timer(run.services.clock);
  const end = (report: () => Verdict): void => {
    if (!isOpen) return;
    isOpen = false;
    timer.clear();
    conclude(run, entry, pass, report());
  };
  void call.payload; // as it stands: what the others make of it is not for this one
  whenSettled(
    pending,
    (value) => end(() => verdictOf(shadow, entry, value)),
    (reason) => end(() => failure(shadow, entry, 'threw', reason)),
  );
  if (run.plan.stage.mode === 'sync-sequential') {
    const problem = new Error('it returned a promise on a sync-sequential stage');
    end(() => failure(shadow, entry, 'async-in-sync', problem));
    return;
  }
  timer.setIdly(entry.timeoutMs, () =>
    end(() => {
      const reason = new Error(`it took longer than ${entry.timeoutMs} ms`);
      abandonCall(call, entry, reason);
      return failure(shadow, entry, 'timed-out', reason);
    }),
  );
}

type Verdict = Omit<AuditRecord, 'eventId' | 'family' | 'class' | 'pass' | keyof Author>;

function conclude(run: Run, entry: Entry, pass: string, verdict: Verdict): void {
  const { services, family } = run;
  const { eventId } = run.event;
  const record: AuditRecord = Object.freeze({
    ...authorOf(entry),
    ...{ eventId, family, class: entry.class, pass },
    ...verdict,
  });
  services.counters.audits++;
  if (verdict.verdict === 'cancel' || verdict.verdict === 'ask')
    services.counters.auditObjections++;
  if (verdict.failure !== undefined) services.counters.auditFailures++;
  notifyTap(services, 'audit', (tap) => tap.audit?.(record, run.event));
}

/**
 * A dispatch of its own with the payload, the annotations and the laws as the handler finds them: its result is accepted there, by the
 * rules that hold for every handler.
 */
function shadowOf(run: Run, entry: Entry): Run {
  const { services, work } = run;
  const payload = work === undefined ? run.emitted : work.shownTo({}); // a copy that nobody writes
  const { eventId } = run.event;
  const shadow = new Run(
    { ...run.plan, services: quiet(services) },
    payload,
    { eventId },
    run.upstream,
    run.annotations,
    run.terms,
    run.occurredAt,
    run.stampMs,
    run.sequence,
    run.depth,
  );
  shadow.context = run.context;
  if (entry.code === codes.mutator && work?.states !== undefined) {
    shadow.work = new Work(payload, run.merges, true, entry);
    shadow.work.states = new Map(work.states);
  }
  const { notes } = run.cold;
  if (entry.code === codes.augmenter && notes?.states !== undefined) {
    shadow.cold.notes = new Notes(run.annotations, entry);
    shadow.cold.notes.states = new Map(notes.states);
  }
  return shadow;
}

/** Services that nobody hears. */
function quiet(services: Services): Services {
  const { surface, clock, ids, deadlines, callbacks, inFlight, stillRunning, strict } = services;
  return {
    ...{ surface, clock, ids, deadlines, callbacks, inFlight, stillRunning, strict },
    logger: silentLogger,
    taps: new Taps(),
    trace: false,
    counters: new Counters(),
    quarantine: undefined,
    MatchIndex: undefined, // it has a plan
    merges: (family) => services.merges(family),
    nest: (...given) => services.nest(...given),
    planUnwatched: () => undefined,
  };
}

function failure(shadow: Run, entry: Entry, kind: FailureKind, thrown: unknown): Verdict {
  failed(shadow, entry, kind, thrown);
  return { verdict: 'failed', ...failureIn(shadow) };
}

function failureIn({ failures }: Run): Pick<Verdict, 'failure'> {
  const last = failures?.at(-1);
  return last === undefined ? {} : { failure: { kind: last.kind, message: last.message } };
}

/** Says what a result would have done. */
function verdictOf(shadow: Run, entry: Entry, result: unknown): Verdict {
  const before = shadow.annotations;
  try {
    accept(shadow, entry, 0, result);
  } catch (thrown) {
    return failure(shadow, entry, 'threw', thrown);
  }
  const beside = failureIn(shadow);
  const question = shadow.questions?.get(entry);
  if (question !== undefined) return { verdict: 'ask', text: question.title, ...beside };
  const { cancel } = shadow;
  if (cancel !== undefined) {
    const { code, text } = cancel;
    return { verdict: 'cancel', code, ...(text !== undefined && { text }), ...beside };
  }
  if (beside.failure !== undefined) return { verdict: 'failed', ...beside };
  if (result === undefined || result === null) return { verdict: 'nothing' };
  if (entry.class === 'veto') return { verdict: 'allow' };
  if (entry.class === 'resolver')
    return { verdict: 'propose', candidates: Object.freeze(shadow.candidates ?? []) };
  if (entry.class === 'augmenter')
    return written('annotate', keysWritten(before, shadow.annotations), shadow.annotations);
  const paths = changesOf(shadow).flatMap(({ path, overruled }) =>
    overruled === true ? [] : [path],
  );
  return written('patch', paths, shadow.work?.final ?? {});
}

function written(verdict: AuditVerdict, paths: readonly string[], in_: object): Verdict {
  if (paths.length === 0) return { verdict: 'nothing' };
  const digests = [...new Set(paths)].map((path) => ({ path, digest: digestOf(at(in_, path)) }));
  return { verdict, paths: digests };
}

function keysWritten(before: object, after: object): string[] {
  return Object.keys(after).filter((key) => at(before, key) !== at(after, key));
}

/** The value at the path of a change: a field, or a key of a field. */
function at(value: object, path: string): unknown {
  const fields = value as Readonly<Record<string, unknown>>;
  if (Object.hasOwn(fields, path)) return fields[path];
  const [, field = '', rest = ''] = /^([^.[]*)(.*)$/s.exec(path) ?? [];
  const key = rest.startsWith('.')
    ? rest.slice(1)
    : (JSON.parse(`[${rest.slice(1, -1)}]`)[0] as string);
  return Object(fields[field])[key];
}

/**
 * A digest of plain data, to tell two values apart without keeping them: 16 hexadecimal digits. It is no secret keeper: who can guess a
 * value can check the guess.
 *
 * @example
 * digestOf({ a: 1 }) === digestOf({ a: 1 }); // true
 */
function digestOf(value: unknown): string {
  const text = textOf(value);
  let left = 0x811c9dc5; // FNV-1a, twice, from two beginnings
  let right = 0x01000193;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    left = Math.imul(left ^ unit, 0x01000193);
    right = Math.imul(right ^ (unit + i), 0x01000193);
  }
  return hex(left) + hex(right);
}

function textOf(value: unknown): string {
  try {
    const plain = (_: string, one: unknown): unknown => (typeof one === 'bigint' ? `${one}n` : one);
    return JSON.stringify(value, plain) ?? 'undefined';
  } catch {
    return 'unreadable'; // a cycle
  }
}

function hex(word: number): string {
  return (word >>> 0).toString(16).padStart(8, '0');
}
