import type { Clock } from 'sluice-kernel';
import type { SqliteDatabase } from '../database/open-sqlite.js';
import { recordsOf } from '../record/export-record.js';
import { proofOf } from '../record/proof.js';
import { RecordChain } from '../record/record-chain.js';
import { Recorder, type RecordOptions } from '../record/recorder.js';
import { newestPlace } from '../record/statements.js';
import { SqliteKeyValues } from '../rows/sqlite-key-values.js';
import { numberGiven } from '../rows/table-rows.js';
import { sqliteRecords } from './sqlite-reader.js';

/** The chains of a journal in a file, and what signs them. */
export type FileRecord = Awaited<ReturnType<typeof fileRecord>>;

/**
 * Goes on with the chains of a file: behind the heads of its last checkpoint, and behind the records that have come since.
 *
 * @throws SluiceError (as a rejection) `bad-record-key`, and what reading throws.
 */
export async function fileRecord(database: SqliteDatabase, options: RecordOptions, clock: Clock) {
  const chain = new RecordChain((isPersisted) => isPersisted && recorder.grows());
  const last = await newestPlace(new SqliteKeyValues(database, () => clock.now()));
  const lastSeq = (): number => numberGiven(database, 'dispatches'); // no number is given twice
  const recorder = new Recorder({ ...options, chain, clock, lastSeq, last });
  for (const [slot, head] of last.heads) chain.set(slot, head);
  for await (const one of recordsOf(sqliteRecords(database), last.seq)) {
    const proof = proofOf(one);
    if (proof !== undefined && one.seq > last.seq) chain.set(proof.slot, proof, false);
  }
  return { chain, recorder };
}
