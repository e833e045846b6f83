import { randomInt, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Clock,
  type Fields,
  fieldsOf,
  isFields,
  type PayloadOf,
} from 'sluice-kernel/internal';
import { accountOf, textOf } from './settings.js';

/** How long a request to be let in stands, and how many stand at once. */
const requestLifeMs = 3_600_000;
const mostRequests = 3;
/** The signs of a code: none that people mistake for another. */
const codeSigns = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';

interface Request {
  readonly id: string;
  readonly code: string;
  readonly createdAt: string;
  readonly lastSeenAt: string;
  readonly meta?: Fields;
}

/**
 * `channel.pairing`: the senders that an operator has let in, and those who ask for it. Both are files in `credentials` of the
 * plugin's state folder, as OpenClaw writes them: its `openclaw pairing` with this folder as state approves them.
 */
export function pairingOf(
  clock: Clock,
  stateDir: string,
  requested: (request: PayloadOf<'account.pairing.requested'>) => void,
) {
  const folder = join(stateDir, 'credentials');
  const fileOf = (channel: unknown, rest: string): string =>
    join(folder, `${safeName(channel)}-${rest}.json`);
  let writing: Promise<unknown> = Promise.resolve();

  const allowedIn = async (file: string): Promise<readonly string[]> =>
    listOf((await readJson(file))['allowFrom']).flatMap((entry) => {
      const text = textOf(entry);
      return text === undefined || text === '*' ? [] : [text]; // nobody lets everyone in by a file
    });

  const upsert = async (given: Fields): Promise<{ code: string; created: boolean }> => {
    const { channel, id: sender, meta } = given;
    const file = fileOf(channel, 'pairing');
    const nowMs = clock.now();
    const now = new Date(nowMs).toISOString();
    const id = textOf(sender) ?? '';
    const accountId = accountOf(given['accountId']);
    const open = listOf((await readJson(file))['requests'])
      .filter(isRequest)
      .filter(({ createdAt }) => nowMs - Date.parse(createdAt) <= requestLifeMs);
    const known = open.find(
      (one) => one.id === id && accountOf(one.meta?.['accountId']) === accountId,
    );
    if (known === undefined && open.length >= mostRequests) return { code: '', created: false };
    const about = { ...textsOf(meta), accountId };
    const request: Request = {
      ...{ id, code: known?.code ?? newCode(), createdAt: known?.createdAt ?? now },
      ...{ lastSeenAt: now, meta: about },
    };
    const requests = [...open.filter((one) => one !== known), request];
    await writeJson(folder, file, { version: 1, requests });
    const { code } = request;
    if (known === undefined)
      requested({ channel: String(channel), accountId, senderId: id, code, metadata: about });
    return { code, created: known === undefined };
  };

  return {
    /** @param given `{ channel, accountId }`; a channel alone, as older plugins call it. */
    readAllowFromStore: async (given: unknown): Promise<readonly string[]> => {
      const { channel = given, accountId } = fieldsOf(given);
      const account = accountOf(accountId);
      const own = await allowedIn(fileOf(channel, `${safeName(account)}-allowFrom`));
      const everyone = account === 'default' ? await allowedIn(fileOf(channel, 'allowFrom')) : [];
      return [...new Set([...own, ...everyone])];
    },
    upsertPairingRequest: (given: Fields): Promise<{ code: string; created: boolean }> => {
      const done = writing.then(() => upsert(given));
      writing = done.catch(() => undefined);
      return done;
    },
    buildPairingReply: ({ channel, idLine, code }: Fields): string =>
      [
        'You are not let in yet.',
        String(idLine),
        `Pairing code: ${String(code)}`,
        `Ask the owner of this host to let you in on ${String(channel)}, by this code or by your id.`,
      ].join('\n\n'),
  };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isRequest(value: unknown): value is Request {
  if (!isFields(value)) return false;
  const { id, code, createdAt } = value;
  return [id, code, createdAt].every((field) => typeof field === 'string');
}

function textsOf(meta: unknown): Fields {
  const texts = Object.entries(fieldsOf(meta)).map(([key, value]) => [key, textOf(value)] as const);
  return Object.fromEntries(texts.filter(([, value]) => value !== undefined));
}

function newCode(): string {
  return Array.from({ length: 8 }, () => codeSigns[randomInt(codeSigns.length)]).join('');
}

/** A part of a file name: nothing in it leads to another folder. */
function safeName(value: unknown): string {
  const name = String(value ?? '')
    .trim()
    .toLowerCase()
    .replaceAll(/[\\/:*?"<>|]|\.\./g, '_');
  if (name === '' || name === '_') throw new TypeError('a pairing names no channel or account');
  return name;
}

async function readJson(file: string): Promise<Fields> {
  try {
    return fieldsOf(JSON.parse(await readFile(file, 'utf8')));
  } catch (error) {
    if (fieldsOf(error)['code'] === 'ENOENT') return {};
    throw error; // an unreadable file lets nobody in, and is told
  }
}

async function writeJson(folder: string, file: string, value: Fields): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const beside = `${file}.${randomUUID()}`;
  await writeFile(beside, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  await rename(beside, file);
}
