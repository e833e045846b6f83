import type { ExtensionApi } from 'sluice';
import { type Account, newAccount } from './account.js';
import type { Settings } from './config.js';
import { type Place, placesOf, type Whose } from './places.js';

/** Milliseconds that an account is kept after it was written. No day has more: Antarctica/Troll has one of 26 hours. */
const keptMs = 26 * 3_600_000;

/** The accounts that the store of an extension keeps. Each method rejects as its store does. */
export type Accounts = ReturnType<typeof openAccounts>;

/** Opens the accounts that the store of an extension keeps. */
export function openAccounts(
  { store, clock }: Pick<ExtensionApi, 'store' | 'clock'>,
  settings: Settings,
) {
  const dayOf = dayIn(settings.timeZone);
  /** The day of now, by the settings. */
  const today = (): string => dayOf(clock.now());
  /** Finds the accounts of today that a message or a run counts in. */
  const of = (whose: Whose): readonly Place[] => placesOf(whose, settings, today());
  /** Changes an account in one step. @param by may run again; it returns nothing to leave all as it is. */
  const change = async (
    { key, name, cap }: Pick<Place, 'key' | 'name'> & Partial<Pick<Place, 'cap'>>,
    by: (account: Account, nowMs: number) => Account | undefined,
  ): Promise<void> => {
    const changed = (before?: Account) => {
      const after = by(before ?? newAccount(name), clock.now());
      return after && cap ? { ...after, cap } : after;
    };
    await store.update<Account>(key, changed, { ttlMs: keptMs });
  };
  return {
    today,
    of,
    change,
    /** Changes each account of today that a run counts in. */
    changeAll: async (whose: Whose, by: (account: Account, nowMs: number) => Account) => {
      await Promise.all(of(whose).map((place) => change(place, by)));
    },
    read: async ({ key, name }: Place): Promise<Account> =>
      (await store.get<Account>(key)) ?? newAccount(name),
    /** The accounts of today, with their keys. @param capName those of one kind; by default all. */
    list: async (capName?: Place['capName']) => {
      const entries = await store.list(`${today()}/${capName === undefined ? '' : `${capName}/`}`);
      return entries.map(({ key, value }) => ({ key, account: value as Account })); // nobody else writes here
    },
  };
}

/** Names the day of a time zone in which a moment lies, such as `2026-03-15`. @param timeZone one that `Intl` knows. */
function dayIn(timeZone: string): (atMs: number) => string {
  const format = new Intl.DateTimeFormat('en', {
    timeZone,
    calendar: 'iso8601',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  });
  return (atMs) => {
    const parts = new Map(format.formatToParts(atMs).map(({ type, value }) => [type, value]));
    return (['year', 'month', 'day'] as const).map((type) => parts.get(type)).join('-');
  };
}
