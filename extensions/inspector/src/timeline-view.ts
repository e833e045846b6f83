import { type AuditRecord, canonicalStages, explain } from 'sluice';
import { type DispatchEntry, foldTimeline, type TimelineEntry } from 'sluice/host';
import { messageOf, payloadAfter } from './message.js';
import { RequestProblem } from './problem.js';
import { storyOf } from './story.js';

/** Characters of a value that a difference shows. */
const shownOfValue = 2_000;
/** Characters of a payload that is asked for. */
const shownOfPayload = 1_000_000;

/** Puts the entries of a message together for its page: who wrote what, what came of it, and the timeline. */
export function timelineView(entries: readonly TimelineEntry[], mayText: boolean, nowMs: number) {
  const { update, dispatches, audits, waitedMs, begun, missing } = foldTimeline(entries);
  const newest = update.at(-1);
  const isOpen = newest !== undefined && newest.state !== 'ended' && newest.state !== 'dead';
  const untilMs = Math.max(...entries.map(({ atMs }) => atMs), ...(isOpen ? [nowMs] : []));
  const { correlationId = '' } = entries[0] ?? {};
  return {
    ...{ correlationId, message: messageOf(entries, mayText), waitedMs, begun, missing },
    /** Its end, or now if it is open. */
    untilMs,
    told: storyOf(entries, mayText, untilMs),
    stages: dispatches.map((entry) => stageView(entry, audits.get(entry.id) ?? [])),
  };
}

function stageView(entry: DispatchEntry, audits: readonly { readonly record: AuditRecord }[]) {
  const { id, atMs, outcome } = entry;
  const { event, status, steps } = outcome;
  const stage = canonicalStages.find(({ family }) => family === event.family);
  const times = steps.map(({ durationMs = 0 }) => durationMs);
  const [verdict, ...lines] = explain(outcome, { audits: audits.map(({ record }) => record) });
  return {
    ...{ id, atMs, family: event.family, status, steps, omitted: outcome.omitted },
    verdict: verdict?.words,
    /** The lines that the tables of handlers and of changes do not show. */
    lines: lines.filter(({ kind }) => kind !== 'step' && kind !== 'change'),
    handlerBudgetMs: stage?.timeoutMs,
    /** The time of its handlers: of the slowest, if they run at once. */
    tookMs:
      stage?.mode === 'parallel' ? Math.max(0, ...times) : times.reduce((sum, ms) => sum + ms, 0),
    changes: changesOf(entry),
  };
}

/** Each field that was written, with its authors in order, and what was and is there. */
function changesOf(entry: DispatchEntry) {
  const { changes, event } = entry.outcome;
  const after = payloadAfter(entry);
  return [...new Set(changes.map(({ path }) => path))].map((path) => {
    const writes = changes.filter((one) => one.path === path);
    return {
      path,
      writes,
      isConflict: writes.length > 1,
      before: textOf(valueAt(event.payload, path), shownOfValue),
      after: textOf(valueAt(after, path), shownOfValue),
    };
  });
}

function valueAt(payload: unknown, path: string): unknown {
  const own = (at: unknown, key: string): unknown =>
    Object.hasOwn(Object(at), key) ? Object(at)[key] : undefined;
  return own(payload, path) ?? path.split('.').reduce(own, payload);
}

/** The payload of a dispatch before and after its stage. @throws RequestProblem if there is none. */
export function payloadView(entries: readonly TimelineEntry[], id: string) {
  const entry = entries.find((one) => one.kind === 'dispatch' && one.id === id);
  if (entry?.kind !== 'dispatch') throw new RequestProblem('the journal has no such dispatch');
  const { outcome } = entry;
  const { omitted } = outcome;
  if (omitted !== undefined)
    throw new RequestProblem(`the journal has kept it without its payload: ${omitted}`);
  return {
    before: textOf(outcome.event.payload, shownOfPayload),
    after: textOf(payloadAfter(entry), shownOfPayload),
  };
}

function textOf(value: unknown, most: number): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 1);
  if (text === undefined) return '';
  return text.length > most ? `${text.slice(0, most)}… (${text.length} characters)` : text;
}
