import type { ConfigProblem } from '@sluice/host/internal';
import {
  type JournalOptions,
  type JournalReader,
  openJournal,
  type ReadOptions,
  readJournal,
  type TendedJournal,
  tendJournal,
} from '@sluice/journal';
import type { JournalAddress, JournalKind, JournalTerms } from '@sluice/journal/internal';
import { ownPackage } from '../installed/own-package.js';

/** The place of a journal: a file, or an address. */
export type JournalPlace = { readonly path: string } | AddressPlace;

/** The address of a journal, with its kind. */
export interface AddressPlace extends JournalAddress {
  readonly kind: JournalKind;
}

/** The journal of a config, as far as it says where that is. */
interface PlaceSetting {
  readonly path?: string;
  readonly url?: string;
  readonly partitions?: number;
}

/**
 * The place that settings name.
 *
 * @param from the folder in which the package of the database is installed.
 */
export function placeOf(
  { path, url = '', partitions = 1 }: PlaceSetting,
  from: string,
  kinds: readonly JournalKind[],
): JournalPlace | undefined {
  const kind = kindOf(url, kinds);
  const load: JournalAddress['load'] = (name, what) => ownPackage(name, what, from);
  if (kind !== undefined) return { url, partitions, load, kind };
  return path === undefined ? undefined : { path };
}

function kindOf(url: string, kinds: readonly JournalKind[]): JournalKind | undefined {
  const [, scheme = ''] = /^([^:]+):\/\/./.exec(url) ?? [];
  return kinds.find(({ schemes }) => schemes.includes(scheme) && URL.canParse(url));
}

/** Finds the problem of an address in a config that is of no kind. */
export function addressProblems(
  url: string | undefined,
  kinds: readonly JournalKind[],
): ConfigProblem[] {
  if (url === undefined || kindOf(url, kinds) !== undefined) return [];
  const begins = kinds.map(({ schemes: [scheme] }) => `"${scheme}://"`).join(' or ');
  const message = `expected an address that begins with ${begins}`;
  const hint = `Write the address of a ${kindNames(kinds)} that keeps the journal instead of a file, as { "env": "DATABASE_URL" }.`;
  return [{ path: ['journal', 'url'], message, hint }];
}

/** Names the databases that may keep a journal. */
export function kindNames(kinds: readonly JournalKind[]): string {
  return kinds.map(({ name }) => name).join(' or ');
}

/** Names a place for people, without a password. */
export function placeName(place: JournalPlace): string {
  if ('path' in place) return place.path;
  const { protocol, host, pathname } = new URL(place.url);
  return `${protocol}//${host}${pathname}`;
}

/** Opens the journal of a host. @throws as `openJournal`, or as the kind of the place. */
export async function openPlace(place: JournalPlace, options: JournalOptions & JournalTerms) {
  return 'path' in place ? openJournal(place.path, options) : place.kind.open(place, options);
}

/** Opens a journal to read it. A host may use it meanwhile. @throws as `readJournal`, or as the kind of the place. */
export async function readPlace(
  place: JournalPlace,
  options: ReadOptions = {},
): Promise<JournalReader & AsyncDisposable> {
  return 'path' in place ? readJournal(place.path, options) : place.kind.read(place);
}

/** Opens a journal to look after it. A host may use it meanwhile. @throws as `tendJournal`, or as the kind of the place. */
export async function tendPlace(place: JournalPlace): Promise<TendedJournal> {
  return 'path' in place ? tendJournal(place.path) : place.kind.tend(place);
}
