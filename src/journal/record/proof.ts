import { hash, randomFillSync } from 'node:crypto';
import type { NewDispatch } from '../journal.js';

/** The last record of a chain: its number, which counts from 1, and its digest. */
export interface Head {
  readonly number: number;
  readonly digest: string;
}

/** The place of a record in the chain of its slot, with what its body is checked by: its salt, or the digest that is left of it. */
export interface Proof extends Head {
  readonly slot: number;
  /** Gone with the text of a record that was forgotten. */
  readonly salt?: string;
  readonly bodyDigest?: string;
}

/** The beginning of each chain. */
export const noHead: Head = { number: 0, digest: '' };

const saltBytes = 16;
const pool = Buffer.alloc(256 * saltBytes);
let drawn = pool.length;

/** Draws a salt: from many at once, because a single draw costs as much as a digest. */
function newSalt(): string {
  if (drawn === pool.length) {
    randomFillSync(pool);
    drawn = 0;
  }
  drawn += saltBytes;
  return pool.toString('base64url', drawn - saltBytes, drawn);
}

const digestOfBody = (salt: string, body: string): string =>
  hash('sha256', salt + body, 'base64url');

/** A text as each database keeps it (durability §11.8). */
const persisted = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is replaced
  /[\u0000\ud800-\udfff]/.test(text)
    ? Buffer.from(text.replaceAll('\u0000', '\ufffd')).toString()
    : text;

/** The digest of a record: SHA-256 over canonical JSON of its metadata, the salted digest of its body and the digest before it. */
function digestOfRecord(
  record: Omit<NewDispatch, 'body' | 'proof'>,
  { slot, number, bodyDigest }: Omit<Proof, 'digest'> & { readonly bodyDigest: string },
  before: string,
  seq: number | null,
): string {
  const {
    correlationId,
    eventId,
    family,
    occurredAtMs,
    omitted = null,
    sessionId,
    status,
  } = record;
  // its keys are in their order, so this is canonical; a literal, because each record is written so
  const metadata = JSON.stringify({
    before,
    body: bodyDigest,
    correlationId: persisted(correlationId),
    eventId: persisted(eventId),
    family,
    number,
    occurredAtMs,
    omitted,
    seq,
    sessionId: sessionId === null ? null : persisted(sessionId),
    slot,
    status,
  });
  return hash('sha256', metadata, 'base64url');
}

/**
 * Writes the proof of a record that follows another one in the chain of a slot.
 *
 * @param seq its number in the journal, if that is known before it is written.
 */
export function proven(
  record: NewDispatch,
  slot: number,
  before: Head,
  seq: number | null,
): [string, Head] {
  const number = before.number + 1;
  const salt = newSalt();
  const place = { slot, number, bodyDigest: digestOfBody(salt, record.body) };
  const digest = digestOfRecord(record, place, before.digest, seq);
  return [`${slot}.${number}.${salt}.${digest}`, { number, digest }];
}

const written = /^(0|[1-9]\d{0,3})\.([1-9]\d{0,14})\.([\w-]{22})?\.([\w-]{43})(?:\.([\w-]{43}))?$/;

/** Reads the proof of a record; `undefined` if it is none. */
export function proofOf({ proof = '' }: Pick<NewDispatch, 'proof'>): Proof | undefined {
  const [, slot, number, salt, digest = '', bodyDigest] = written.exec(proof) ?? [];
  if ((salt === undefined) === (bodyDigest === undefined)) return undefined; // one of them
  const place = { slot: Number(slot), number: Number(number), digest };
  return salt === undefined ? { ...place, ...(bodyDigest && { bodyDigest }) } : { ...place, salt };
}

/** The proof of a record whose text is gone: the digest of its body stays, and its salt goes. */
export function forgottenProof(record: Pick<NewDispatch, 'proof' | 'body'>): string | undefined {
  const { slot, number, digest, salt } = proofOf(record) ?? {};
  if (salt === undefined) return record.proof; // it was forgotten before, or is in no chain
  return `${slot}.${number}..${digest}.${digestOfBody(salt, record.body)}`;
}

/** Returns whether a record is as it was written behind another one. The text that is left of a forgotten one is not looked at. */
export function follows(
  record: NewDispatch,
  proof: Proof,
  before: Head,
  seq: number | null,
): boolean {
  const { salt, bodyDigest = '', digest } = proof;
  const { omitted, ...others } = record;
  if (salt !== undefined) {
    const place = { ...proof, bodyDigest: digestOfBody(salt, record.body) };
    return digestOfRecord(record, place, before.digest, seq) === digest;
  }
  if (omitted === undefined) return false; // it says that it was forgotten, or had a mark before
  const was = omitted === 'forgotten' ? others : record;
  return digestOfRecord(was, { ...proof, bodyDigest }, before.digest, seq) === digest;
}
