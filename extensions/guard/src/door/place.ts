import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';

/** The place where a guard listens, with the token that it asks for. */
export interface DoorPlace {
  readonly port: number;
  /** Absent where there are no Unix sockets, or the path is too long for one. */
  readonly socketPath?: string;
  readonly token: string;
}

/** Bytes of the path of a Unix socket that every system takes. */
const longestSocketPath = 103;

/**
 * The token of the guard of a folder. It is made at the first call, for the user of the folder alone.
 *
 * @throws Error if others may read it.
 */
export async function tokenOf(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
  const file = join(folder, 'token');
  const made = randomBytes(32).toString('base64url');
  try {
    await writeFile(file, made, { flag: 'wx', mode: 0o600 });
    return made;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown;
  }
  const { mode } = await stat(file);
  if (process.platform !== 'win32' && (mode & 0o077) !== 0)
    throw new Error(`others may read ${file}: delete it, and start the guard again`);
  const token = (await readFile(file, 'utf8')).trim();
  if (token.length < 32) throw new Error(`${file} holds no token: delete it`);
  return token;
}

/** The path of the socket in a folder, if there can be one. */
export function socketIn(folder: string): string | undefined {
  const path = join(folder, 'door.sock');
  const fits = process.platform !== 'win32' && Buffer.byteLength(path) <= longestSocketPath;
  return fits ? path : undefined;
}

/** Says where a guard listens, for its clients, and what they answer when it is away. */
export async function publish(
  folder: string,
  place: Omit<DoorPlace, 'token'>,
  whenAway: object,
): Promise<void> {
  const mode = { mode: 0o600 };
  await writeFile(join(folder, 'away.json'), JSON.stringify(whenAway), mode);
  await writeFile(join(folder, 'door.json'), JSON.stringify(place), mode);
}

/** A guard listens no more. */
export async function unpublish(folder: string): Promise<void> {
  await rm(join(folder, 'door.json'), { force: true });
}

/**
 * Reads where the guard of a folder listens, or has listened last.
 *
 * @throws Error if none was ever started there, or it has stopped.
 */
export async function readDoor(folder: string): Promise<DoorPlace> {
  const told: unknown = JSON.parse(await readFile(join(folder, 'door.json'), 'utf8'));
  const { port, socketPath }: Partial<Record<keyof DoorPlace, unknown>> = Object(told);
  if (typeof port !== 'number') throw new Error(`${join(folder, 'door.json')} cannot be read`);
  const token = (await readFile(join(folder, 'token'), 'utf8')).trim();
  return { port, token, ...(typeof socketPath === 'string' && { socketPath }) };
}

/** Returns whether a guard of a folder listens now. */
export async function isRunning(folder: string): Promise<boolean> {
  const place = await readDoor(folder).catch(() => undefined);
  if (place === undefined) return false;
  const { port, socketPath } = place;
  return new Promise((resolve) => {
    const socket =
      socketPath === undefined ? connect({ host: '127.0.0.1', port }) : connect(socketPath);
    const settle = (is: boolean) => () => {
      socket.destroy();
      resolve(is);
    };
    socket.once('connect', settle(true)).once('error', settle(false));
  });
}
