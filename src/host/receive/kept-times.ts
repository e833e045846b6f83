import type { KeyValues } from '@sluice/sdk/extension';
import { hasFields, WorkItems } from '@sluice/sdk/extension/internal';
import { hostError } from '../errors.js';

/** The names by which a time is found. */
interface TimeName {
  readonly extensionId: string;
  /** Of its schedule; empty if it is a message. */
  readonly name: string;
  /** Derives from the extension, the name and the key: the update id of its job, and the id of the send of a message. */
  readonly id: string;
}

/** An entry in the order of due times, in milliseconds since 1970. */
export interface DueEntry extends TimeName {
  readonly dueAtMs: number;
}

/** A time that an extension has added while its host ran, of a run or of a message (extensions-that-act §6.7). */
export interface KeptTime extends DueEntry {
  readonly key: string;
  readonly data?: unknown;
  /** Its job: of a run without the due time. */
  readonly job: object;
  /** Its times, as `readTimes` writes them. */
  readonly spec: string;
  /** The digest of its data and its cron expression: the same key names the same. */
  readonly digest: string;
}

/** The beginning of the namespaces of what extensions have added. */
export const timesPrefix = '/times/';
const dueNamespace = '/times-due';
/** The most that one extension may have kept (extensions-that-act §6.9). */
const keptAtMost = 10_000;
const quota = { maxKeys: keptAtMost, maxBytes: 64 * 1024 * 1024 };
const dueQuota = { maxKeys: 1_000_000, maxBytes: 1024 * 1024 * 1024 };
/** Entries of one page. */
const pageLength = 1_000;

const entryFields = {
  ...({ extensionId: 'string', name: 'string', id: 'string', dueAtMs: 'number' } as const),
};
const rowFields = { key: 'string', job: 'object', spec: 'string', digest: 'string' } as const;
/** Checks a row: it comes from a disk. */
export const isKeptTime = hasFields<KeptTime>({ ...entryFields, ...rowFields });

/**
 * The times that extensions have added. An entry in the order of due times is written before its row, and goes after it: a host
 * that is killed in between leaves an entry that names nothing, which is dropped when it is due.
 */
export class KeptTimes {
  readonly #items: WorkItems<KeptTime>;
  readonly #due: WorkItems<DueEntry>;
  /** Called when there is a new due time. */
  onAdded: ((dueAtMs: number) => void) | undefined;

  constructor(keyValues: KeyValues) {
    this.#items = new WorkItems(keyValues, { isItem: isKeptTime, quota });
    const isItem = hasFields<DueEntry>(entryFields);
    this.#due = new WorkItems(keyValues, { isItem, quota: dueQuota });
  }

  /** Keeps a time, unless its key is there. @returns what is there then. @throws SluiceError `schedule-full`. */
  async add(row: KeptTime): Promise<KeptTime> {
    const { extensionId } = row;
    const isEntered = (await this.#enter(row)) === 'written';
    const { was, status } = isEntered
      ? await this.change(row, (now) => (now === undefined ? row : undefined))
      : {};
    if (was?.dueAtMs !== row.dueAtMs && status !== 'written') await this.leave(row);
    if (was === undefined && status !== 'written')
      throw hostError('schedule-full', { extensionId, keptAtMost });
    const kept = was ?? row;
    this.onAdded?.(kept.dueAtMs);
    return kept;
  }

  find({ extensionId, name, id }: TimeName): Promise<KeptTime | undefined> {
    return this.#items.find(`${timesPrefix}${extensionId}`, `${name}/${id}`);
  }

  /** The times of a name, in the order in which they are due. */
  async list(extensionId: string, name: string): Promise<readonly KeptTime[]> {
    const rows = await this.#items.list(`${timesPrefix}${extensionId}`, { prefix: `${name}/` });
    const own = rows.map(({ item }) => item).filter((one) => one.name === name);
    return own.sort((a, b) => a.dueAtMs - b.dueAtMs);
  }

  /** A page of the entries, in the order of their times. @returns the key after which the next page begins; empty if it is the last. */
  async page(after: string): Promise<{ readonly entries: DueEntry[]; readonly after: string }> {
    const rows = await this.#due.list(dueNamespace, { after, limit: pageLength });
    const last = rows.length < pageLength ? undefined : rows.at(-1);
    return { entries: rows.map(({ item }) => item), after: last?.key ?? '' };
  }

  /** Notes that a due time is done with. @param dueAtMs the next one, if there is one. */
  async moveOn(row: KeptTime, dueAtMs?: number): Promise<void> {
    const next = dueAtMs === undefined ? null : { ...row, dueAtMs };
    if (next !== null) await this.#enter(next);
    await this.change(row, (now) => (now?.dueAtMs === row.dueAtMs ? next : undefined));
    await this.leave(row);
  }

  /** Takes a time out, whichever is its due time now. @returns whether it was there. */
  async cancel(name: TimeName): Promise<boolean> {
    const { was } = await this.change(name, (now) => now && null);
    if (was !== undefined) await this.leave(was);
    return was !== undefined;
  }

  /** Drops an entry. */
  leave(entry: DueEntry) {
    return this.#due.write(entryAt(entry));
  }

  change(
    { extensionId, name, id }: TimeName,
    next: (now?: KeptTime) => KeptTime | null | undefined,
  ) {
    return this.#items.change(
      { namespace: `${timesPrefix}${extensionId}`, key: `${name}/${id}` },
      next,
    );
  }

  #enter({ extensionId, name, id, dueAtMs }: DueEntry) {
    return this.#due.write(entryAt({ id, dueAtMs }), { extensionId, name, id, dueAtMs });
  }
}

function entryAt({ dueAtMs, id }: Pick<DueEntry, 'dueAtMs' | 'id'>) {
  return { namespace: dueNamespace, key: `${String(dueAtMs).padStart(16, '0')}/${id}` };
}
