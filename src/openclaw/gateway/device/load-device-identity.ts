import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, link, mkdir, open, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { SluiceError } from 'sluice-kernel';
import { gatewayError } from '../errors.js';
import { type DeviceIdentity, identityOfText, newKeyText } from './device-identity.js';

/** More than any key file has, in bytes. */
const maxKeyFileBytes = 16_384;

/**
 * The identity that a file holds. The file is made if there is none: at once and whole, readable by its owner
 * only; of several processes that make it at the same time, all get the same one. A file that others can read, or that
 * is somebody else's, is refused: whoever has the key can speak as this client.
 *
 * @throws SluiceError `bad-device-key`. Never quotes the key.
 * @example
 * const device = await loadDeviceIdentity(join(homedir(), '.sluice', 'device.pem'));
 */
export async function loadDeviceIdentity(path: string): Promise<DeviceIdentity> {
  const text = (await readKey(path)) ?? (await createKey(path));
  const identity = identityOfText(text);
  if (identity === undefined) throw bad(path, 'it holds no Ed25519 private key in PEM form');
  return identity;
}

async function createKey(path: string): Promise<string> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const draft = `${path}.${randomBytes(6).toString('hex')}.tmp`;
    try {
      await write(draft, newKeyText());
      await link(draft, path).catch(unlessThere); // whole or not at all, and never over another's
    } finally {
      await unlink(draft).catch(() => undefined);
    }
  } catch (error) {
    throw bad(path, `it cannot be written (${codeOf(error)})`);
  }
  const text = await readKey(path);
  if (text === undefined) throw bad(path, 'it was taken away while it was made');
  return text;
}

async function write(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function readKey(path: string): Promise<string | undefined> {
  let file: FileHandle;
  try {
    file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT') return undefined;
    if (code === 'ELOOP') throw bad(path, 'it is a symbolic link');
    throw bad(path, `it cannot be read (${code})`);
  }
  try {
    await mustBePrivate(path, file);
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

async function mustBePrivate(path: string, file: FileHandle): Promise<void> {
  const { mode, uid, size } = await file.stat();
  if ((mode & constants.S_IFMT) !== constants.S_IFREG) throw bad(path, 'it is no file');
  if (size > maxKeyFileBytes) throw bad(path, 'it is too large for a key');
  if (process.platform === 'win32') return; // its files have no such mode
  if (uid !== process.getuid?.()) throw bad(path, 'it belongs to another user');
  const others = mode & 0o077;
  if (others !== 0)
    throw bad(path, `others may use it (its mode is ${(mode & 0o777).toString(8)}, not 600)`);
}

function unlessThere(error: unknown): void {
  if (codeOf(error) !== 'EEXIST') throw error;
}

function codeOf(error: unknown): string {
  return String(Object(error).code ?? 'unknown');
}

function bad(path: string, problem: string): SluiceError {
  return gatewayError('bad-device-key', { path, problem });
}
