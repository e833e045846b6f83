import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { oneLine } from 'sluice-kernel/internal';
import { entryAt } from '../database/private-file.js';
import { journalError } from '../errors.js';
import { canonicalJson } from './canonical-json.js';

/** The key that a host signs with: Ed25519. `id` is its public half, as raw bytes in base64url. */
export interface RecordKey {
  readonly id: string;
  readonly key: KeyObject;
}

/** A statement with the public half of the key that has signed it, and the signature. */
export type Signed<Statement extends object = object> = Statement & {
  readonly key: string;
  readonly signature: string;
};

/** The bytes before those of a raw public key of Ed25519. */
const head = Buffer.from('302a300506032b6570032100', 'hex');

const idOf = (key: KeyObject): string =>
  key.export({ type: 'spki', format: 'der' }).subarray(head.length).toString('base64url');

/** Reads the public half of a key from its file, which may also have the private one: PEM. */
export function publicKeyIn(path: string): string {
  return readKey(path, (pem) => idOf(createPublicKey(pem)));
}

/**
 * Reads the key of a host, or makes it: a file of mode 0600.
 *
 * @throws SluiceError `bad-record-key`.
 */
export function hostKey(path: string): RecordKey {
  const { mode } = entryAt(path) ?? {};
  if (mode === undefined) return newKey(path, path);
  if (process.platform !== 'win32' && (mode & 0o077) !== 0)
    throw keyError(path, `others may read it: its mode is ${(mode & 0o777).toString(8)}`);
  return readKey(path, (pem) => {
    const key = createPrivateKey(pem);
    return { id: idOf(createPublicKey(pem)), key };
  });
}

/** Puts a new key in the place of the one of a host. @param before is called with both before the old one is gone. */
export async function rotateKey(
  path: string,
  before: (old: RecordKey, next: RecordKey) => Promise<void>,
): Promise<RecordKey> {
  const old = hostKey(path);
  const beside = `${path}.new-${process.pid}`;
  const next = newKey(beside, path);
  await before(old, next);
  renameSync(beside, path);
  return next;
}

function newKey(path: string, named: string): RecordKey {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  try {
    const file = openSync(path, 'wx', 0o600);
    writeSync(file, `${privateKey.export({ type: 'pkcs8', format: 'pem' })}`);
    fsyncSync(file);
    closeSync(file);
  } catch (error) {
    throw keyError(named, oneLine(error));
  }
  return { id: idOf(publicKey), key: privateKey };
}

function readKey<T>(path: string, read: (pem: string) => T): T {
  try {
    return read(readFileSync(path, 'utf8'));
  } catch (error) {
    throw keyError(path, oneLine(error));
  }
}

const keyError = (path: string, problem: string) =>
  journalError('bad-record-key', { path, problem });

/** Signs a statement. */
export function signed<Statement extends object>(
  statement: Statement,
  { id, key }: RecordKey,
): Signed<Statement> {
  const whole = { ...statement, key: id };
  const bytes = sign(null, Buffer.from(canonicalJson(whole)), key);
  return { ...whole, signature: bytes.toString('base64url') };
}

/** Returns whether the key that a statement names has signed it. */
export function isSigned({ signature, ...whole }: Signed): boolean {
  try {
    const der = Buffer.concat([head, Buffer.from(whole.key, 'base64url')]);
    const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
    const given = Buffer.from(signature, 'base64url');
    const isWhole = given.toString('base64url') === signature; // no other text for the same bytes
    return isWhole && verify(null, Buffer.from(canonicalJson(whole)), key, given);
  } catch {
    return false;
  }
}
