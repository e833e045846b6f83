import { changeValue } from './change-value.js';
import type { KeptValue, KeyValueQuota, KeyValueReader, KeyValues } from './key-values.js';

/**
 * Makes the check of a kind of items: a row comes from a disk, and is one if its fields have these types.
 *
 * @example
 * const isProgress = hasFields<Progress>({ spec: 'string', afterMs: 'number' });
 */
export function hasFields<Item>(
  types: {
    readonly [Field in keyof Item]?: 'string' | 'number' | 'boolean' | 'object';
  },
) {
  return (value: unknown): value is Item => {
    const given = new Map<string, unknown>(Object.entries(Object(value)));
    return Object.entries(types).every(
      ([name, type]) => typeof (given.get(name) ?? undefined) === type,
    );
  };
}

/** How the items of one kind are kept. */
interface WorkItemsOptions<Item> {
  readonly isItem: (value: unknown) => value is Item;
  readonly quota?: KeyValueQuota;
  /** Told of a row that holds no item. It stays as it is. */
  readonly onUnreadable?: (at: { readonly namespace: string; readonly key: string }) => void;
}

/** The place of an item, and how it is written: as `KeyValues.write` takes it. */
interface WorkItemAt extends Omit<Parameters<KeyValues['write']>[3], 'expected'> {
  readonly namespace: string;
  readonly key: string;
}

/** Rows that are read at once. */
const pageLength = 1_000;

/** Items of work that outlive their process: the rows of one kind in the key-values of a journal. Each change is one step with a look. */
export class WorkItems<Item extends object> {
  readonly #values: Pick<KeyValues, 'get' | 'list' | 'write'>;
  readonly #options: WorkItemsOptions<Item>;

  constructor(values: Pick<KeyValues, 'get' | 'list' | 'write'>, options: WorkItemsOptions<Item>) {
    this.#values = values;
    this.#options = options;
  }

  /** An item as it is now: another process may have written it. */
  async find(namespace: string, key: string): Promise<Item | undefined> {
    return itemOf(this.#options, namespace, await this.#values.get(namespace, key));
  }

  /** As `listItems`. */
  list(namespace: string, given?: Parameters<typeof listItems>[3]) {
    return listItems(this.#values, this.#options, namespace, given);
  }

  /**
   * Writes an item, or deletes it.
   *
   * @param expected the item that has to be there, as it was read; `null` for none, and whatever is there if absent.
   */
  async write({ namespace, key, ...given }: WorkItemAt, item?: Item, expected?: Item | null) {
    const { quota } = this.#options;
    const how = { ...(quota && { quota }), ...given };
    const { status } = await this.#values.write(namespace, key, item && bodyOf(item), {
      ...how,
      ...(expected !== undefined && { expected: expected && bodyOf(expected) }),
    });
    return status;
  }

  /**
   * Changes an item in one step with the look at it.
   *
   * @param next makes the new item of the one that is there; `null` deletes it, and nothing leaves it as it is.
   * @returns the item that was there, the new one, and how the write ended; no status if it was left.
   * @throws as `next` and the key-values do, and if the row holds no item.
   */
  async change(
    at: WorkItemAt,
    next: (was: Item | undefined) => Item | null | undefined | Promise<Item | null | undefined>,
  ) {
    const { isItem, quota } = this.#options;
    const seen: { was?: Item | undefined; item?: Item | null | undefined } = {};
    const all = { values: this.#values, ...(quota && { quota }), ...at };
    const { result } = await changeValue(all, async (row) => {
      seen.was = itemOf({ isItem }, at.namespace, row);
      if (row !== undefined && seen.was === undefined)
        throw new Error(`the row ${at.key} of ${at.namespace} cannot be read`);
      seen.item = await next(seen.was);
      return seen.item && bodyOf(seen.item);
    });
    return { ...seen, status: result?.status };
  }
}

/** Reads the items of a namespace, with their keys and in the order of these, a page at a time. */
export async function listItems<Item extends object>(
  values: Pick<KeyValueReader, 'list'>,
  options: WorkItemsOptions<Item>,
  namespace: string,
  { prefix = '', after: begin = '', limit = Number.POSITIVE_INFINITY } = {},
): Promise<{ readonly key: string; readonly item: Item }[]> {
  const found: { readonly key: string; readonly item: Item }[] = [];
  for (let after = begin; ; ) {
    const most = Math.min(pageLength, limit - found.length);
    const page = await values.list(namespace, { prefix, after, limit: most });
    for (const row of page) {
      const item = itemOf(options, namespace, row);
      if (item !== undefined) found.push({ key: row.key, item });
    }
    after = page.at(-1)?.key ?? after;
    if (page.length < most || found.length >= limit) return found;
  }
}

function itemOf<Item>(
  { isItem, onUnreadable }: WorkItemsOptions<Item>,
  namespace: string,
  row: KeptValue | undefined,
): Item | undefined {
  if (row === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(row.body);
    if (isItem(value)) return value;
  } catch {} // it is no item then
  onUnreadable?.({ namespace, key: row.key });
  return undefined;
}

function bodyOf(item: object) {
  return { body: JSON.stringify(item) };
}
