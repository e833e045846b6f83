import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { person } from '../convert/access.js';
import type { Draft } from '../convert/draft.js';
import { isRecord } from '../source/node.js';
import { readJson5 } from '../source/read-source.js';

/** Reads the people whom the owner has let in by a code. A file that cannot be read lets nobody in, and is named. */
export function pairedPeople(draft: Draft, channel: string, accountId: string): readonly string[] {
  const files = [
    `${channel}-${accountId}-allowFrom.json`,
    ...(accountId === 'default' ? [`${channel}-allowFrom.json`] : []),
  ];
  const people = files.flatMap((name) => {
    const stored = readState(draft, join('credentials', name));
    const list: unknown = isRecord(stored) ? stored['allowFrom'] : stored;
    if (stored === undefined) return [];
    draft.moved.set(join('credentials', name), 'The people are in allowFrom of the channel.');
    return Array.isArray(list)
      ? list
          .filter((one) => typeof one === 'string' || typeof one === 'number')
          .map((one) => person(String(one)))
      : [];
  });
  return people.filter((one) => one !== '*');
}

/** Reads a file of the state folder as JSON5; nothing if it is not there, or is broken, which is told. */
export function readState(
  { folder, broken }: Pick<Draft, 'folder' | 'broken'>,
  file: string,
): unknown {
  const path = resolve(folder, file);
  if (!existsSync(path)) return undefined;
  try {
    return readJson5(path, folder);
  } catch (thrown) {
    broken.push(thrown instanceof Error ? thrown.message : String(thrown));
    return undefined;
  }
}
