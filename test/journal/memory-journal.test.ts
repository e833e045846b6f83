import { describe, expect, it, vi } from 'vitest';
import { echoProvider } from '../../src/agent/index.js';
import { createHost } from '../../src/host/index.js';
import { type Journal, memoryJournal } from '../../src/journal/index.js';
import { fence, fenceOf } from '../support/fences.js';
import { hostLab } from '../support/host-lab.js';

describe('a journal of the caller', () => {
  it.each([
    ['when to acknowledge', 'acknowledge', { acknowledge: undefined }],
    ['how many partitions it has', 'partitionCount', { ownership: { isShared: true } }],
  ])('is refused by name if it does not say %s (durability §1.1)', (_, name, older) => {
    expect(() =>
      createHost({
        agents: [{ id: 'main', provider: echoProvider() }],
        journal: { ...memoryJournal(), ...older } as unknown as Journal,
      }),
    ).toThrow(
      expect.objectContaining({
        code: 'bad-option',
        message: expect.stringMatching(`journal.*${name}`),
      }),
    );
  });
});

/** A journal that counts how many rows are compared with a filter: each asks its `states`. */
function counting(journal: Journal): { readonly journal: Journal; readonly looks: () => number } {
  let looks = 0;
  const counted = <State extends string>(states: readonly State[]): readonly State[] =>
    Object.assign([...states], {
      includes: (state: State) => {
        looks++;
        return states.some((one) => one === state);
      },
    });
  const allSends = ['prepared', 'sending', 'sent', 'cancelled', 'failed'] as const;
  const allUpdates = ['accepted', 'handling', 'ended', 'dead'] as const;
  return {
    looks: () => looks,
    journal: {
      ...journal,
      updates: ({ states = allUpdates, ...filter } = {}) =>
        journal.updates({ ...filter, states: counted(states) }),
      sends: ({ states = allSends, ...filter } = {}) =>
        journal.sends({ ...filter, states: counted(states) }),
    },
  };
}

describe('a journal in memory that is long', () => {
  it('is looked through no further for the last message than for the first (durability §8.8)', async () => {
    const { journal, looks } = counting(memoryJournal());
    const perMessage: number[] = [];
    let before = 0;
    await using lab = await hostLab({
      journal,
      agents: [{ id: 'main', provider: echoProvider() }],
    });
    const round = async (at: number): Promise<void> => {
      before = looks();
      const ids = Array.from({ length: 20 }, (_, one) => `${at}-${one}`);
      await Promise.all(
        ids.map((id) => lab.channel.receive({ text: id, conversation: 'one' }, id)),
      );
      while (lab.channel.sent.length < (at + 1) * ids.length)
        await new Promise((resolve) => setImmediate(resolve));
      await lab.clock.advance(0);
      perMessage.push((looks() - before) / ids.length);
    };
    for (let at = 0; at < 20; at++) await round(at);
    expect(perMessage[0]).toBeGreaterThan(0); // most have waited in the journal
    expect(Math.max(...perMessage)).toBeLessThanOrEqual(12);
    expect(perMessage.at(-1)).toBeLessThanOrEqual((perMessage[1] ?? 0) + 1);
  });
});

describe('a journal in memory that has persisted many', () => {
  /** Takes an update through to its end, with one send and one dispatch. */
  const handle = async (journal: Journal, eventId: string, isDead = false): Promise<void> => {
    const about = { channel: 'scripted', accountId: 'default', receivedAtMs: 0, body: '{}' };
    await journal.accept({ eventId, ...about });
    await journal.begin(eventId);
    const said = { kind: 'reply', fingerprint: 'f', body: '{"content":"hi"}' };
    await journal.prepare(fence, { sendId: `${eventId}.1`, correlationId: eventId, ...said });
    await journal.sending(fence, `${eventId}.1`);
    await journal.endSend(fence, `${eventId}.1`, { state: 'sent' });
    const dispatch = { family: 'egress.sent', correlationId: eventId, sessionId: null } as const;
    journal.dispatched({ eventId, ...dispatch, status: 'passed', occurredAtMs: 0, body: '{}' });
    await journal.endUpdate(fenceOf(eventId), { isDead, outcome: isDead ? 'failed' : 'answered' });
  };
  const idsOf = async (journal: Journal): Promise<readonly string[]> =>
    (await journal.updates()).map(({ eventId }) => eventId);

  it('keeps the newest that have ended, each with its sends, and as many dispatches (durability §1.16)', async () => {
    const journal = memoryJournal({ keepRows: 3 });
    for (let at = 0; at < 50; at++) await handle(journal, `u-${at}`, at % 2 === 0);
    expect(await idsOf(journal)).toEqual(['u-47', 'u-48', 'u-49']);
    const sends = await journal.sends();
    expect(sends.map(({ sendId }) => sendId)).toEqual(['u-47.1', 'u-48.1', 'u-49.1']);
    const dispatches = await journal.dispatches();
    expect(dispatches.map(({ eventId }) => eventId)).toEqual(['u-47', 'u-48', 'u-49']);
    expect(journal.stats()).toMatchObject({ accepted: 50, dispatches: 50 });
  });

  /** Has an update come for each that ends, the oldest first. @returns how many places of arrays are gone through for each. */
  const placesPerUpdate = async (journal: Journal, open: number): Promise<number> => {
    const accept = (at: number) =>
      journal.accept({ eventId: `u-${at}`, channel: 'c', accountId: 'a', receivedAtMs: 0 });
    for (let at = 0; at < open; at++) await accept(at);
    let places = 0;
    const { splice, filter } = Array.prototype;
    const spies = [
      vi.spyOn(Array.prototype, 'splice').mockImplementation(function (this: unknown[], ...of) {
        places += this.length - Number(of[0]);
        return splice.apply(this, of);
      }),
      vi.spyOn(Array.prototype, 'filter').mockImplementation(function (this: unknown[], ...of) {
        places += this.length;
        return filter.apply(this, of);
      }),
    ];
    try {
      for (let at = 0; at < 2 * open; at++) {
        await journal.begin(`u-${at}`);
        await journal.endUpdate(fenceOf(`u-${at}`), { isDead: false, outcome: 'answered' });
        await accept(at + open);
      }
    } finally {
      for (const spy of spies) spy.mockRestore();
    }
    return places / (2 * open);
  };

  it.each([
    ['that outlives its host', { keepRows: 500 }],
    ['that does not outlive its host', { acknowledge: 'ended' as const }],
  ])('moves no more rows for an update if many are open, %s (durability §1.16)', async (_, how) => {
    const few = await placesPerUpdate(memoryJournal(how), 20);
    const many = await placesPerUpdate(memoryJournal(how), 2_000);
    expect(many).toBeLessThanOrEqual(Math.max(16, few));
  });

  it('keeps the newest ended sends of no update (durability §1.16)', async () => {
    const journal = memoryJournal({ keepRows: 3 });
    for (let at = 0; at < 50; at++) {
      const said = { kind: 'unprompted', fingerprint: 'f', body: '{}' };
      await journal.prepare(fence, { sendId: `s-${at}`, ...said });
      await journal.endSend(fence, `s-${at}`, { state: 'failed' });
    }
    expect((await journal.sends()).map(({ sendId }) => sendId)).toEqual(['s-47', 's-48', 's-49']);
  });

  it('keeps all that has not ended, also a dead letter that is tried again (durability §1.16)', async () => {
    const journal = memoryJournal({ keepRows: 2 });
    const about = { channel: 'scripted', accountId: 'default', receivedAtMs: 0 };
    for (let at = 0; at < 5; at++) await journal.accept({ eventId: `open-${at}`, ...about });
    await handle(journal, 'dead', true);
    expect(await journal.retry('dead')).toBe(true);
    for (let at = 0; at < 5; at++) await handle(journal, `u-${at}`);
    expect(await idsOf(journal)).toEqual(
      ['open-0', 'open-1', 'open-2', 'open-3', 'open-4'].concat(['dead', 'u-3', 'u-4']),
    );
    expect(await journal.sends({ correlationId: 'dead' })).toHaveLength(1);
  });

  it('keeps nothing that has ended, if it does not outlive its host (durability §1.16)', async () => {
    const journal = memoryJournal({ acknowledge: 'ended' });
    for (let at = 0; at < 5; at++) await handle(journal, `u-${at}`, at === 0);
    const rows = [await journal.updates(), await journal.sends(), await journal.dispatches()];
    expect(rows).toEqual([[], [], []]);
  });
});
