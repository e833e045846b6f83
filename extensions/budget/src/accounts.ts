import type { ExtensionApi } from 'sluice';
import { type Account, newAccount } from './account.js';
import type { Settings } from './config.js';
import { dayIn } from './day.js';
import { type Place, placesOf, type Whose } from './places.js';

/** Milliseconds that an account is kept after it was written. No day has more: Antarctica/Troll has one of 26 hours. */
const keptMs = 26 * 3_600_000;

/** The accounts of an extension. Each method rejects as its store does. */
export interface Accounts {
  /** The day of now, by the settings. */
  today(): string;
  /** Finds the accounts of today that a message or a run counts in. */
  of(whose: Whose): readonly Place[];
  read(place: Place): Promise<Account>;
  /** Changes an account in one step. @param change may run again; it returns nothing to leave all as it is. */
  change(
    place: Pick<Place, 'key' | 'name'>,
    change: (account: Account, nowMs: number) => Account | undefined,
  ): Promise<void>;
  /** Changes each account of today that a run counts in. */
  changeAll(whose: Whose, change: (account: Account, nowMs: number) => Account): Promise<void>;
  /** The accounts of today, with their keys. @param capName those of one kind; by default all. */
  list(capName?: Place['capName']): Promise<readonly { key: string; account: Account }[]>;
}

/** Opens the accounts that the store of an extension keeps. */
export function openAccounts(
  { store, clock }: Pick<ExtensionApi, 'store' | 'clock'>,
  settings: Settings,
): Accounts {
  const dayOf = dayIn(settings.timeZone);
  const today = (): string => dayOf(clock.now());
  const of: Accounts['of'] = (whose) => placesOf(whose, settings, today());
  const change: Accounts['change'] = async ({ key, name }, by) => {
    await store.update<Account>(key, (before) => by(before ?? newAccount(name), clock.now()), {
      ttlMs: keptMs,
    });
  };
  return {
    today,
    of,
    change,
    changeAll: async (whose, by) => {
      await Promise.all(of(whose).map((place) => change(place, by)));
    },
    read: async ({ key, name }) => (await store.get<Account>(key)) ?? newAccount(name),
    list: async (capName) => {
      const entries = await store.list(`${today()}/${capName === undefined ? '' : `${capName}/`}`);
      return entries.map(({ key, value }) => ({ key, account: value as Account })); // nobody else writes here
    },
  };
}
