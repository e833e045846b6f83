import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type {
  DispatchFilter,
  Journal,
  NewDispatch,
  NewSend,
  NewUpdate,
  UpdateFilter,
} from '../../src/journal/index.js';
import { joinedReason } from '../../src/journal/message-end.js';
import { type VirtualClock, virtualClock } from '../../src/testing/index.js';
import { fence, fenceOf } from '../support/fences.js';

/** A virtual clock whose time of day may be set, as that of a machine. */
export interface SettableClock extends VirtualClock {
  /** Milliseconds, forwards or back. */
  set(byMs: number): void;
}

export function settableClock(): SettableClock {
  const clock = virtualClock();
  let setByMs = 0;
  return {
    ...clock,
    get pending() {
      return clock.pending;
    },
    now: () => clock.now() + setByMs,
    set: (byMs) => {
      setByMs += byMs;
    },
  };
}

const isTerminal = (step: string) => ['sent', 'cancelled', 'failed'].includes(step);

const code = (wanted: string) => expect.objectContaining({ code: wanted });

export function anUpdate(eventId: string, more: Partial<NewUpdate> = {}): NewUpdate {
  return {
    eventId,
    channel: 'scripted',
    accountId: 'default',
    updateId: eventId,
    receivedAtMs: 5,
    body: '{"text":"hi"}',
    ...more,
  };
}

export function aSend(sendId: string, more: Partial<NewSend> = {}): NewSend {
  const body = '{"content":"hi"}';
  return { sendId, kind: 'reply', fingerprint: 'f', channel: 'scripted', body, ...more };
}

export function aDispatch(eventId: string, more: Partial<NewDispatch> = {}): NewDispatch {
  return {
    eventId,
    family: 'ingress.normalized',
    correlationId: eventId,
    sessionId: null,
    status: 'passed',
    occurredAtMs: 7,
    body: '{}',
    ...more,
  };
}

/** What every journal must do, whatever it is made of. */
export function describeJournal(
  name: string,
  open: (options: { readonly clock: SettableClock }) => Promise<Journal>,
): void {
  const withJournal = async (test: (journal: Journal, clock: SettableClock) => Promise<void>) => {
    const clock = settableClock();
    const journal = await open({ clock });
    try {
      await test(journal, clock);
    } finally {
      await journal.close();
    }
  };

  describe(`${name}: updates`, () => {
    it('are taken in once (durability §2.2)', () =>
      withJournal(async (journal) => {
        expect(await journal.accept(anUpdate('a'))).toEqual({ status: 'accepted' });
        expect(await journal.accept(anUpdate('a', { body: '"other"' }))).toEqual({
          status: 'known',
          state: 'accepted',
          attempts: 0,
        });
        expect((await journal.updates()).map(({ body }) => body)).toEqual(['{"text":"hi"}']);
        expect(journal.stats()).toMatchObject({ accepted: 1, duplicates: 1 });
      }));

    it('are persisted when they have a field that no record has (durability §2.2)', () =>
      withJournal(async (journal) => {
        const more: object = { colour: 'red', event_id: 'other', send_id: 'other' }; // also names of columns
        expect(await journal.accept({ ...anUpdate('a'), ...more })).toEqual({ status: 'accepted' });
        expect(await journal.updates()).toMatchObject([anUpdate('a')]);
        await journal.prepare(fence, { ...aSend('s'), ...more });
        expect(await journal.sends()).toMatchObject([aSend('s')]);
      }));

    it('and sends are counted by state as long as they have not ended (extensions-that-act §8.4)', () =>
      withJournal(async (journal) => {
        for (const id of ['a', 'b', 'c', 'd', 'e']) await journal.accept(anUpdate(id));
        await journal.begin('b');
        await journal.begin('c');
        await journal.endUpdate(fenceOf('c'), { isDead: true, outcome: 'failed' });
        await journal.begin('d');
        await journal.endUpdate(fenceOf('d'), { isDead: false, outcome: 'answered' });
        await journal.prepare(fence, aSend('s'));
        await journal.prepare(fence, aSend('t'), true);
        await journal.prepare(fence, aSend('u'), true);
        await journal.endSend(fence, 'u', { state: 'sent' });
        expect(await journal.counts()).toEqual({
          oldestDeadAtMs: expect.any(Number),
          updates: { accepted: 2, handling: 1, dead: 1 },
          sends: { prepared: 1, sending: 1 },
        });
      }));

    it('are begun under a fence, by `begin` or by the write that keeps them (durability §12.1)', () =>
      withJournal(async (journal) => {
        const any = { epoch: expect.any(Number), signal: expect.any(AbortSignal) };
        const own = { partition: 0, slot: 0, ...any };
        expect(await journal.accept(anUpdate('a'), true)).toEqual({
          ...{ status: 'accepted', fence: { eventId: 'a', attempt: 1, ...own } },
        });
        expect(await journal.accept(anUpdate('b'))).toEqual({ status: 'accepted' });
        expect(await journal.begin('b')).toEqual({
          attempts: 1,
          fence: { eventId: 'b', attempt: 1, ...own },
        });
        expect(journal.ownership.partitions()).toEqual([0]);
        const slot = journal.ownership.slotOf('any lane');
        expect(journal.ownership.fenceOf(slot)).toEqual({ ...own, slot });
      }));

    it('are not written under a fence that has ended, and neither are sends (durability §12.1)', () =>
      withJournal(async (journal) => {
        await journal.accept(anUpdate('a'), true);
        await journal.prepare(fence, aSend('s'));
        const before = [await journal.updates(), await journal.sends()];
        const lost = { ...fenceOf('a'), signal: AbortSignal.abort(new Error('it was taken')) };
        for (const write of [
          () => journal.release(lost),
          () => journal.endUpdate(lost, { isDead: false, outcome: 'answered' }),
          () => journal.prepare(lost, aSend('t')),
          () => journal.final(lost, aSend('s')),
          () => journal.sending(lost, 's'),
          () => journal.unsent(lost, 's'),
          () => journal.shown(lost, 's', '1'),
          () => journal.shown(lost, 's'),
          () => journal.endSend(lost, 's', { state: 'sent' }),
        ])
          await expect(write()).rejects.toThrow('it was taken');
        expect([await journal.updates(), await journal.sends()]).toEqual(before);
      }));

    it('are dead letters from the start if so many others of their lane are open as are said (durability §8.2, durability §8.3)', () =>
      withJournal(async (journal) => {
        const lane = 'full';
        const accept = (id: string, most?: number) =>
          journal.accept(anUpdate(id, { lane }), false, most);
        expect(await accept('a', 2)).toEqual({ status: 'accepted', open: 0 });
        await journal.accept(anUpdate('other', { lane: 'other' }), false, 1);
        const taken = await Promise.all(['b', 'c', 'd'].map((id) => accept(id, 2))); // by one write
        expect(taken).toEqual([
          { status: 'accepted', open: 1 },
          { status: 'full' },
          { status: 'full' },
        ]);
        expect(await accept('c', 2)).toEqual({ status: 'known', state: 'dead', attempts: 0 });
        expect(await journal.accept(anUpdate('e', { lane }), true, 2)).toEqual({ status: 'full' });
        expect(await accept('f')).toEqual({ status: 'accepted' });
        const dead = await journal.updates({ states: ['dead'] });
        expect(dead.map(({ eventId }) => eventId)).toEqual(['c', 'd', 'e']);
        expect(dead[0]).toMatchObject({
          ...{ body: '{"text":"hi"}', outcome: 'failed', endedAtMs: expect.any(Number) },
          reason: 'it was not taken in: too many messages wait',
        });
        for (const id of ['a', 'b', 'f']) {
          await journal.begin(id);
          await journal.endUpdate(fenceOf(id), { isDead: false, outcome: 'answered' });
        }
        expect(await journal.retry('d')).toBe(true);
        expect(await accept('g', 2)).toEqual({ status: 'accepted', open: 1 });
      }));

    it('that come at once are taken in once', () =>
      withJournal(async (journal) => {
        const taken = await Promise.all([1, 2, 3].map(() => journal.accept(anUpdate('a'))));
        expect(taken.map(({ status }) => status)).toEqual(['accepted', 'known', 'known']);
      }));

    it('that are released count one beginning fewer (durability §7.8)', () =>
      withJournal(async (journal) => {
        await journal.accept(anUpdate('a'));
        await expect(journal.release(fenceOf('a'))).rejects.toMatchObject({
          code: 'journal-state',
        });
        await journal.begin('a');
        await journal.begin('a');
        await journal.release(fenceOf('a'));
        expect(await journal.updates()).toMatchObject([{ state: 'handling', attempts: 1 }]);
        expect((await journal.begin('a')).attempts).toBe(2);
      }));

    it('that are released twice count one beginning fewer: a write may have had no answer (durability §7.8)', () =>
      withJournal(async (journal) => {
        const first = await journal.accept(anUpdate('a'), true);
        if (first.status !== 'accepted' || first.fence === undefined) throw new Error('not begun');
        const { fence } = await journal.begin('a', undefined, 2);
        for (let times = 0; times < 2; times++) await journal.release(fence);
        expect(await journal.updates()).toMatchObject([{ state: 'handling', attempts: 1 }]);
        for (let times = 0; times < 2; times++) await journal.release(first.fence);
        expect(await journal.updates()).toMatchObject([{ state: 'handling', attempts: 0 }]);
      }));

    it('keep all that was said of them', () =>
      withJournal(async (journal, clock) => {
        await journal.accept(anUpdate('a'));
        const { updateId: _, body: _body, ...bare } = anUpdate('b');
        await journal.accept(bare);
        await clock.advance(100);
        expect((await journal.begin('a')).attempts).toBe(1);
        expect((await journal.begin('a')).attempts).toBe(2);
        await journal.endUpdate(fenceOf('a'), { isDead: true, outcome: 'failed', reason: 'why' });
        const [a, b] = await journal.updates();
        expect(a).toEqual({
          ...anUpdate('a'),
          seq: expect.any(Number),
          state: 'dead',
          attempts: 2,
          acceptedAtMs: expect.any(Number),
          endedAtMs: (a?.acceptedAtMs ?? 0) + 100,
          outcome: 'failed',
          reason: 'why',
        });
        expect(b).toEqual({
          ...bare,
          seq: expect.any(Number),
          state: 'accepted',
          attempts: 0,
          acceptedAtMs: expect.any(Number),
        });
      }));

    it('are read without their bodies, if that is asked for', () =>
      withJournal(async (journal) => {
        await journal.accept(anUpdate('a', { lane: 'one' }));
        const [whole] = await journal.updates({ withoutBody: false });
        const { body, ...rest } = whole ?? {};
        expect(body).toBe('{"text":"hi"}');
        expect(await journal.updates({ withoutBody: true })).toEqual([rest]);
        expect(await journal.updates({ lane: 'one', withoutBody: true })).toEqual([rest]);
      }));

    it('are read lane by lane, those that have not ended (durability §2.4)', () =>
      withJournal(async (journal) => {
        for (const [id, lane] of [
          ['a', 'one'],
          ['b', 'two'],
          ['c', 'one'],
          ['d', 'one'],
          ['e', undefined],
        ] as const)
          await journal.accept(anUpdate(id, lane === undefined ? {} : { lane }));
        await journal.begin('a');
        await journal.endUpdate(fenceOf('a'), { isDead: false, outcome: 'answered' });
        await journal.begin('c');
        const idsOf = async (filter: UpdateFilter) =>
          (await journal.updates(filter)).map(({ eventId }) => eventId);
        expect(await idsOf({ lane: 'one' })).toEqual(['a', 'c', 'd']);
        expect(await idsOf({ lane: 'one', states: ['accepted', 'handling'] })).toEqual(['c', 'd']);
        expect(await idsOf({ lane: 'one', states: ['accepted'] })).toEqual(['d']);
        expect(await idsOf({ lane: 'two', states: ['accepted'], limit: 1 })).toEqual(['b']);
        expect(await idsOf({ lane: 'none' })).toEqual([]);
        const [first, , , , last] = await journal.updates();
        expect(first).toMatchObject({ eventId: 'a', lane: 'one' }); // it is persisted after the end
        expect(last).not.toHaveProperty('lane');
      }));

    it('end once, and leave no body behind unless they are dead letters (durability §5.2)', () =>
      withJournal(async (journal) => {
        await journal.accept(anUpdate('a'));
        await journal.begin('a');
        await journal.endUpdate(fenceOf('a'), { isDead: false, outcome: 'answered' });
        expect((await journal.updates())[0]).not.toHaveProperty('body');
        for (const again of [
          () => journal.begin('a'),
          () => journal.endUpdate(fenceOf('a'), { isDead: false, outcome: 'answered' }),
          () => journal.begin('unknown'),
        ])
          await expect(again()).rejects.toThrow(code('journal-state'));
        expect(await journal.accept(anUpdate('a'))).toMatchObject({ state: 'ended' });
      }));

    it('that are dead letters can be tried again, from the first attempt, or dropped', () =>
      withJournal(async (journal) => {
        for (const id of ['a', 'b', 'c']) {
          await journal.accept(anUpdate(id));
          await journal.begin(id);
          await journal.endUpdate(fenceOf(id), {
            isDead: id !== 'c',
            outcome: 'failed',
            reason: 'why',
          });
        }
        expect([
          await journal.retry('a'),
          await journal.retry('c'),
          await journal.retry('d'),
        ]).toEqual([true, false, false]);
        const [a] = await journal.updates({ eventId: 'a' });
        expect(a).toMatchObject({ state: 'accepted', attempts: 0, body: '{"text":"hi"}' });
        expect(a).not.toHaveProperty('reason');
        expect(a).not.toHaveProperty('outcome');
        expect([await journal.purge('c'), await journal.purge(), await journal.purge()]).toEqual([
          0, 1, 0,
        ]);
        expect(await journal.accept(anUpdate('b'))).toMatchObject({ state: 'ended' });
      }));

    it('that are tried again keep after which of their sends that was, until they end (durability §7.6)', () =>
      withJournal(async (journal) => {
        await journal.accept(anUpdate('a'));
        const die = async (sendId: string) => {
          await journal.begin('a');
          await journal.prepare(fence, aSend(sendId, { correlationId: 'a' }));
          await journal.endUpdate(fenceOf('a'), { isDead: true, outcome: 'failed' });
          const [update] = await journal.updates();
          expect(update).not.toHaveProperty('retriedAfterSeq');
          expect(update).toMatchObject({ state: 'dead', outcome: 'failed' });
          await journal.retry('a');
        };
        for (const sendId of ['a.1', 'a.2']) {
          await die(sendId);
          await journal.prepare(fence, aSend(`${sendId}-other`, { correlationId: 'other' }));
          await journal.begin('a');
          await journal.release(fenceOf('a'));
          const [update] = await journal.updates();
          expect(update).toMatchObject({ state: 'handling', attempts: 0 });
          await journal.prepare(fence, aSend(`${sendId}-later`, { correlationId: 'a' }));
          const after = (await journal.sends({ correlationId: 'a' }))
            .filter(({ seq }) => seq > (update?.retriedAfterSeq ?? 0))
            .map((send) => send.sendId);
          expect(after).toEqual([`${sendId}-later`]);
        }
      }));

    it('that join another say so as long as they are open, and are tried again with it (durability §10.5, durability §10.7)', () =>
      withJournal(async (journal) => {
        for (const id of ['a', 'b', 'c', 'd']) await journal.accept(anUpdate(id));
        const marks = async () => (await journal.updates()).map(({ joinedTo }) => joinedTo);
        await journal.begin('d');
        await expect(journal.begin('a', ['b', 'd'])).rejects.toThrow(code('journal-state'));
        await expect(journal.begin('unknown', ['b'])).rejects.toThrow(code('journal-state'));
        expect(await marks()).toEqual([undefined, undefined, undefined, undefined]);
        expect((await journal.begin('a', ['b', 'c'])).attempts).toBe(1);
        expect(await journal.updates({ eventId: 'b' })).toMatchObject([
          { state: 'accepted', attempts: 0, joinedTo: 'a', body: '{"text":"hi"}' },
        ]);
        for (const id of ['a', 'b', 'c']) {
          const outcome = id === 'a' ? 'failed' : 'joined';
          const reason = id === 'a' ? 'why' : joinedReason('a');
          await journal.endUpdate(fenceOf(id), { isDead: true, outcome, reason });
        }
        expect(await marks()).toEqual([undefined, undefined, undefined, undefined]);
        expect(await journal.updates({ eventId: 'b' })).toMatchObject([
          { state: 'dead', outcome: 'joined', reason: 'it joined a' },
        ]);
        expect(await journal.retry('c')).toBe(true);
        expect(await journal.retry('a')).toBe(true);
        // the host takes it up, also if an operator works in its process
        expect([journal.changedOutside(), journal.changedOutside()]).toEqual([true, false]);
        expect(await marks()).toEqual([undefined, 'a', undefined, undefined]);
        const [, b] = await journal.updates();
        expect(b).toMatchObject({ state: 'accepted', attempts: 0 });
        expect(b).not.toHaveProperty('outcome');
        expect(b).not.toHaveProperty('reason');
        await journal.endUpdate(fenceOf('b'), {
          isDead: false,
          outcome: 'joined',
          reason: 'it joined a',
        });
        const [, ended] = await journal.updates();
        expect(ended).toMatchObject({ state: 'ended', outcome: 'joined' });
        expect(ended).not.toHaveProperty('joinedTo');
        expect(ended).not.toHaveProperty('body');
      }));

    it('that are tried again and had sent nothing say so, too (durability §7.6)', () =>
      withJournal(async (journal) => {
        await journal.accept(anUpdate('a'));
        await journal.endUpdate(fenceOf('a'), { isDead: true, outcome: 'failed' });
        await journal.retry('a');
        const [update] = await journal.updates();
        expect(update?.retriedAfterSeq).toBeTypeOf('number');
      }));
  });

  describe(`${name}: sends`, () => {
    it('reach one terminal state, once (durability §3.1)', () =>
      withJournal(async (journal) => {
        for (const state of ['sent', 'cancelled', 'failed'] as const) {
          await journal.prepare(fence, aSend(state, { correlationId: 'a' }));
          await journal.endSend(fence, state, {
            state,
            providerMessageId: '7',
            cause: 'c',
            reason: 'r',
          });
          for (const again of [
            () => journal.endSend(fence, state, { state: 'sent' }),
            () => journal.sending(fence, state),
            () => journal.unsent(fence, state),
            () => journal.prepare(fence, aSend(state)),
          ])
            await expect(again()).rejects.toThrow(code('journal-state'));
        }
        expect(await journal.sends({ correlationId: 'a' })).toMatchObject([
          { state: 'sent', providerMessageId: '7', cause: 'c', reason: 'r' },
          { state: 'cancelled' },
          { state: 'failed' },
        ]);
      }));

    it('of a stream say what their final says, as long as no channel has that (durability §6.4)', () =>
      withJournal(async (journal) => {
        await journal.prepare(fence, aSend('s', { correlationId: 'a' }));
        const { correlationId: _, ...final } = aSend('s', {
          kind: 'reply',
          fingerprint: 'whole',
          body: '{"content":"whole"}',
        });
        await journal.final(fence, { ...final, channel: 'other', accountId: 'two' });
        expect(await journal.sends({ correlationId: 'a' })).toMatchObject([
          { ...final, channel: 'other', accountId: 'two', state: 'prepared', attempts: 0 },
        ]);
        await journal.sending(fence, 's');
        await expect(journal.final(fence, final)).rejects.toThrow(code('journal-state'));
        await journal.endSend(fence, 's', { state: 'sent' });
        for (const sendId of ['s', 'unknown'])
          await expect(journal.final(fence, { ...final, sendId })).rejects.toThrow(
            code('journal-state'),
          );
      }));

    it('count the attempts that were given to the channel, and may be released', () =>
      withJournal(async (journal) => {
        await journal.prepare(fence, aSend('s'));
        await expect(journal.unsent(fence, 's')).rejects.toThrow(code('journal-state'));
        await journal.sending(fence, 's');
        await journal.unsent(fence, 's');
        await journal.sending(fence, 's');
        expect(await journal.sends({ states: ['prepared', 'sending'] })).toEqual([
          {
            ...aSend('s'),
            seq: expect.any(Number),
            state: 'sending',
            attempts: 2,
            preparedAtMs: expect.any(Number),
          },
        ]);
        await expect(journal.sending(fence, 'unknown')).rejects.toThrow(code('journal-state'));
      }));

    it('keep what their preview has shown, the last of it, until they have ended (durability §6.5)', () =>
      withJournal(async (journal) => {
        await journal.prepare(fence, aSend('s'));
        await journal.shown(fence, 's', '{"messageIds":[1]}');
        await journal.shown(fence, 's', '{"messageIds":[1,2]}');
        await journal.sending(fence, 's');
        expect(await journal.sends()).toMatchObject([
          { sendId: 's', state: 'sending', attempts: 1, shown: '{"messageIds":[1,2]}' },
        ]);
        await journal.shown(fence, 's'); // it asks for the fence alone
        expect(await journal.sends()).toMatchObject([{ shown: '{"messageIds":[1,2]}' }]);
        await journal.shown(fence, 's', '{"messageIds":[]}');
        await journal.endSend(fence, 's', { state: 'sent' });
        expect(await journal.sends()).toMatchObject([{ shown: '{"messageIds":[]}' }]);
        for (const sendId of ['s', 'unknown'])
          await expect(journal.shown(fence, sendId, '{}')).rejects.toThrow(code('journal-state'));
      }));

    it('have exactly one terminal state whatever is done to them, in any order (property)', () =>
      withJournal(async (journal) => {
        let made = 0;
        const step = fc.constantFrom('sending', 'unsent', 'sent', 'cancelled', 'failed');
        await fc.assert(
          fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
            const id = `s-${++made}`;
            await journal.prepare(fence, aSend(id));
            const done = await Promise.allSettled(
              steps.map((one) => {
                if (one === 'sending') return journal.sending(fence, id);
                if (one === 'unsent') return journal.unsent(fence, id);
                return journal.endSend(fence, id, { state: one as 'sent' });
              }),
            );
            const terminal = steps.filter(
              (one, at) => isTerminal(one) && done[at]?.status === 'fulfilled',
            );
            expect(terminal).toEqual(steps.filter(isTerminal).slice(0, 1));
            const [kept] = await journal.sends({ eventId: id });
            if (terminal.length > 0) expect(kept?.state).toBe(terminal[0]);
          }),
          { numRuns: 50 },
        );
      }));
  });

  describe(`${name}: reading`, () => {
    it('gives what every condition fits, oldest first, and the same each time (fault 36)', () =>
      withJournal(async (journal, clock) => {
        for (const id of ['a', 'b', 'c', 'd']) {
          await journal.accept(anUpdate(id));
          await journal.prepare(fence, aSend(`${id}.1`, { correlationId: id }));
          journal.dispatched(
            aDispatch(`${id}-1`, { correlationId: id, occurredAtMs: clock.now() }),
          );
          journal.dispatched(
            aDispatch(`${id}-2`, {
              correlationId: id,
              family: 'egress.sent',
              occurredAtMs: clock.now(),
            }),
          );
          await clock.advance(1_000);
        }
        const [, second] = await journal.updates();
        const sinceMs = second?.acceptedAtMs ?? 0;
        const ask = async () => [
          (await journal.updates({ sinceMs })).map(({ eventId }) => eventId),
          (await journal.updates({ afterSeq: second?.seq ?? 0, limit: 1 })).map(
            ({ eventId }) => eventId,
          ),
          (await journal.updates({ states: ['dead'] })).length,
          (await journal.sends({ correlationId: 'b', states: ['prepared'] })).map(
            ({ sendId }) => sendId,
          ),
          (await journal.dispatches({ correlationId: 'c' })).map(({ eventId }) => eventId),
          (await journal.dispatches({ family: 'egress.sent', sinceMs })).map(
            ({ eventId }) => eventId,
          ),
          (await journal.dispatches({ eventId: 'd-1' })).map(({ body }) => body),
          (await journal.dispatches({ limit: 0 })).length,
          (await journal.dispatches({ withinLast: 3 })).map(({ eventId }) => eventId).slice(-2),
          (await journal.updates({ withinLast: 0 })).length,
        ];
        const first = await ask();
        expect(first).toEqual([
          ['b', 'c', 'd'],
          ['c'],
          0,
          ['b.1'],
          ['c-1', 'c-2'],
          ['b-2', 'c-2', 'd-2'],
          ['{}'],
          0,
          ['d-1', 'd-2'],
          0,
        ]);
        expect(await ask()).toEqual(first);
        expect(journal.stats()).toMatchObject({ dispatches: 8, dispatchesDropped: 0 });
      }));

    it('keeps the records of audited handlers apart from the dispatches (judgement §3.6)', () =>
      withJournal(async (journal) => {
        journal.dispatched(aDispatch('a'));
        journal.dispatched(aDispatch('a', { omitted: 'audit', body: '{"verdict":"cancel"}' }));
        journal.dispatched(aDispatch('b'));
        const ids = async (filter: DispatchFilter) =>
          (await journal.dispatches(filter)).map(({ eventId, omitted }) => [eventId, omitted]);
        expect(await ids({})).toEqual([
          ['a', undefined],
          ['b', undefined],
        ]);
        expect(await ids({ eventId: 'a' })).toEqual([['a', undefined]]);
        expect(await ids({ eventId: 'a', kinds: ['audit'] })).toEqual([['a', 'audit']]);
        expect(await ids({ kinds: ['audit'] })).toEqual([['a', 'audit']]);
        expect(await ids({ eventId: 'b', kinds: ['audit'] })).toEqual([]);
      }));

    it('is in the order of writing also when the clock steps back (fault 38)', () =>
      withJournal(async (journal, clock) => {
        await journal.accept(anUpdate('a'));
        clock.set(-86_400_000);
        await journal.accept(anUpdate('b'));
        clock.set(2 * 86_400_000);
        await journal.accept(anUpdate('c'));
        const rows = await journal.updates();
        expect(rows.map(({ eventId }) => eventId)).toEqual(['a', 'b', 'c']);
        const seqs = rows.map(({ seq }) => seq);
        expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
      }));

    it('keeps a dispatch as it was written', () =>
      withJournal(async (journal) => {
        journal.dispatched(
          aDispatch('e', { sessionId: 's', omitted: 'hot-path', body: '{"a":"ä"}' }),
        );
        expect(await journal.dispatches()).toEqual([
          { ...aDispatch('e'), seq: 1, sessionId: 's', omitted: 'hot-path', body: '{"a":"ä"}' },
        ]);
      }));
  });
}
