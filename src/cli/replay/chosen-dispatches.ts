import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { DispatchRecord, JournalReader } from '@sluice/journal';
import {
  definedFields,
  type FamilyName,
  isSluiceError,
  type Kernel,
  openKernel,
} from 'sluice-kernel/internal';
import { badArguments } from '../errors/command-error.js';
import { checkFile } from '../errors/file-error.js';
import { allDispatches, unknownEvent } from '../journal/journal-of.js';
import type { Shell } from '../shell/shell.js';

/** The options of a replay of a journal. */
export interface JournalReplayOptions {
  readonly event?: string;
  readonly payload?: string;
  readonly family?: string;
  readonly last?: string;
  readonly observers?: boolean;
  readonly allowIo?: boolean;
}

/**
 * The records of a journal that the options ask for.
 *
 * @throws CommandError `bad-arguments` if they make no sense together, or the payload does not fit; `unknown-event`.
 */
export async function chosenDispatches(
  reader: Pick<JournalReader, 'dispatches'>,
  kernel: Kernel,
  { event: eventId, payload, family, last = '' }: JournalReplayOptions,
  { stdin, cwd }: Pick<Shell, 'stdin' | 'cwd'>,
): Promise<AsyncIterable<DispatchRecord> | readonly DispatchRecord[]> {
  if (last !== '' && family === undefined)
    throw badArguments('--last counts dispatches of a --family', 'Write --family NAME --last 20.');
  if (last !== '' && !/^[1-9]\d{0,4}$/.test(last))
    throw badArguments(`--last is "${last}"`, 'Write a number from 1 to 99999.');
  if (payload !== undefined && eventId === undefined)
    throw badArguments('--payload belongs to one dispatch', 'Name it: --event ID.');
  if (family !== undefined) orBadArguments(() => openKernel(kernel).plan(family));
  const records = allDispatches(reader, definedFields({ eventId, family: family as FamilyName })); // a custom one has some, too
  if (eventId === undefined && last === '') return records;
  const all: DispatchRecord[] = [];
  for await (const record of records) {
    all.push(record);
    if (last !== '' && all.length > Number(last)) all.shift();
  }
  if (eventId !== undefined && all.length === 0) throw unknownEvent(eventId);
  if (payload === undefined) return all;
  const path = resolve(cwd, payload);
  if (payload !== '-')
    checkFile(path, payload, 'Name a file with a payload in JSON, or - for stdin.');
  const text = payload === '-' ? await readText(stdin) : readFileSync(path, 'utf8');
  return all.map((record) => withPayload(record, text, kernel));
}

/** A record as if the payload had been another. What was left out of it then is there now. */
function withPayload(
  { omitted: _, ...record }: DispatchRecord,
  text: string,
  kernel: Kernel,
): DispatchRecord {
  const { payload: __, ...body } = JSON.parse(record.body) as { readonly event: object } & Record<
    string,
    unknown
  >; // as the journal writes it
  let payload: unknown;
  try {
    payload = JSON.parse(text);
  } catch {
    // told below
  }
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload))
    throw badArguments(
      'the payload is no object in JSON',
      'Write one such as {"content":"hello"}.',
    );
  const { config: ___, ...given } = payload as Readonly<Record<string, unknown>>; // a replay leaves it out, too
  orBadArguments(() => openKernel(kernel).parsePayload(record.family, structuredClone(given)));
  return { ...record, body: JSON.stringify({ ...body, event: { ...body.event, payload } }) };
}

/** Has the kernel check a value of the command line. @throws CommandError `bad-arguments`, with its words. */
function orBadArguments(check: () => unknown): void {
  try {
    check();
  } catch (thrown) {
    throw isSluiceError(thrown) ? badArguments(thrown.message, thrown.hint) : thrown;
  }
}

async function readText(stream: AsyncIterable<unknown>): Promise<string> {
  let text = '';
  for await (const part of stream) text += String(part);
  return text;
}
