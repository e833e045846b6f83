import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import {
  type Journal,
  memoryJournal,
  memoryStore,
  openJournal,
  type Store,
} from '../../../src/journal/index.js';
import type { AgentProvider, AgentRequest, SessionMessage } from '../../../src/sdk/stream/index.js';
import { testFolder } from '../../support/folder.js';
import { type HostLab, hostLab } from '../../support/host-lab.js';
import { mortalJournal } from '../../support/mortal-journal.js';
import { scriptedChannel } from '../../support/scripted-channel.js';
import { said } from '../../support/turn-lab.js';

/** An agent that keeps a session of its own, answers, and hangs in the turn of one prompt until its host is gone. */
function keeper(hangsAt = '') {
  const asked: AgentRequest[] = [];
  let reached = (): void => undefined;
  const hanging = new Promise<void>((resolve) => {
    reached = resolve;
  });
  const provider: AgentProvider = {
    id: 'keeper',
    models: ['m'],
    toolGate: 'enforce',
    async *run(request) {
      asked.push(request);
      yield { type: 'agent_start' };
      yield* said(`Looking at ${request.prompt}`);
      request.keepSession(`own-${request.prompt}`);
      if (request.prompt === hangsAt) {
        reached();
        await new Promise(() => undefined);
      }
      yield* said(`Done with ${request.prompt}`);
      yield { type: 'agent_end', messages: [] };
    },
  };
  return { provider, asked, hanging };
}

interface Kept {
  readonly journal: Journal;
  readonly store: Store;
}

const inMemory = (): Kept => ({ journal: memoryJournal(), store: memoryStore() });

async function onFile(): Promise<Kept> {
  const journal = await openJournal(join(testFolder(), 'sluice.db'));
  return { journal, store: journal.store };
}

/** A host on what others have left. */
async function keptHost({ journal, store }: Kept, provider: AgentProvider, maxMessages = 200) {
  const mortal = mortalJournal(journal);
  const channel = scriptedChannel();
  const lab = await hostLab({
    journal: mortal,
    store,
    channel,
    agents: [{ id: 'main', provider }],
    session: { history: { maxMessages } },
  });
  return { lab, channel, kill: () => mortal.kill() };
}

const texts = (messages: readonly SessionMessage[] = []): string[] =>
  messages.map((message) =>
    message.role === 'user' ? message.content : JSON.stringify(message.content[0]),
  );

describe('a turn that the end of its host has cut off', () => {
  it.each([
    [200, 'memory', inMemory],
    [1, 'memory', inMemory],
    [200, 'a file', onFile],
  ] as const)(
    'is taken again with its prompt once, in the transcript and in the request, and with what was done (§15.10, %i messages, a journal in %s)',
    async (maxMessages, _, keep) => {
      const kept = await keep();
      const first = keeper('two');
      const killed = await keptHost(kept, first.provider, maxMessages);
      await killed.channel.receive({ text: 'one' }, '1');
      await killed.channel.receive({ text: 'two' }, '2');
      await first.hanging;
      killed.kill();

      const second = keeper();
      const next = await keptHost(kept, second.provider, maxMessages);
      await using lab = next.lab;
      await ended(lab, 1);
      const [again] = second.asked;
      expect(again?.prompt).toBe('two');
      expect(texts(again?.history)).not.toContain('two');
      expect(again?.history).toHaveLength(maxMessages === 1 ? 0 : 2); // two answers in a row are one (§16.29)
      expect(texts(again?.begun)).toEqual([expect.stringContaining('Looking at two')]);
      expect((again?.beforeHistory?.prompts ?? 0) + promptsIn(again?.history)).toBe(1);
      const session = await kept.store.loadSession('agent:main:scripted:ada');
      const transcript = await kept.store.readTranscript(session?.sessionId ?? '');
      expect(
        transcript.filter(({ role }) => role === 'user').map(({ content }) => content),
      ).toEqual(['one', 'two']);
    },
  );

  it('goes on with what its provider had persisted before it, and the next one with what it kept then (§15.11)', async () => {
    const kept = inMemory();
    const first = keeper('two');
    const killed = await keptHost(kept, first.provider);
    await killed.channel.receive({ text: 'one' }, '1');
    await killed.channel.receive({ text: 'two' }, '2');
    await first.hanging;
    killed.kill();
    const second = keeper();
    const next = await keptHost(kept, second.provider);
    await using _ = next.lab;
    await ended(next.lab, 1);
    await next.channel.receive({ text: 'three' }, '3');
    await ended(next.lab, 2);
    expect(second.asked.map(({ prompt, providerSession }) => [prompt, providerSession])).toEqual([
      ['two', 'own-one'],
      ['three', 'own-two'],
    ]);
    expect(second.asked[1]).not.toHaveProperty('begun');
  });

  it('shows nothing of what providers keep to the handlers of a session (§15.11)', async () => {
    const kept = inMemory();
    const { provider } = keeper();
    const { lab, channel } = await keptHost(kept, provider);
    await using _ = lab;
    await channel.receive({ text: 'one' }, '1');
    await channel.receive({ text: 'two' }, '2');
    await ended(lab, 2);
    const started = lab.outcomes.filter(({ event }) => event.family === 'session.starting');
    expect(started).toHaveLength(2);
    for (const { payload } of started) {
      expect(payload).not.toHaveProperty('providerSessions');
      expect(payload).not.toHaveProperty('lastTurn');
    }
  });
});

function ended({ ends }: HostLab, count: number): Promise<void> {
  return vi.waitFor(() => expect(ends).toHaveLength(count), { timeout: 280_000 });
}

function promptsIn(history: readonly SessionMessage[] = []): number {
  return history.filter(({ role }) => role === 'user').length;
}
