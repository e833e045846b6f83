import type { KeyValueReader, KeyValues } from '@sluice/sdk/extension';
import { inertJson, nearestHint } from 'sluice-kernel/internal';
import { badArguments, type CommandError } from '../errors/command-error.js';
import { type JournalChoice, journalOptions, reading, tending } from '../journal/journal-of.js';
import { type Answer, resource } from '../resource/resource.js';
import { counted, printable } from '../shell/text.js';

const help = `
A host may use the journal meanwhile. spec/extensions-that-act.md says more.

Examples:
  $ sluice store list --journal ./sluice.db
  $ sluice store list rate-limit --json
  $ sluice store get rate-limit count/42
  $ sluice store clear rate-limit`;

/** Adds `sluice store`, which shows and deletes the values that extensions keep in a journal. */
export const addCommand = resource<JournalChoice>({
  options: journalOptions('print a line of JSON per entry'),
  actions: {
    'list [extension] [prefix]': {
      summary:
        'the extensions that keep something, with their keys and bytes; or the values of one, of all keys or of those with a prefix',
      work: reading(({ journal: { keyValues }, args: [id, prefix] }) =>
        id === undefined ? extensions(keyValues) : values(keyValues, id, prefix),
      ),
    },
    'get <extension> <key>': {
      summary: 'one value, as JSON',
      work: reading(async ({ journal: { keyValues }, args: [id = '', name = ''] }) => {
        await checkKnown(keyValues, id);
        const value = await keyValues.get(id, name);
        if (value === undefined) throw missing(id, name);
        return { data: [JSON.parse(value.body)], lines: () => [inertJson(value.body)] };
      }),
    },
    'delete <extension> <key>': {
      summary: 'delete one value',
      work: removing(async (keyValues, id, name) => {
        if ((await keyValues.get(id, name)) === undefined) throw missing(id, name);
        const quota = { maxKeys: 0, maxBytes: 0 }; // a delete needs no room
        await keyValues.write(id, name, undefined, { quota });
        return `${name} is deleted`;
      }),
    },
    'clear <extension>': {
      summary: 'delete all that an extension keeps',
      work: removing(
        async (keyValues, id) =>
          `${counted(await keyValues.clear(id), 'value is', 'values are')} deleted`,
      ),
    },
  },
  help,
});

async function extensions(keyValues: KeyValueReader): Promise<Answer> {
  const uses = (await keyValues.namespaces()).filter(({ namespace }) => !isOfHost(namespace));
  const data = uses.map(({ namespace: extensionId, keys, bytes }) => ({
    extensionId,
    keys,
    bytes,
  }));
  const lines = data.map(({ extensionId, keys, bytes }) =>
    printable(`${extensionId}: ${counted(keys, 'key', 'keys')}, ${bytes} bytes`),
  );
  return { data, lines: () => lines };
}

async function values(keyValues: KeyValueReader, id: string, prefix = ''): Promise<Answer> {
  await checkKnown(keyValues, id);
  const found = await keyValues.list(id, { prefix, limit: Number.MAX_SAFE_INTEGER });
  return {
    data: found.map(({ key, body, expiresAtMs }) => ({
      key,
      value: JSON.parse(body),
      expiresAtMs,
    })),
    lines: () =>
      found.map(({ key, body, expiresAtMs: ms }) => {
        const end = ms === undefined ? [] : [`until ${new Date(ms).toISOString()}`];
        return [key, inertJson(body), ...end].map(printable).join('  ');
      }),
  };
}

/** Makes the work of an action that deletes values of an extension, and says so in a line. */
function removing(remove: (keyValues: KeyValues, id: string, key: string) => Promise<string>) {
  return tending<JournalChoice>(async ({ journal: { keyValues }, args: [id = '', name = ''] }) => {
    if (isOfHost(id))
      throw badArguments(`"${id}" is the host's own`, 'Name an extension of `sluice store list`.');
    await checkKnown(keyValues, id);
    const result = await remove(keyValues, id, name);
    return { data: [{ result }], lines: () => [printable(result)] };
  });
}

async function checkKnown(values: KeyValueReader, extension: string): Promise<void> {
  const known = (await values.namespaces()).map(({ namespace }) => namespace);
  if (known.includes(extension)) return;
  const others = known.filter((one) => !isOfHost(one));
  const hint = nearestHint(extension, others, 'See `sluice store list`.');
  throw badArguments(`the journal keeps nothing of an extension "${extension}"`, hint);
}

/** Returns whether a namespace is the host's own: no id of an extension has a slash. */
function isOfHost(namespace: string): boolean {
  return namespace.startsWith('/');
}

function missing(extension: string, key: string): CommandError {
  return badArguments(
    `"${extension}" keeps no "${key}"`,
    `See \`sluice store list ${extension}\`.`,
  );
}
