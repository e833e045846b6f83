import type { KeyValueReader } from '@sluice/sdk/extension';
import { inertJson, nearestHint } from 'sluice-kernel/internal';
import { badArguments, type CommandError } from '../errors/command-error.js';
import { addJournalActions, type JournalChoice, journalPlace } from '../journal/journal-of.js';
import { jsonLine } from '../print/json-line.js';
import { type JournalPlace, readPlace, tendPlace } from '../settings/journal-place.js';
import { type ExitCode, exitCodes } from '../shell/exit-codes.js';
import type { AddCommand, Shell } from '../shell/shell.js';
import { counted, printable } from '../shell/text.js';

const actions = ['list', 'get', 'delete', 'clear'] as const;

/** The words of the command line after `sluice store`. */
interface Given {
  readonly action: (typeof actions)[number];
  readonly extension: string | undefined;
  readonly key: string | undefined;
}

const help = `
Actions:
  list                   the extensions that keep something, with their keys and bytes
  list EXTENSION [KEY]   the values of an extension; with KEY those whose keys begin so
  get EXTENSION KEY      one value, as JSON
  delete EXTENSION KEY   delete one value
  clear EXTENSION        delete all that an extension keeps

A host may use the journal meanwhile. spec/extensions-that-act.md says more.

Examples:
  $ sluice store list --journal ./sluice.db
  $ sluice store list rate-limit --json
  $ sluice store get rate-limit count/42
  $ sluice store clear rate-limit`;

/** Adds `sluice store`, which shows and deletes the values that extensions keep in a journal. */
export const addCommand: AddCommand = (command, shell, done) => {
  addJournalActions(command, actions)
    .argument('[extension]', 'the id of the extension')
    .argument('[key]', 'the key of the value')
    .option('--json', 'print a line of JSON per entry')
    .addHelpText('after', help)
    .action(
      async (
        action: Given['action'],
        extension: Given['extension'],
        key: Given['key'],
        options: JournalChoice,
      ) => done(await store({ action, extension, key }, options, shell)),
    );
};

async function store(given: Given, options: JournalChoice, shell: Shell): Promise<ExitCode> {
  const { action, extension, key } = given;
  if (extension === undefined && action !== 'list')
    throw badArguments(`${action} needs the id of an extension`, 'See `sluice store list`.');
  if (key === undefined && (action === 'get' || action === 'delete'))
    throw badArguments(`${action} needs a key`, `See \`sluice store list ${extension}\`.`);
  if (key !== undefined && action === 'clear')
    throw badArguments('clear takes no key', 'Write `sluice store delete` for one value.');
  const place = await journalPlace(options, shell);
  if (action === 'delete' || action === 'clear') {
    shell.stdout.lines([await remove(place, String(extension), key, options)]);
    return exitCodes.ok;
  }
  await using reader = await readPlace(place);
  const { keyValues } = reader;
  if (extension === undefined) shell.stdout.lines(await extensionLines(keyValues, options));
  else if (action === 'list')
    shell.stdout.lines(await valueLines(keyValues, extension, key ?? '', options));
  else shell.stdout.lines([await valueLine(keyValues, extension, String(key))]);
  return exitCodes.ok;
}

async function extensionLines(values: KeyValueReader, { json }: JournalChoice): Promise<string[]> {
  const uses = (await values.namespaces()).filter(({ namespace }) => !isOfHost(namespace));
  return uses.map(({ namespace: extensionId, keys, bytes }) =>
    json === true
      ? jsonLine({ extensionId, keys, bytes })
      : printable(`${extensionId}: ${counted(keys, 'key', 'keys')}, ${bytes} bytes`),
  );
}

async function valueLine(values: KeyValueReader, extension: string, key: string): Promise<string> {
  await checkKnown(values, extension);
  const value = await values.get(extension, key);
  if (value === undefined) throw missing(extension, key);
  return inertJson(value.body);
}

async function valueLines(
  values: KeyValueReader,
  extension: string,
  prefix: string,
  { json }: JournalChoice,
): Promise<string[]> {
  await checkKnown(values, extension);
  const found = await values.list(extension, { prefix, limit: Number.MAX_SAFE_INTEGER });
  return found.map(({ key, body, expiresAtMs }) => {
    const value: unknown = JSON.parse(body);
    if (json === true) return jsonLine({ key, value, expiresAtMs });
    const end = expiresAtMs === undefined ? [] : [`until ${new Date(expiresAtMs).toISOString()}`];
    return [key, inertJson(body), ...end].map(printable).join('  ');
  });
}

/** Deletes one value, or all of an extension. @returns the line that says so. */
async function remove(
  place: JournalPlace,
  extension: string,
  key: string | undefined,
  { json }: JournalChoice,
): Promise<string> {
  if (isOfHost(extension))
    throw badArguments(
      `"${extension}" is the host's own`,
      'Name an extension of `sluice store list`.',
    );
  await using journal = await tendPlace(place);
  const { keyValues } = journal;
  await checkKnown(keyValues, extension);
  let result: string;
  if (key === undefined)
    result = `${counted(await keyValues.clear(extension), 'value is', 'values are')} deleted`;
  else {
    if ((await keyValues.get(extension, key)) === undefined) throw missing(extension, key);
    const quota = { maxKeys: 0, maxBytes: 0 }; // a delete needs no room
    await keyValues.write(extension, key, undefined, { quota });
    result = `${key} is deleted`;
  }
  return json === true ? jsonLine({ result }) : printable(result);
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
