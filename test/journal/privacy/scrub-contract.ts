import { describe, expect, it } from 'vitest';
import type { Journal, Store } from '../../../src/journal/index.js';
import type { Forgotten, Whose } from '../../../src/journal/internal.js';
import type { Changing } from '../../../src/journal/journal-changes.js';
import { type Scrub, scrubber } from '../../../src/journal/privacy/scrub.js';
import { definedFields } from '../../../src/kernel/internal.js';
import { virtualClock } from '../../../src/testing/index.js';
import { fenceOf } from '../../support/fences.js';
import { aDispatch, anUpdate, aSend } from '../journal-contract.js';

type Opened = Journal & { readonly store?: Store };

/** A place for one journal, of which all that is kept can be read. */
export interface ScrubbedPlace {
  open(given: {
    readonly scrub?: Scrub;
    readonly clock: ReturnType<typeof virtualClock>;
  }): Promise<Opened>;
  /** All that is kept, as text. The journal is closed if it lasts. */
  all(journal: Opened): Promise<string>;
  /** Removes texts when the journal is closed; absent if nothing of it lasts. */
  readonly forget?: (whose: Whose, isDry?: boolean) => Promise<Forgotten>;
}

const mail = 'canary@leak.example';
const words = JSON.stringify({ content: `write to ${mail}`, [mail]: 1, args: { to: [mail] } });
const update = (id: string, more = {}) => anUpdate(id, { body: words, ...more });
const lane = '["telegram","default","telegram:-100",""]';
const occurredAtMs = virtualClock().now();
const ofMessage = (id: string) => ({ ...fenceOf(id), attempt: 1 });
const clean = scrubber({ patterns: { email: true } });

/** A session in which the turn of a message begins. */
export const sessionOf = (correlationId: string) => ({
  ...{
    sessionKey: 'k-1',
    sessionId: 's-1',
    agentId: 'main',
    context: {},
    memoryKeys: [],
    metadata: {},
  },
  lastTurn: { correlationId, before: { messages: 0, prompts: 0 } },
});

/** Each writer of a journal, with the canary in all texts that it takes. One that is new does not compile before it stands here. */
const writers: {
  readonly [Name in Changing | 'dispatched' | 'appendMessage']: (
    journal: Opened,
  ) => Promise<unknown>;
} = {
  accept: (journal) => journal.accept(update('u-1', { lane }), true),
  appendMessage: async ({ store }) => {
    await store?.saveSession(sessionOf('u-1'), { fence: ofMessage('u-1') });
    const entry = { role: 'user', content: `write to ${mail}` } as const;
    await store?.appendMessage('s-1', entry, { fence: ofMessage('u-1') });
    const call = { type: 'toolCall', id: 'c', name: 'mail', arguments: { to: mail } } as const;
    const asked = { role: 'assistant', content: [call] } as const;
    void store?.appendMessage('s-1', asked, { fence: ofMessage('u-1'), mayWait: true });
  },
  prepare: (journal) =>
    journal.prepare(ofMessage('u-1'), aSend('u-1.1', { correlationId: 'u-1', body: words })),
  shown: (journal) => journal.shown(ofMessage('u-1'), 'u-1.1', '{"messageIds":[1]}'),
  final: (journal) => journal.final(ofMessage('u-1'), aSend('u-1.1', { body: words }), true),
  unsent: (journal) => journal.unsent(ofMessage('u-1'), 'u-1.1'),
  sending: (journal) => journal.sending(ofMessage('u-1'), 'u-1.1'),
  dispatched: async (journal) => {
    journal.dispatched(aDispatch('u-1', { body: words, occurredAtMs }));
    journal.dispatched(
      aDispatch('u-1.2', { occurredAtMs, correlationId: 'u-1', body: words, omitted: 'audit' }),
    );
    await journal.dispatches();
  },
  endSend: (journal) =>
    journal.endSend(ofMessage('u-1'), 'u-1.1', {
      state: 'failed',
      cause: 'rejected',
      reason: `no ${mail}`,
    }),
  release: async (journal) => {
    await journal.release({ ...ofMessage('u-1'), attempt: 1 });
  },
  begin: (journal) => journal.begin('u-1'),
  endUpdate: (journal) =>
    journal.endUpdate(ofMessage('u-1'), { isDead: true, outcome: 'failed', reason: `no ${mail}` }),
  retry: (journal) => journal.retry('u-1').catch(() => undefined),
  purge: (journal) => journal.purge('u-none'),
};

/** What each journal must do with texts that are to be cleaned, whatever it is made of (durability §13). */
export function describeScrub(name: string, newPlace: () => Promise<ScrubbedPlace>): void {
  const opened = async (scrub: Scrub | undefined = clean) => {
    const place = await newPlace();
    const journal = await place.open({ clock: virtualClock(), ...definedFields({ scrub }) });
    return { place, journal };
  };

  describe(`${name}: what is scrubbed`, () => {
    it('no writer leaves a text behind when its message has ended (durability §13.1)', async () => {
      const { place, journal } = await opened();
      for (const write of Object.values(writers)) await write(journal);
      const all = await place.all(journal);
      expect(all).toContain('[email]');
      expect(all).not.toContain(mail);
    });

    it('without patterns all of it is there, so the search above finds it', async () => {
      const place = await newPlace();
      const journal = await place.open({ clock: virtualClock() });
      for (const write of Object.values(writers)) await write(journal);
      expect(await place.all(journal)).toContain(mail);
    });

    it('forget leaves no text of a conversation behind, and the shape of all (durability §13.6)', async ({
      skip,
    }) => {
      const place = await newPlace();
      const forget = place.forget ?? skip();
      const journal = await place.open({ clock: virtualClock() });
      for (const write of Object.values(writers)) await write(journal);
      await writers.endUpdate(journal);
      await journal.accept(update('u-open', { lane }), true);
      const other = { body: '{"content":"whole","sender":{"id":"7"},"address":{"to":"-1001"}}' };
      await journal.accept(anUpdate('u-other', other));
      await journal.prepare(
        fenceOf('u-other'),
        aSend('u-other.1', { ...other, correlationId: 'u-other' }),
      );
      journal.dispatched(
        aDispatch('u-other', { ...other, occurredAtMs, correlationId: 'u-other' }),
      );
      const question = (correlationId: string) =>
        JSON.stringify({ correlationId, about: mail, address: { to: 'telegram:-100' } });
      const quota = { maxKeys: 9, maxBytes: 9_999 };
      for (const id of ['u-1', 'u-open'])
        await journal.keyValues.write('/approvals/', id, { body: question(id) }, { quota });
      const before = await place.all(journal);
      const whose = { of: 'conversation', id: '-100' } as const;
      const counts = { messages: 1, sends: 1, sessions: 1, questions: 1, open: 1 };
      expect(await forget(whose, true)).toEqual(counts);
      expect(await place.all(journal)).toBe(before);
      expect(await forget(whose)).toEqual(counts);
      const gone = { messages: 0, sends: 0, sessions: 0, questions: 0, open: 1 };
      expect(await forget(whose)).toEqual(gone);
      const again = await place.open({ clock: virtualClock() });
      expect((await again.updates()).map((one) => [one.eventId, one.state, one.body])).toEqual([
        ['u-1', 'dead', undefined],
        ['u-open', 'handling', words],
        ['u-other', 'accepted', other.body],
      ]);
      await expect(again.retry('u-1')).rejects.toMatchObject({ code: 'letter-scrubbed' });
      expect(await again.dispatches({ correlationId: 'u-1' })).toMatchObject([
        { eventId: 'u-1', status: 'passed', omitted: 'forgotten' },
      ]);
      expect((await again.dispatches({ eventId: 'u-other' }))[0]?.body).toBe(other.body);
      const { fence } = await again.begin('u-open');
      await again.endUpdate(fence, { isDead: false, outcome: 'answered' });
      await place.all(again);
      expect(await forget(whose)).toMatchObject({ messages: 1, questions: 1, open: 0 });
      expect(await place.all(again)).not.toContain(mail);
      expect(await forget({ of: 'sender', id: '7' })).toMatchObject({ messages: 0, open: 1 });
    });

    it('what is needed to go on stays as it is until the end (durability §13.2)', async () => {
      const { journal } = await opened();
      const { accept, appendMessage, prepare } = writers;
      for (const write of [accept, appendMessage, prepare]) await write(journal);
      expect((await journal.updates())[0]?.body).toBe(words);
      expect((await journal.sends())[0]?.body).toBe(words);
      const before = await journal.store?.readTranscript('s-1');
      if (before !== undefined)
        expect(JSON.stringify(before)).toContain(`"arguments":{"to":"${mail}"}`);
      await journal.endSend(ofMessage('u-1'), 'u-1.1', { state: 'sent' });
      expect(JSON.parse((await journal.sends())[0]?.body ?? '')).toMatchObject({
        args: { to: ['[email]'] },
      });
      await journal.endUpdate(ofMessage('u-1'), { isDead: false, outcome: 'answered' });
      expect((await journal.updates())[0]?.body).toBeUndefined();
      const after = await journal.store?.readTranscript('s-1');
      if (after !== undefined) {
        expect(after).toHaveLength(2);
        expect(JSON.stringify(after)).not.toContain(mail);
        expect(JSON.stringify(after)).toContain(
          '"id":"c","name":"mail","arguments":{"to":"[email]"}',
        );
      }
      await journal.close();
    });

    it('a dead letter whose text was changed cannot be tried again, nor one that such a letter joined (durability §13.3)', async () => {
      const { journal } = await opened();
      const plain = '{"content":"hello"}';
      for (const [id, body] of [
        ['plain', plain],
        ['words', words],
        ['leader', plain],
      ] as const)
        await journal.accept(anUpdate(id, { body }));
      await journal.accept(update('member'));
      await journal.begin('leader', ['member']);
      for (const id of ['plain', 'words', 'leader'])
        await journal.endUpdate(fenceOf(id), { isDead: true, outcome: 'failed', reason: 'no' });
      const joined = { isDead: true, outcome: 'joined', reason: 'it joined leader' } as const;
      await journal.endUpdate(fenceOf('member'), joined);
      const letters = await journal.updates({ states: ['dead'] });
      expect(
        letters.map((one) => [one.eventId, one.outcome, one.scrubbedAtMs !== undefined]),
      ).toEqual([
        ['plain', 'failed', false],
        ['words', 'failed', true],
        ['leader', 'failed', false],
        ['member', 'joined', true],
      ]);
      for (const id of ['words', 'member', 'leader'])
        await expect(journal.retry(id)).rejects.toMatchObject({ code: 'letter-scrubbed' });
      expect(await journal.retry('plain')).toBe(true);
      expect((await journal.updates({ eventId: 'plain' }))[0]).toMatchObject({
        state: 'accepted',
        body: plain,
      });
      expect(await journal.purge('words')).toBe(1);
      expect((await journal.updates({ eventId: 'words' }))[0]).toMatchObject({
        state: 'ended',
        outcome: 'failed',
      });
      await journal.close();
    });

    it('a message that finds its conversation full is scrubbed with the write that keeps it (durability §13.3)', async () => {
      const { journal } = await opened();
      await journal.accept(update('u-1', { lane: 'l' }));
      expect(await journal.accept(update('u-2', { lane: 'l' }), false, 1)).toEqual({
        status: 'full',
      });
      const [letter] = await journal.updates({ eventId: 'u-2' });
      expect(letter).toMatchObject({
        state: 'dead',
        outcome: 'failed',
        scrubbedAtMs: expect.any(Number),
      });
      expect(letter?.body).not.toContain(mail);
      await journal.close();
    });

    it('the words that egress.preparing has passed take the place of those before (durability §13.5)', async () => {
      const place = await newPlace();
      const journal = await place.open({ clock: virtualClock() });
      await journal.prepare(fenceOf('u-1'), aSend('u-1.1', { body: words }), true);
      await journal.endSend(fenceOf('u-1'), 'u-1.1', {
        state: 'sent',
        body: '{"content":"clean"}',
      });
      expect((await journal.sends())[0]).toMatchObject({
        state: 'sent',
        body: '{"content":"clean"}',
      });
      await journal.close();
    });
  });
}
