import type { Clock } from 'sluice-kernel';
import { describe, expect, it, vi } from 'vitest';
import type { Journal, Store, TendedJournal } from '../../src/journal/index.js';
import { keyValuesContract } from '../sdk/extension/store/key-values-contract.js';
import { fence, fenceOf } from '../support/fences.js';
import { aDispatch, anUpdate, aSend, describeJournal, settableClock } from './journal-contract.js';
import { describeStore } from './store-contract.js';

/** A place for one journal. */
export interface JournalPlace {
  open(given: {
    readonly clock: Clock;
    readonly keepForMs?: number;
  }): Promise<Journal & { readonly store: Store }>;
  /** Opens it as another process does; absent if the journal is gone with its process. */
  tend?(): Promise<TendedJournal>;
}

/** Background work ends by itself, however slow the machine is. */
const patiently = { timeout: 280_000, interval: 5 };

/** What each journal must do with its records, its sessions and its values, whatever it is made of. */
export function describeConformance(
  name: string,
  newPlace: () => Promise<JournalPlace> | JournalPlace,
  isLasting = true,
): void {
  describeJournal(name, async (given) => (await newPlace()).open(given));

  describeStore(name, async () => {
    const journal = await (await newPlace()).open({ clock: settableClock() });
    return { store: journal.store, close: () => journal.close() };
  });

  describe(`${name}: values (extensions-that-act §2)`, () => {
    keyValuesContract(async (clock) => {
      const place = await newPlace();
      const journal = await place.open({ clock });
      const beside = await place.tend?.();
      return {
        handles: [journal, ...(beside === undefined ? [] : [beside])].map((one) => one.keyValues),
        [Symbol.asyncDispose]: async () => {
          await beside?.close();
          await journal.close();
        },
      };
    });
  });

  describe.runIf(isLasting)(`${name}: what lasts`, () => {
    it('is there, whole and in order, when it is opened again (durability §1.1)', async () => {
      const place = await newPlace();
      const clock = settableClock();
      const first = await place.open({ clock });
      const ids = Array.from({ length: 50 }, (_, at) => `u-${at}`);
      await Promise.all(ids.map((id) => first.accept(anUpdate(id))));
      await Promise.all(
        ids.map((id) => first.prepare(fence, aSend(`${id}.1`, { correlationId: id }))),
      );
      for (const id of ids) first.dispatched(aDispatch(id, { occurredAtMs: clock.now() }));
      await first.close();
      const journal = await place.open({ clock });
      const updates = await journal.updates();
      expect(updates.map(({ eventId }) => eventId)).toEqual(ids);
      expect(await journal.sends()).toHaveLength(50);
      expect(await journal.dispatches()).toHaveLength(50);
      await journal.accept(anUpdate('later'));
      expect((await journal.updates({ eventId: 'later' }))[0]?.seq).toBe(51);
      await journal.close();
    });

    it('is dropped when it is older than is kept, but nothing that has not ended (durability §5.1, durability §11.9)', async () => {
      const place = await newPlace();
      const clock = settableClock();
      const given = { clock, keepForMs: 1_000 };
      const first = await place.open(given);
      for (const id of ['open', 'ended', 'dead']) {
        await first.accept(anUpdate(id));
        await first.prepare(fence, aSend(`${id}.1`, { correlationId: id }), true);
        await first.endSend(fence, `${id}.1`, { state: 'sent' });
      }
      await first.prepare(fence, aSend('waits'));
      await first.endUpdate(fenceOf('ended'), { isDead: false, outcome: 'answered' });
      await first.endUpdate(fenceOf('dead'), { isDead: true, outcome: 'failed' });
      first.dispatched(aDispatch('old', { occurredAtMs: clock.now() }));
      await first.close();
      clock.set(1_001);
      const later = await place.open(given);
      const idsOf = async () => [
        ...(await later.updates()).map(({ eventId }) => eventId),
        ...(await later.sends()).map(({ sendId }) => sendId),
        ...(await later.dispatches()).map(({ eventId }) => eventId),
      ];
      const left = ['open', 'dead', 'open.1', 'dead.1', 'waits'];
      await vi.waitFor(async () => expect(await idsOf()).toEqual(left), patiently);
      expect(await later.accept(anUpdate('ended'))).toEqual({ status: 'accepted' }); // durability §2.3: the window is over
      await later.close();
    });
  });
}
