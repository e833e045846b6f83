import {
  type JournalOptions,
  type JournalReader,
  openJournal,
  type ReadOptions,
  readJournal,
  type TendedJournal,
  tendJournal,
} from '../../journal/index.js';
import {
  openPostgresJournal,
  type PostgresConnections,
  type PostgresJournalOptions,
} from '../../postgres/index.js';
import {
  type PostgresHost,
  readPostgresHosts,
  readPostgresJournal,
  tendPostgresJournal,
} from '../../postgres/internal.js';
import { ownPackage } from '../installed/own-package.js';

/** The place of a journal: a file, or a PostgreSQL. */
export type JournalPlace =
  | { readonly path: string }
  | {
      readonly url: string;
      /** The folder in which the package of PostgreSQL is installed. */
      readonly from: string;
      /** The parts that hosts share. */
      readonly partitions: number;
    };

/** The place that settings name. */
export function placeOf(
  {
    path,
    url,
    partitions = 1,
  }: { readonly path?: string; readonly url?: string; readonly partitions?: number },
  from: string,
): JournalPlace | undefined {
  if (url !== undefined) return { url, from, partitions };
  return path === undefined ? undefined : { path };
}

/** Names a place for people, without a password. */
export function placeName(place: JournalPlace): string {
  if ('path' in place) return place.path;
  const { protocol, host, pathname } = new URL(place.url);
  return `${protocol}//${host}${pathname}`;
}

/** Opens the journal of a host. @throws as `openJournal` and `openPostgresJournal`. */
export async function openPlace(
  place: JournalPlace,
  options: JournalOptions & PostgresJournalOptions,
) {
  return 'path' in place
    ? openJournal(place.path, options)
    : openPostgresJournal(await connectTo(place), {
        ...options,
        partitions: place.partitions,
        announces: true,
      });
}

/** Opens a journal to read it. A host may use it meanwhile. @throws as `readJournal` and `readPostgresJournal`. */
export async function readPlace(
  place: JournalPlace,
  options: ReadOptions = {},
): Promise<JournalReader & AsyncDisposable> {
  return 'path' in place
    ? readJournal(place.path, options)
    : readPostgresJournal(await connectTo(place));
}

/** Opens a journal to look after it. A host may use it meanwhile. @throws as `tendJournal` and `tendPostgresJournal`. */
export async function tendPlace(place: JournalPlace): Promise<TendedJournal> {
  return 'path' in place ? tendJournal(place.path) : tendPostgresJournal(await connectTo(place));
}

/** Reads the hosts of a journal in PostgreSQL. @throws as `readPostgresHosts`. */
export async function readHosts(
  place: Extract<JournalPlace, { readonly url: string }>,
): Promise<readonly PostgresHost[]> {
  const connections = await connectTo(place);
  try {
    return await readPostgresHosts(connections);
  } finally {
    await connections.close();
  }
}

/**
 * Connects to a PostgreSQL by the package that is installed for it.
 *
 * @param options `timeoutMs`: the time of a statement, by default 10 s.
 * @throws CommandError `missing-package`.
 */
export async function connectTo(
  { url, from }: Extract<JournalPlace, { readonly url: string }>,
  options: { readonly timeoutMs?: number } = {},
): Promise<PostgresConnections> {
  const { connect } = await ownPackage<{
    connect(url: string, given: typeof options): PostgresConnections;
  }>('sluice-postgres', 'the connection of a journal in PostgreSQL is', from);
  return connect(url, options);
}
