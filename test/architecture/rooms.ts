import { posix } from 'node:path';
import type { SourceFile } from '../support/source-tree.js';
import { importsOf, targetOf } from './imports.js';

/**
 * The rooms of each layer, lowest first: a room imports itself and the rooms before it. A room is a folder below the
 * layer's own. The room `.` is the layer's own folder without its entry point, which lies above all rooms.
 */
export const rooms: Readonly<Record<string, readonly string[]>> = {
  kernel: [
    'value',
    '.',
    'stage',
    'catalog/pieces',
    'catalog',
    'outcome',
    'match',
    'handler',
    'merge',
    'run/services',
    'run/state',
    'run',
    'contract',
    'registry',
    'explain',
    'surface',
  ],
  extension: ['.', 'named', 'define', 'store', 'load', 'set'],
  stream: ['tool', '.', 'flow', 'prompt'],
  run: ['.'],
  legacy: [
    '.',
    'facts',
    'hooks',
    'profiles',
    'agent-events',
    'runner',
    'internal',
    'mapping',
    'plugin/sdk',
    'plugin/shape',
    'plugin/channel',
    'plugin/state',
    'plugin/http',
    'plugin/api',
    'plugin/runtime',
    'plugin',
  ],
  csdk: [
    '.',
    'frames',
    'messages',
    'gate',
    'subagents',
    'session',
    'ordering',
    'runs',
    'bridge',
    'coder/blocks',
    'coder',
  ],
  gateway: [
    '.',
    'device',
    'protocol',
    'client/routes',
    'client',
    'run',
    'session',
    'bridge',
    'provider',
  ],
  channel: ['.', 'terminal'],
  chat: ['.', 'text', 'send', 'stream'],
  agent: [
    '.',
    'tools',
    'reply/emit',
    'reply/text/directives',
    'reply/text',
    'reply/tools',
    'reply',
    'turn',
    'claude',
    'scripted',
  ],
  host: [
    '.',
    'config',
    'logging',
    'sqlite',
    'journal',
    'journal/rows',
    'journal/file',
    'journal/damage',
    'journal/commit',
    'transcript',
    'journal/sqlite',
    'journal/postgres/rows',
    'journal/postgres/members',
    'journal/postgres',
    'way',
    'lanes',
    'provided',
    'provided/legacy',
    'questions',
    'approvals',
    'outbox',
    'parts',
    'session',
    'jobs',
    'egress',
    'streaming',
    'turn',
    'ingress',
    'recovery',
    'queue',
    'receive',
    'routes',
    'explain',
    'life',
    'health',
  ],
  testing: ['.', 'host', 'conformance', 'parity'],
  cli: [
    'shell',
    'errors',
    'print',
    'installed',
    'settings',
    'pipeline',
    'journal',
    'hosts',
    'events',
    'normalize',
    'replay',
    'approvals',
    'inspect',
    'check-plugin',
    'plugin',
    'doctor',
    'explain',
    'init',
    'migrate',
    'policy',
    'run',
    'stages',
    'store',
    '.',
  ],
};

/** The number of files that may lie loose in one folder. */
export const looseFilesAtMost = 16;

/** The import of one file of src that goes to a higher room of its layer, in a sentence each. */
export function wrongRoomImports(file: SourceFile): string[] {
  const here = roomOf(file.path);
  if (here === undefined) return [];
  const from = rankOf(here);
  if (from < 0)
    return [`${file.path} lies in a room that test/architecture/rooms.ts does not list`];
  return importsOf(file).flatMap(({ specifier, line }) => {
    const target = targetOf(file.path, specifier);
    const there = target === undefined ? undefined : roomOf(target);
    if (target === undefined || there === undefined || there.layer !== here.layer) return [];
    return rankOf(there) > from
      ? [`${file.path}:${line} imports ${target}, a room above its own`]
      : [];
  });
}

/** The folders with more loose files than allowed, in a sentence each. */
export function crowdedFolders(paths: readonly string[], atMost = looseFilesAtMost): string[] {
  const loose = new Map<string, number>();
  for (const path of paths) {
    const folder = posix.dirname(path);
    loose.set(folder, (loose.get(folder) ?? 0) + 1);
  }
  return [...loose].flatMap(([folder, count]) =>
    count > atMost ? [`${folder} has ${count} loose files; give it rooms (at most ${atMost})`] : [],
  );
}

interface Room {
  readonly layer: string;
  readonly name: string;
}

/** A file's room, or nothing for a file outside of the layers. */
function roomOf(path: string): Room | undefined {
  const [src, layer, ...rest] = path.split('/');
  const file = rest.at(-1);
  if (src !== 'src' || layer === undefined || file === undefined) return undefined;
  if (rest.length > 1) return { layer, name: rest.slice(0, -1).join('/') };
  return { layer, name: entryFiles.includes(file) ? entryRoom : '.' };
}

const entryRoom = '(entry)';

/** The entry point of a layer, the names that other layers and tests alone use, and those that authors do. */
const entryFiles = ['index.ts', 'internal.ts', 'public.ts'];

function rankOf({ layer, name }: Room): number {
  const listed = rooms[layer] ?? [];
  return name === entryRoom ? listed.length : listed.indexOf(name);
}
