import { appendFileSync } from 'node:fs';
import type { KeyValues } from '@sluice/sdk/extension';
import { type Clock, oneLine, Timer } from 'sluice-kernel/internal';
import { makePrivate } from '../database/private-file.js';
import { journalError } from '../errors.js';
import type { RecordChain } from './record-chain.js';
import { hostKey, type RecordKey, type Signed, signed } from './record-key.js';
import {
  checkpointKey,
  digestOfHeads,
  type HeadsStatement,
  type KeyStatement,
  listed,
  newestPlace,
  type Place,
  placeBehind,
  placeOf,
  readCut,
  recordNamespace,
  recordValues,
  statementIn,
} from './statements.js';

/** The options of a record that proves itself (record §1). */
export interface RecordOptions {
  /** The path of the file with the key that signs; it is made if it is not there. */
  readonly keyFile: string;
  /** The path of a file to which each checkpoint is appended, a line each: to keep elsewhere. */
  readonly checkpointFile?: string;
  /** Hears why a checkpoint could not be signed, kept, or kept elsewhere. It is tried again within a minute. */
  readonly onFailure?: (error: unknown) => void;
}

/** The parts of a recorder. */
interface RecorderParts extends RecordOptions {
  readonly chain: RecordChain;
  readonly clock: Clock;
  /** The number of the last row that is persisted. */
  readonly lastSeq: () => number | Promise<number>;
  /** The last checkpoint, as far as it was read. */
  readonly last?: Place;
}

/** Hosts that sign at once take turns; more than that is no turn. */
const mostTries = 50;

/** Milliseconds between the first record that no checkpoint has, and the checkpoint. */
const checkpointAfterMs = 60_000;

/** The part of the checkpoints that goes at once when a file is too large. */
const cutPart = 1 / 8;

/** Signs checkpoints of chains, and says up to where records may be dropped. */
export class Recorder {
  readonly #parts: RecorderParts;
  readonly #due: Timer;
  #values: KeyValues | undefined;
  #begin: () => void = () => undefined;
  readonly #begun = new Promise<void>((resolve) => {
    this.#begin = resolve;
  });
  #key: RecordKey;
  #last: Place | undefined;
  /** The last checkpoint, until it is kept elsewhere. */
  #missing: Signed<HeadsStatement> | undefined;
  #signing: Promise<void> = Promise.resolve();

  /** @throws SluiceError `bad-record-key`. */
  constructor(parts: RecorderParts) {
    this.#parts = parts;
    this.#key = hostKey(parts.keyFile);
    this.#last = parts.last;
    this.#due = new Timer(parts.clock);
  }

  /** Begins the record, unless it has begun: rows up to the last one are in no chain. */
  async start(values: KeyValues): Promise<void> {
    this.#values = values;
    if ((await readCut(values)) === undefined)
      await this.#write('cut', { ...placeOf(undefined), seq: await this.#parts.lastSeq() }, null); // another host may have
    this.#begin();
    this.grows(); // the host before may have left some
  }

  /** Says that there are records that no checkpoint has. */
  grows(): void {
    if (!this.#due.isSet) this.#due.setIdly(checkpointAfterMs, () => void this.sign());
  }

  /** Signs a checkpoint of the chains that have grown, if there are any. Never rejects. */
  sign(): Promise<void> {
    this.#due.clear();
    this.#signing = this.#signing.then(() => this.#sign());
    return this.#signing;
  }

  async #sign(): Promise<void> {
    const { chain, checkpointFile, onFailure } = this.#parts;
    const unsigned = chain.takeUnsigned();
    let isMade = unsigned.size === 0;
    try {
      if (!isMade) this.#missing = await this.#checkpoint(unsigned);
      isMade = true;
      if (this.#missing !== undefined && checkpointFile !== undefined)
        keepElsewhere(checkpointFile, this.#missing); // it proves those before it, too
      this.#missing = undefined;
    } catch (error) {
      if (!isMade) chain.giveBack(unsigned);
      onFailure?.(error);
      this.grows();
    }
  }

  async #checkpoint(grown: Place['heads']): Promise<Signed<HeadsStatement>> {
    const seq = await this.#parts.lastSeq();
    await this.#takeKey();
    for (let tries = 0; tries < mostTries; tries++) {
      const { number, digest, heads } = await this.#newest();
      const next = { number: number + 1, digest, seq, heads: new Map([...heads, ...grown]) };
      const made = await this.#write(checkpointKey(next.number), next, null, grown);
      if (made !== undefined) return made;
    }
    throw journalError('record-not-signed', { tries: mostTries });
  }

  /** Takes the key that is in the file now. The one before signs it. */
  async #takeKey(): Promise<void> {
    const old = this.#key;
    this.#key = hostKey(this.#parts.keyFile);
    if (old.id === this.#key.id || this.#values === undefined) return;
    await signNext(this.#values, old, this.#key, this.#parts.clock.now());
  }

  async #newest(): Promise<Place> {
    this.#last = await newestPlace(this.#open, this.#last);
    return this.#last;
  }

  get #open(): KeyValues {
    if (this.#values !== undefined) return this.#values;
    throw journalError('database-closed', { path: 'of a record' });
  }

  /**
   * Says that records may be dropped up to the last checkpoint before a time; without one, those of the oldest eighth of the
   * checkpoints.
   *
   * @returns the heads and the row up to which records may be dropped now, and whether there are more of them than before.
   */
  async cut(beforeMs?: number): Promise<Place & { readonly hasMore: boolean }> {
    await this.#begun;
    const was = await readCut(this.#open);
    const none = { ...placeOf(was), hasMore: false };
    if (was === undefined) return none;
    if (beforeMs === undefined) await this.sign();
    const { number: newest } = await this.#newest();
    const most = was.number + Math.ceil((newest - was.number) * cutPart);
    let place: Place = none;
    const next = checkpointKey(was.number);
    for await (const { body } of recordValues(this.#open, 'checkpoint/', next)) {
      const one = statementIn(body);
      if (one?.kind !== 'checkpoint') break;
      if (beforeMs === undefined ? one.number > most : one.atMs > beforeMs) break;
      place = placeBehind(place, one);
    }
    if (place.number === was.number) return none;
    if ((await this.#write('cut', place, was.version)) === undefined) return none; // another host was first
    for await (const { key } of recordValues(this.#open, 'checkpoint/')) {
      if (key >= checkpointKey(place.number)) break; // that one proves the cut
      await this.#open.write(recordNamespace, key, undefined, { quota });
    }
    return { ...place, hasMore: true };
  }

  /** @param grown the heads of a checkpoint; without them it is a cut. @returns nothing if another host was first. */
  async #write(key: string, place: Place, expected: string | null, grown?: Place['heads']) {
    const { number, digest: before, seq, heads } = place;
    const kind = grown === undefined ? ('cut' as const) : ('checkpoint' as const);
    const about = { kind, number, before, atMs: this.#parts.clock.now(), seq };
    const said = { ...about, heads: listed(grown ?? heads), all: digestOfHeads(heads) };
    const made = signed(said, this.#key);
    const value = { body: JSON.stringify(made) };
    const { status } = await this.#open.write(recordNamespace, key, value, { expected, quota });
    return status === 'written' ? made : undefined;
  }

  /** Signs what no checkpoint has, for the last time. */
  async close(): Promise<void> {
    if (this.#values !== undefined) await this.sign();
    this.#due.clear();
  }
}

/** There is room for what a host needs; with a quota the namespace is counted. */
const quota = { maxKeys: Number.MAX_SAFE_INTEGER, maxBytes: Number.MAX_SAFE_INTEGER };

/** Keeps the statement that another key signs from now on. */
export async function signNext(
  values: KeyValues,
  old: RecordKey,
  next: RecordKey,
  atMs: number,
): Promise<void> {
  const statement: KeyStatement = { kind: 'key', next: next.id, atMs };
  const body = JSON.stringify(signed(statement, old));
  await values.write(recordNamespace, `key/${next.id}`, { body }, { expected: null, quota });
}

/** @throws SluiceError `record-not-kept-elsewhere`: the checkpoint is in the journal all the same. */
function keepElsewhere(path: string, checkpoint: Signed<HeadsStatement>): void {
  try {
    makePrivate(path, []);
    appendFileSync(path, `${JSON.stringify(checkpoint)}\n`);
  } catch (error) {
    throw journalError('record-not-kept-elsewhere', { path, problem: oneLine(error) });
  }
}
