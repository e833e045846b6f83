import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type NewDispatch,
  openJournal,
  type RecordOptions,
  readJournal,
} from '../../../src/journal/index.js';
import {
  entryKinds,
  exportRecord,
  readExport,
  recordOf,
  statementIn,
  type VerifiedRecord,
  verifyRecord,
} from '../../../src/journal/internal.js';
import { testFolder } from '../../support/folder.js';
import { aDispatch } from '../journal-contract.js';

/** A folder with the path of a journal that proves its records. */
export function recordPlace() {
  const folder = testFolder();
  const record: RecordOptions = {
    keyFile: join(folder, 'key'),
    checkpointFile: join(folder, 'elsewhere.jsonl'),
  };
  return { folder, path: join(folder, 'sluice.db'), record };
}

/** Dispatches of some messages, in turns, and an entry of another kind. */
export function someDispatches(count: number, messages = 3, from = 0): NewDispatch[] {
  return Array.from({ length: count }, (_, nth) => {
    const at = from + nth;
    return aDispatch(`e-${at}`, {
      correlationId: at % 7 === 6 ? '' : `u-${at % messages}`,
      sessionId: at % 2 === 0 ? 's-1' : null,
      occurredAtMs: 1_000 + at,
      body: JSON.stringify({ at, text: `what "${at}" said, with ä and 😀` }),
      ...(at % 5 === 4 && { omitted: 'audit' as const }),
    });
  });
}

/** Writes dispatches in several transactions, and closes the journal. */
export async function writeRecord(
  { path, record }: ReturnType<typeof recordPlace>,
  dispatches: readonly NewDispatch[],
  perTransaction = 8,
): Promise<void> {
  const journal = await openJournal(path, { record, keepForMs: Number.POSITIVE_INFINITY });
  for (let at = 0; at < dispatches.length; at += perTransaction) {
    for (const one of dispatches.slice(at, at + perTransaction)) journal.dispatched(one);
    await journal.dispatches({ limit: 1, kinds: entryKinds }); // waits until they are written
  }
  await journal.close();
}

/** Verifies the journal in a file as `sluice verify` does. */
export async function verifyFile(
  path: string,
  trusted: Partial<Parameters<typeof verifyRecord>[1]> = {},
): Promise<VerifiedRecord> {
  const damages: string[] = [];
  await using reader = await readJournal(path, {
    onDamaged: ({ problem }) => damages.push(problem),
  });
  const verified = await verifyRecord(await recordOf(reader, true), {
    ...{ keys: [], checkpoints: [] },
    ...trusted,
  });
  const damaged = damages.map((problem) => ({ kind: 'changed' as const, problem }));
  return { ...verified, findings: [...damaged, ...verified.findings] };
}

/** The lines of an export of the journal in a file. */
export async function exportedLines(path: string, sinceMs?: number): Promise<string[]> {
  await using reader = await readJournal(path);
  const lines: string[] = [];
  for await (const one of exportRecord(reader, true, sinceMs)) lines.push(JSON.stringify(one));
  return lines;
}

/** Verifies lines that were exported. */
export async function verifyLines(
  lines: readonly string[],
  trusted: Partial<Parameters<typeof verifyRecord>[1]> = {},
): Promise<VerifiedRecord | undefined> {
  async function* given() {
    yield* lines;
  }
  const read = await readExport(given());
  if (read === undefined) return undefined;
  const verified = await verifyRecord(read.source, { keys: [], checkpoints: [], ...trusted });
  return { ...verified, findings: [...verified.findings, ...read.findings] };
}

/** The last checkpoint that is kept elsewhere, as a trust. */
export function checkpointsIn({ record }: ReturnType<typeof recordPlace>) {
  const kept = readFileSync(String(record.checkpointFile), 'utf8').trimEnd().split('\n');
  const checkpoints = kept.slice(-1).flatMap((line) => {
    const one = statementIn(line);
    return one?.kind === 'checkpoint' ? [one] : [];
  });
  return { checkpoints };
}
