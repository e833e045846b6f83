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
interface DueEntry extends TimeName {
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
/** Entries that are read at once. */
export const dueAtOnce = 100;

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
  onAdded: (() => void) | undefined;

  constructor(keyValues: KeyValues) {
    this.#items = new WorkItems(keyValues, { isItem: isKeptTime, quota });
    const isItem = hasFields<DueEntry>(entryFields);
    this.#due = new WorkItems(keyValues, { isItem, quota: dueQuota });
  }

  /** Keeps a time, unless its key is there. @returns what is there then. @throws SluiceError `schedule-full`. */
  async add(row: KeptTime): Promise<KeptTime> {
    const isEntered = (await this.#enter(row)) === 'written';
    const keep = () => this.#change(row, (now) => (now === undefined ? row : undefined));
    const { was, status } = isEntered ? await keep() : {};
    if (was?.dueAtMs !== row.dueAtMs && status !== 'written') await this.#drop(row);
    if (was !== undefined) return was;
    const { extensionId } = row;
    if (status !== 'written') throw hostError('schedule-full', { extensionId, keptAtMost });
    await this.#enter(row); // a look may have dropped it before its row was there
    this.onAdded?.();
    return row;
  }

  /** Finds a time that is to be there, and enters it again if a host was killed between a drop of its entry and its own write. */
  async entered(named: TimeName): Promise<KeptTime | undefined> {
    const row = await this.find(named);
    if (row === undefined) return undefined;
    if ((await this.#due.find(dueNamespace, entryAt(row).key)) === undefined) {
      await this.#enter(row);
      this.onAdded?.();
    }
    return row;
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

  /** Some entries in the order of their times, behind one of them. */
  async some(behind?: DueEntry): Promise<readonly DueEntry[]> {
    const after = behind && { after: entryAt(behind).key };
    const rows = await this.#due.list(dueNamespace, { ...after, limit: dueAtOnce });
    return rows.map(({ item }) => item);
  }

  /** The row of an entry. An entry that has none is dropped: its row was cancelled, or a host was killed before it was written. */
  async of(entry: DueEntry): Promise<KeptTime | undefined> {
    const row = await this.find(entry);
    return row?.dueAtMs === entry.dueAtMs ? row : this.#drop(entry);
  }

  /** Notes that a due time is done with. @param dueAtMs the next one, if there is one. */
  async moveOn(row: KeptTime, dueAtMs?: number): Promise<void> {
    const next = dueAtMs === undefined ? null : { ...row, dueAtMs };
    if (next !== null) await this.#enter(next);
    const isSame = (now?: KeptTime) => now?.dueAtMs === row.dueAtMs;
    await this.#change(row, (now) => (isSame(now) ? next : undefined));
    if (next !== null) await this.#enter(next); // as in `add`: another host looks meanwhile
    await this.#drop(row);
  }

  /** Takes a time out. @returns whether it was there. */
  async cancel(named: TimeName): Promise<boolean> {
    const { was } = await this.#change(named, (now) => (now === undefined ? undefined : null));
    if (was !== undefined) await this.#drop(was);
    return was !== undefined;
  }

  #change(
    { extensionId, name, id }: TimeName,
    next: (now?: KeptTime) => KeptTime | null | undefined,
  ) {
    return this.#items.change(
      { namespace: `${timesPrefix}${extensionId}`, key: `${name}/${id}` },
      next,
    );
  }

  /** Drops an entry, unless another call is writing its row. @returns that row. */
  async #drop(entry: DueEntry): Promise<KeptTime | undefined> {
    await this.#due.write(entryAt(entry));
    const row = await this.find(entry);
    if (row?.dueAtMs !== entry.dueAtMs) return undefined;
    await this.#enter(row);
    return row;
  }

  #enter({ extensionId, name, id, dueAtMs }: DueEntry) {
    return this.#due.write(entryAt({ id, dueAtMs }), { extensionId, name, id, dueAtMs });
  }
}

function entryAt({ dueAtMs, id }: Pick<DueEntry, 'dueAtMs' | 'id'>) {
  return { namespace: dueNamespace, key: `${String(dueAtMs).padStart(16, '0')}/${id}` };
}
