import type { Clock } from 'sluice-kernel';
import type { SqliteDatabase } from '../database/open-sqlite.js';
import { entryKinds } from '../entry-kinds.js';
import { numberOf } from '../file/journal-file.js';
import { proofOf } from '../record/proof.js';
import { RecordChain } from '../record/record-chain.js';
import { Recorder, type RecordOptions } from '../record/recorder.js';
import { headsIn, recordNamespace } from '../record/statements.js';
import { SqliteKeyValues } from '../rows/sqlite-key-values.js';
import { sqliteRecords } from './sqlite-reader.js';

/** The chains of a journal in a file, and what signs them. */
export type FileRecord = Awaited<ReturnType<typeof fileRecord>>;

const page = 1_000;

/**
 * Goes on with the chains of a file: behind the heads of its last checkpoint, and behind the records that have come since.
 *
 * @throws SluiceError (as a rejection) `bad-record-key`, and what reading throws.
 */
export async function fileRecord(database: SqliteDatabase, options: RecordOptions, clock: Clock) {
  const chain = new RecordChain((isPersisted) => isPersisted && recorder.grows());
  const lastSeq = (): number => numberOf(database, 'SELECT max(seq) FROM dispatches');
  const recorder = new Recorder({ ...options, chain, clock, lastSeq, keepsHeads: true });
  const values = new SqliteKeyValues(database, () => clock.now());
  const kept = await values.get(recordNamespace, 'heads');
  const { seq = 0, heads = [] } = kept === undefined ? {} : JSON.parse(kept.body);
  for (const [slot, head] of headsIn({ heads })) chain.set(slot, head);
  const { dispatches } = sqliteRecords(database);
  for (let afterSeq: number | undefined = Number(seq); afterSeq !== undefined; ) {
    const records = await dispatches({ afterSeq, limit: page, kinds: entryKinds });
    for (const one of records) {
      const proof = proofOf(one);
      if (proof !== undefined) chain.set(proof.slot, proof, false);
    }
    afterSeq = records.length < page ? undefined : records.at(-1)?.seq;
  }
  return { chain, recorder };
}
