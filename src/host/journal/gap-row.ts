import type { NewDispatch } from './journal.js';

/** The record in the place of others that could not be written (sight §2.1). */
export function gapRow(count: number, atMs: number): NewDispatch {
  const kind = 'gap';
  const fact = { kind, id: `gap-${atMs}`, correlationId: '', atMs, count, why: 'dropped' };
  return {
    ...{ eventId: fact.id, family: kind, correlationId: '', sessionId: null, status: 'passed' },
    ...{ occurredAtMs: atMs, omitted: kind, body: JSON.stringify(fact) },
  };
}

/** The number of records in whose place a gap stands. */
export function countOf({ body }: NewDispatch): number {
  return (JSON.parse(body) as { readonly count: number }).count; // as `gapRow` wrote it
}
