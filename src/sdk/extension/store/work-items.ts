import { changeValue } from './change-value.js';
import type { KeptValue, KeyValueQuota, KeyValueReader, KeyValues } from './key-values.js';

type Types = 'string' | 'number' | 'boolean' | 'object';

/**
 * Makes the check of a kind of items: a row comes from a disk, and is one if its fields have these types.
 *
 * @example
 * const isProgress = hasFields<Progress>({ spec: 'string', afterMs: 'number' });
 */
export function hasFields<Item>(types: { readonly [Field in keyof Item]?: Types }) {
  const fields = Object.entries(types);
  return (value: unknown): value is Item => {
    if (typeof value !== 'object' || value === null) return false;
    const given = new Map<string, unknown>(Object.entries(value));
    return fields.every(
      ([name, type]) => given.get(name) !== null && typeof given.get(name) === type,
    );
  };
}

/** How the items of one kind are kept. */
export interface WorkItemsOptions<Item> {
  readonly isItem: (value: unknown) => value is Item;
  readonly quota?: KeyValueQuota;
  /** Told of a row that holds no item. It stays as it is. */
  readonly onUnreadable?: (at: { readonly namespace: string; readonly key: string }) => void;
}

/** The place of an item, and the right to change it. */
export interface WorkItemAt {
  readonly namespace: string;
  readonly key: string;
  /** Once it has aborted, nothing is written. Anybody may if absent. */
  readonly signal?: AbortSignal;
  /** In place of that of its kind. */
  readonly quota?: KeyValueQuota;
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

  /** The items of a namespace, with their keys and in the order of these. */
  async list(namespace: string, given?: { readonly prefix?: string; readonly limit?: number }) {
    return listItems(this.#values, this.#options, namespace, given);
  }

  /**
   * Writes an item, or deletes it.
   *
   * @param expected the item that has to be there, as it was read; `null` for none, and whatever is there if absent.
   */
  async write(
    { namespace, key, ...given }: WorkItemAt,
    item: Item | undefined,
    expected?: Item | null,
  ): Promise<'written' | 'conflict' | 'full'> {
    const { status } = await this.#values.write(
      namespace,
      key,
      item && { body: JSON.stringify(item) },
      {
        ...(this.#options.quota !== undefined && { quota: this.#options.quota }),
        ...given,
        ...(expected !== undefined && { expected: expected && { body: JSON.stringify(expected) } }),
      },
    );
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
    let [was, item]: [Item | undefined, Item | null | undefined] = [undefined, undefined];
    const values = this.#values;
    const { result } = await changeValue(
      { values, ...(quota && { quota }), ...at },
      async (row) => {
        was = itemOf({ isItem }, at.namespace, row);
        if (row !== undefined && was === undefined)
          throw new Error(`the row ${at.key} of ${at.namespace} cannot be read`);
        item = await next(was);
        return item && { body: JSON.stringify(item) };
      },
    );
    return { was, item, status: result?.status };
  }
}

/** Reads the items of a namespace, a page at a time. */
export async function listItems<Item extends object>(
  values: Pick<KeyValueReader, 'list'>,
  options: WorkItemsOptions<Item>,
  namespace: string,
  { prefix = '', limit = Number.POSITIVE_INFINITY } = {},
): Promise<{ readonly key: string; readonly item: Item }[]> {
  const found: { readonly key: string; readonly item: Item }[] = [];
  for (let after: string | undefined; ; ) {
    const most = Math.min(pageLength, limit - found.length);
    const given = { prefix, limit: most, ...(after !== undefined && { after }) };
    const page = await values.list(namespace, given);
    for (const row of page) {
      const item = itemOf(options, namespace, row);
      if (item !== undefined) found.push({ key: row.key, item });
    }
    after = page.at(-1)?.key;
    if (page.length < most || found.length >= limit) return found;
  }
}

function itemOf<Item>(
  { isItem, onUnreadable }: WorkItemsOptions<Item>,
  namespace: string,
  row: KeptValue | undefined,
): Item | undefined {
  if (row === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(row.body);
  } catch {} // it is no item then
  if (isItem(value)) return value;
  onUnreadable?.({ namespace, key: row.key });
  return undefined;
}
