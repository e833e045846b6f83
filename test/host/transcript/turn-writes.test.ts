import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { TurnWrites } from '../../../src/host/transcript/turn-writes.js';
import { memoryStore, openJournal, type Store } from '../../../src/journal/index.js';
import { scriptedAgent } from '../../../src/testing/index.js';
import { fence } from '../../support/fences.js';
import { testFolder } from '../../support/folder.js';
import { hostLab } from '../../support/host-lab.js';

/** A write that the test settles. */
function held() {
  let settle = { done: (): void => undefined, failed: (_error: Error): void => undefined };
  const write = new Promise<void>((resolve, reject) => {
    settle = { done: resolve, failed: reject };
  });
  return { write, ...settle };
}

const turns = () => new Promise(setImmediate);

describe('the writes of a turn (durability §6.9)', () => {
  it('are persisted before each of the tools that ask the gate at once', async () => {
    const { write, done } = held();
    const writes = new TurnWrites({ hurry: () => undefined });
    void writes.add(write);
    const allowed: string[] = [];
    const tools = ['first', 'second'].map((tool) => writes.kept().then(() => allowed.push(tool)));
    await turns();
    expect(allowed).toEqual([]);
    done();
    await Promise.all(tools);
    expect(allowed).toEqual(['first', 'second']);
  });
});

/** A store of somebody else that knows nothing of writes that may wait: it reads a transcript, and then writes it whole. */
function slowStore(): Store & { readonly kept: readonly string[] } {
  const memory = memoryStore();
  let file: readonly unknown[] = [];
  const kept: string[] = [];
  return {
    ...memory,
    kept,
    appendMessage: async (sessionId, message) => {
      const before = file;
      for (let at = 0; at < 5; at++) await turns();
      file = [...before, message];
      kept.push(message.role);
      await memory.appendMessage(sessionId, message, { fence });
    },
    readTranscript: async () => file as Awaited<ReturnType<Store['readTranscript']>>, // as they were appended
  };
}

describe('a store whose writes do not wait', () => {
  it('gets the messages of a turn one after the other, and has them before a channel has the answer (durability §6.9)', async () => {
    const store = slowStore();
    const keptBefore: string[][] = [];
    await using lab = await hostLab({
      store,
      contribute: (kernel) => {
        kernel.contribute({
          extensionId: 'test',
          id: 'order',
          family: 'egress.sending',
          class: 'observer',
          handler: () => void keptBefore.push([...store.kept]),
        });
      },
    });
    await lab.say('hello');
    expect(store.kept).toEqual(['user', 'assistant', 'toolResult', 'assistant']);
    expect(keptBefore).toEqual([store.kept]);
    const transcript = await store.readTranscript('session-1');
    expect(transcript.map(({ role }) => role)).toEqual(store.kept);
  });
});

it('a write of a turn that was stopped is told if it fails (durability §6.9)', async () => {
  const memory = memoryStore();
  const store: Store = {
    ...memory,
    hurry: () => undefined,
    appendMessage: async () => {
      throw new Error('the disk is full');
    },
  };
  let begun = (): void => undefined;
  const isBegun = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const agent = scriptedAgent([
    [{ until: async () => begun() }, { until: () => new Promise(() => undefined) }],
  ]);
  await using lab = await hostLab({ store, agents: [{ id: 'main', provider: agent }] });
  const ending = lab.say('hello');
  await isBegun;
  lab.host.abortTurns();
  expect(await ending).toMatchObject({ status: 'aborted' });
  await turns();
  expect(lab.log.entries).toContainEqual(
    expect.objectContaining({
      level: 'error',
      message: 'a turn that was stopped was not persisted whole',
    }),
  );
});

it('an answer does not go out if its turn could not be kept by the write that it waited for (durability §6.9)', async () => {
  const journal = await openJournal(join(testFolder(), 'sluice.db'));
  await using _open = { [Symbol.asyncDispose]: () => journal.close() };
  const { store } = journal;
  const failing: Store = {
    ...store,
    appendMessage: async (sessionId, message, how) => {
      const kept = store.appendMessage(sessionId, message, how);
      if (message.role !== 'assistant' || JSON.stringify(message).includes('toolCall')) return kept;
      await kept;
      throw new Error('the row before it is damaged'); // as a write fails alone, and the others of its transaction do not
    },
  };
  await using lab = await hostLab({ journal, store: failing });
  expect(await lab.say('hello')).toMatchObject({
    status: 'failed',
    reason: 'the transcript was not written: the row before it is damaged',
  });
  expect(lab.texts()).toEqual(['This message could not be answered (not-written).']);
  expect((await journal.sends()).map(({ state }) => state)).toEqual(['failed', 'sent']);
});
