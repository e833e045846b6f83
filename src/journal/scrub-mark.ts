import type { UpdateRecord } from './journal.js';

/** The outcomes, as their column has them, of dead letters that were scrubbed: so no table needs a column more. */
const marked = /^scrubbed at (\d+): (.*)$/;

/** Returns whether a row of an update, or its record, is a dead letter that was scrubbed. */
export function isScrubbed(row: {
  readonly outcome?: unknown;
  readonly scrubbedAtMs?: unknown;
}): boolean {
  return row.scrubbedAtMs !== undefined || marked.test(String(row.outcome));
}

/** Puts the time into the outcome of an update, as its column has it. */
export function markedOutcome<
  Fields extends { readonly outcome?: unknown; readonly scrubbedAtMs?: unknown },
>({ scrubbedAtMs: atMs, ...fields }: Fields) {
  if (atMs === undefined) return fields;
  return { ...fields, outcome: `scrubbed at ${atMs}: ${fields.outcome}` };
}

/** Takes the time out of the outcome of a record that was read. */
export function unmarkedOutcome(record: UpdateRecord): UpdateRecord {
  const [, atMs, outcome] = marked.exec(record.outcome ?? '') ?? [];
  if (outcome === undefined) return record;
  return { ...record, outcome: outcome as 'failed', scrubbedAtMs: Number(atMs) }; // one of those of a dead letter
}
