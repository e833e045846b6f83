import type { KeyValueQuota, KeyValues } from '@sluice/sdk/extension';
import { definedFields } from 'sluice-kernel/internal';
import type { Kept } from './ingress-event.js';

/** The bounds of the queue of one account, ended events included: its plugin prunes those. */
const quota: KeyValueQuota = { maxKeys: 50_000, maxBytes: 64 * 1_048_576 };
/** An event that is in can end, or be given back, also if the queue is full. */
const quotaOfChanges: KeyValueQuota = { maxKeys: 60_000, maxBytes: 80 * 1_048_576 };
/** Events that are read at once. */
const pageLength = 1_000;

/** The events of one queue as they are kept: a key for each, by its id. */
export function ingressRows(given: {
  readonly namespace: string;
  readonly queueName: string;
  /** A resolved write is kept as long as the journal of the host. */
  readonly values: () => KeyValues;
  readonly lost: () => AbortSignal | undefined;
  /** Another host has written an event: what is known of the others may be old, too. */
  readonly onConflict: () => void;
}) {
  const { namespace, queueName, values, lost, onConflict } = given;
  const read = (id: string) => values().get(namespace, JSON.stringify(id));
  /**
   * Writes an event in place of the event as it is known, for a host that may have lost the account and not know of it.
   *
   * @returns whether it is written: if not, another host has written the event meanwhile, and all is read again.
   */
  const write = async (
    id: string,
    known: Kept | undefined,
    kept: Kept | undefined,
    isNew = false,
  ): Promise<boolean> => {
    const bounds = isNew
      ? { quota, ...definedFields({ signal: lost() }) }
      : { quota: quotaOfChanges };
    const expected = known === undefined ? null : { body: JSON.stringify(known) };
    const value = kept && { body: JSON.stringify(kept) };
    const given = { ...bounds, expected };
    const { status } = await values().write(namespace, JSON.stringify(id), value, given);
    if (status === 'full')
      throw new Error(`the ingress queue of ${queueName} is full: event ${id} is not kept`);
    if (status === 'conflict') onConflict();
    return status === 'written';
  };
  const all = async (): Promise<readonly (readonly [id: string, kept: Kept])[]> => {
    const found: (readonly [string, Kept])[] = [];
    for (let after = ''; ; ) {
      const page = await values().list(namespace, { prefix: '', after, limit: pageLength });
      for (const { key, body } of page)
        found.push([JSON.parse(key) as string, JSON.parse(body) as Kept]); // as it was written here
      const last = page.at(-1);
      if (last === undefined || page.length < pageLength) return found;
      after = last.key;
    }
  };
  return { all, read, write };
}
