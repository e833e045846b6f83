import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Histories } from '../../../src/host/transcript/histories.js';
import type { HistoryBounds } from '../../../src/host/transcript/history.js';
import { memoryStore, type Store } from '../../../src/journal/index.js';
import type { TranscriptEntry } from '../../../src/sdk/stream/index.js';
import { fence } from '../../support/fences.js';

const entries: readonly TranscriptEntry[] = [
  { role: 'user', content: 'question' },
  { role: 'assistant', content: [{ type: 'text', text: 'answer' }] },
  { role: 'toolResult', toolCallId: 't', toolName: 't', content: [], isError: false },
  { role: 'summary', content: 'x'.repeat(80) },
];

/** A store that counts the messages that it gives, and the times that one of them is looked at. */
function countedStore() {
  const store = memoryStore();
  const counts = { read: 0, visited: 0 };
  const counted: Store = {
    ...store,
    appendMessage: (sessionId, entry) => {
      const { role, ...rest } = entry;
      const watched = Object.defineProperty({ ...rest }, 'role', {
        enumerable: true,
        get: () => {
          counts.visited++;
          return role;
        },
      });
      return store.appendMessage(sessionId, watched as TranscriptEntry, { fence }); // with the role that it had
    },
    readTranscript: async (sessionId, part) => {
      const read = await store.readTranscript(sessionId, part);
      counts.read += read.length;
      return read;
    },
  };
  return { store: counted, counts };
}

async function append(store: Store, count: number, sessionId = 's'): Promise<void> {
  for (let at = 0; at < count; at++)
    await store.appendMessage(sessionId, entries[at % 2] as TranscriptEntry, { fence }); // 0 or 1
}

const read = async (histories: Histories, store: Store, sessionId = 's') =>
  histories.read(sessionId, await store.transcriptSize(sessionId));

describe('the histories of sessions that take turns (event-pipeline §15.9)', () => {
  it('a turn reads the messages that came since the last one, and looks at no more than those and the ones that go', async () => {
    const { store, counts } = countedStore();
    const histories = new Histories(store);
    await append(store, 400);
    expect((await read(histories, store)).history).toHaveLength(200);
    expect(counts.read).toBe(200);
    for (let turn = 0; turn < 3; turn++) {
      await append(store, 4);
      Object.assign(counts, { read: 0, visited: 0 });
      expect((await read(histories, store)).history).toHaveLength(200);
      expect(counts.read).toBe(4);
      expect(counts.visited).toBeLessThan(40); // not 200
    }
    await read(histories, store);
    expect(counts.read).toBe(4); // nothing has come
  });

  it('a history is the one that a host has which reads it for the first time', async () => {
    const bounds = fc.record({
      maxMessages: fc.integer({ min: 0, max: 12 }),
      maxTokens: fc.integer({ min: 0, max: 120 }),
    });
    const added = fc.array(fc.array(fc.constantFrom(...entries), { maxLength: 8 }), {
      maxLength: 8,
    });
    await fc.assert(
      fc.asyncProperty(bounds, added, async (within: HistoryBounds, turns) => {
        const store = memoryStore();
        const histories = new Histories(store, within);
        for (const turn of turns) {
          for (const entry of turn) await store.appendMessage('s', entry, { fence });
          const known = await read(histories, store);
          expect(known).toEqual(await read(new Histories(store, within), store));
          const { history } = known;
          const all = await store.readTranscript('s');
          expect(history).toEqual(all.slice(all.length - history.length));
        }
      }),
    );
  });

  it('a list that an agent was given stays as it is, and a change of it reaches nobody', async () => {
    const store = memoryStore();
    const histories = new Histories(store);
    await append(store, 4);
    const first = (await read(histories, store)).history as TranscriptEntry[]; // as JavaScript has it
    await append(store, 2);
    await read(histories, store);
    expect(first).toHaveLength(4);
    first.length = 0;
    expect((await read(histories, store)).history).toHaveLength(6);
  });

  it('of many sessions, those that were read first are let go', async () => {
    const { store, counts } = countedStore();
    const histories = new Histories(store);
    for (let at = 0; at <= 512; at++) {
      await append(store, 2, `s${at}`);
      await read(histories, store, `s${at}`);
    }
    counts.read = 0;
    await read(histories, store, 's512');
    expect(counts.read).toBe(0);
    await read(histories, store, 's0');
    expect(counts.read).toBe(2);
  });
});
