import { describe, expect, it } from 'vitest';
import type { SessionRecord, Store } from '../../src/journal/index.js';
import { fence } from '../support/fences.js';

export function session(
  sessionKey: string,
  sessionId: string,
  more: Partial<SessionRecord> = {},
): SessionRecord {
  return {
    sessionKey,
    sessionId,
    agentId: 'main',
    context: {},
    memoryKeys: [],
    metadata: {},
    ...more,
  };
}

/** What every store of sessions must do, whatever it is made of. */
export function describeStore(
  name: string,
  open: () => Promise<{ readonly store: Store; readonly close: () => Promise<void> }>,
): void {
  const withStore = async (test: (store: Store) => Promise<void>) => {
    const { store, close } = await open();
    try {
      await test(store);
    } finally {
      await close();
    }
  };

  describe(`${name}: sessions`, () => {
    it('gives back the newest session of a key, as it was saved', () =>
      withStore(async (store) => {
        expect(await store.loadSession('k')).toBe(undefined);
        const whole = session('k', 's1', {
          startedAtMs: 3,
          resumedFrom: 's0',
          context: { deep: [{ a: null, b: 'ä€\u0000' }] },
          memoryKeys: ['m'],
          metadata: { x: 1.5 },
        });
        await store.saveSession(whole, { fence });
        await store.saveSession(session('other', 's9'), { fence });
        expect(await store.loadSession('k')).toEqual(whole);
        await store.saveSession(session('k', 's2'), { fence });
        expect((await store.loadSession('k'))?.sessionId).toBe('s2');
      }));

    it('gives each of many readings that come together what it has asked for', () =>
      withStore(async (store) => {
        const ids = ['one', 'two', 'three', 'none'];
        const said = (id: string, at: number) =>
          ({ role: at % 2 === 0 ? 'user' : 'assistant', content: `${id} ${at}` }) as const;
        for (const [at, id] of ids.slice(0, 3).entries()) {
          await store.saveSession(session(`key ${id}`, id), { fence });
          for (let n = 0; n < 3 + at; n++) await store.appendMessage(id, said(id, n), { fence });
        }
        const read = (id: string, at: number) =>
          Promise.all([
            store.loadSession(`key ${id}`),
            store.transcriptSize(id),
            store.readTranscript(id, { last: 1 + at, skip: at }),
            store.readTranscript(id),
          ]);
        const alone: unknown[] = [];
        for (const [at, id] of ids.entries()) alone.push(await read(id, at));
        expect(await Promise.all(ids.map(read))).toEqual(alone);
        expect(alone[2]).toMatchObject([
          { sessionKey: 'key three' },
          { messages: 5, prompts: 3 },
          [said('three', 0), said('three', 1), said('three', 2)],
          { length: 5 },
        ]);
        expect(alone[3]).toEqual([undefined, { messages: 0, prompts: 0 }, [], []]);
      }));

    it('writes nothing under a fence that has ended, if it is that of a journal (durability §12.1)', () =>
      withStore(async (store) => {
        const lost = { fence: { ...fence, signal: AbortSignal.abort(new Error('it was taken')) } };
        const isOfJournal = store.hurry !== undefined;
        const saved = store.saveSession(session('k', 's1'), lost).catch(String);
        const added = store.appendMessage('s1', { role: 'user', content: 'a' }, lost).catch(String);
        const told = isOfJournal ? 'Error: it was taken' : undefined;
        expect([await saved, await added]).toEqual([told, told]);
        expect(await store.loadSession('k')).toEqual(isOfJournal ? undefined : session('k', 's1'));
        expect(await store.readTranscript('s1')).toHaveLength(isOfJournal ? 0 : 1);
      }));

    it('keeps transcripts apart, in the order of the calls', () =>
      withStore(async (store) => {
        await store.saveSession(session('k', 's1'), { fence });
        const entry = (content: string) => ({ role: 'user' as const, content });
        await Promise.all(
          Array.from({ length: 20 }, (_, at) =>
            store.appendMessage(at % 2 ? 's1' : 's2', entry(`${at}`), { fence }),
          ),
        );
        const texts = async (id: string) =>
          (await store.readTranscript(id)).map(({ content }) => content);
        expect(await texts('s1')).toEqual(['1', '3', '5', '7', '9', '11', '13', '15', '17', '19']);
        expect(await texts('s2')).toHaveLength(10);
        expect(await texts('s3')).toEqual([]);
      }));

    it('gives a part of a transcript, counted from its end, and says how much there is', () =>
      withStore(async (store) => {
        await store.saveSession(session('k', 's1'), { fence });
        for (let at = 0; at < 1_100; at++) {
          await store.appendMessage(
            's1',
            {
              role: at % 2 ? 'assistant' : 'user',
              content: `${at}`,
            },
            { fence },
          );
          if (at % 100 === 0)
            await store.appendMessage('s2', { role: 'user', content: ['no text'] }, { fence });
        }
        const texts = async (last: number, skip?: number) =>
          (await store.readTranscript('s1', { last, ...(skip !== undefined && { skip }) })).map(
            ({ content }) => content,
          );
        expect(await texts(3)).toEqual(['1097', '1098', '1099']);
        expect(await texts(2, 3)).toEqual(['1095', '1096']);
        expect(await texts(5, 1_098)).toEqual(['0', '1']);
        expect(await texts(5, 1_100)).toEqual([]);
        expect(await texts(5, 2_000)).toEqual([]);
        expect(await texts(0)).toEqual([]);
        const whole = await store.readTranscript('s1'); // of more than one page
        expect(whole.map(({ content }) => content)).toEqual(
          Array.from({ length: 1_100 }, (_, at) => `${at}`),
        );
        expect(await store.transcriptSize('s1')).toEqual({ messages: 1_100, prompts: 550 });
        expect(await store.transcriptSize('s2')).toEqual({ messages: 11, prompts: 0 });
        expect(await store.transcriptSize('s3')).toEqual({ messages: 0, prompts: 0 });
      }));

    it('lets go of the transcript of a session that another has replaced, and of no other', () =>
      withStore(async (store) => {
        await store.saveSession(session('k', 's1'), { fence });
        await store.appendMessage('s1', { role: 'user', content: 'old' }, { fence });
        await store.appendMessage('other', { role: 'user', content: 'other' }, { fence });
        await store.saveSession(session('k', 's1', { memoryKeys: ['a'] }), { fence });
        expect(await store.readTranscript('s1')).toHaveLength(1);
        await store.saveSession(session('k', 's2'), { fence });
        expect(await store.readTranscript('s1')).toEqual([]);
        expect(await store.readTranscript('other')).toHaveLength(1);
      }));
  });
}
