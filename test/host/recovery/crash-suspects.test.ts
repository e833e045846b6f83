import { describe, expect, it } from 'vitest';
import { echoProvider } from '../../../src/agent/index.js';
import type { AgentDefinition } from '../../../src/host/index.js';
import { type Journal, memoryJournal } from '../../../src/journal/index.js';
import { eventIdOf, openUpdates } from '../../../src/journal/internal.js';
import type { AgentProvider } from '../../../src/sdk/stream/index.js';
import type { VirtualClock } from '../../../src/testing/index.js';
import { virtualClock } from '../../../src/testing/index.js';
import { type HostLab, hostLab } from '../../support/host-lab.js';
import { mortalJournal } from '../../support/mortal-journal.js';

/** A host that a message may kill: from then on it does nothing more. */
async function mortalLab(
  journal: Journal,
  turnMs: number,
  agent: Partial<AgentDefinition> = {},
): Promise<MortalLab> {
  const mortal = mortalJournal(journal);
  const clock = virtualClock();
  const begun: string[] = [];
  const running = new Set<string>();
  let isDead = false;
  let most = 0;
  const kill = (): void => {
    isDead = true;
    mortal.kill();
  };
  const lab = await hostLab({
    journal: mortal,
    clock,
    failureText: () => undefined,
    agents: [{ id: 'main', provider: provider(), ...agent }],
  });
  return {
    ...lab,
    begun,
    get most() {
      return most;
    },
    get isDead() {
      return isDead;
    },
    kill,
  };

  function provider(): AgentProvider {
    const echo = echoProvider();
    return {
      ...echo,
      async *run(request) {
        const { prompt, signal } = request;
        if (isDead) return;
        begun.push(prompt);
        running.add(prompt);
        most = Math.max(most, running.size);
        const poisonedMs = isPoison(prompt) ? turnMs / 2 : turnMs;
        await passed(clock, prompt === 'hung' ? 600_000 : poisonedMs, signal);
        running.delete(prompt);
        if (isDead) return;
        if (isPoison(prompt) && !signal.aborted) return kill();
        yield* echo.run(request);
      },
    };
  }
}

interface MortalLab extends HostLab {
  /** The messages whose turns began, in order. */
  readonly begun: readonly string[];
  /** The most turns that ran at once. */
  readonly most: number;
  readonly isDead: boolean;
  kill(): void;
}

function passed(clock: VirtualClock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    clock.setTimeout(() => resolve(), ms);
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

const isPoison = (text: string) => text.startsWith('poison');
const innocent = Array.from({ length: 20 }, (_, at) => `m-${at}`);
const idOf = (text: string) => eventIdOf('scripted', 'default', text);

async function receive(lab: HostLab, texts: readonly string[]): Promise<void> {
  for (const text of texts)
    await lab.channel.receive({ text, conversation: text, from: text }, text);
}

/** Lets a host live for a while, or until it is killed; then it is gone. */
async function live(lab: MortalLab, forMs: number): Promise<void> {
  for (let ms = 0; ms < forMs && !lab.isDead; ms += 10) await lab.clock.advance(10);
  lab.kill();
}

async function byState(journal: Journal): Promise<Record<string, string[]>> {
  const states: Record<string, string[]> = {};
  for (const { state, updateId = '' } of await journal.updates({ limit: 1_000 }))
    (states[state] ??= []).push(updateId);
  return states;
}

describe('H2: after a host has died, what had begun', () => {
  it('is claimed so that the message that kills it alone becomes a dead letter (durability §7.7)', async () => {
    const journal = memoryJournal();
    let deaths = 0;
    for (let start = 0; start < 10; start++) {
      const lab = await mortalLab(journal, 600);
      if (start === 0)
        await receive(lab, [...innocent.slice(0, 10), 'poison', ...innocent.slice(10)]);
      else await receive(lab, [`fresh-${start}`]);
      for (let ms = 0; ms < 30_000 && !lab.isDead; ms += 10) await lab.clock.advance(10);
      if (lab.isDead) deaths++;
      lab.kill();
    }
    const fresh = Array.from({ length: 9 }, (_, at) => `fresh-${at + 1}`);
    const states = await byState(journal);
    expect(states['dead']).toEqual(['poison']);
    expect(states['ended']?.toSorted()).toEqual([...innocent, ...fresh].toSorted());
    expect(deaths).toBe(3);
  });

  it('runs a few at a time, and what is new goes on beside it (durability §7.7)', async () => {
    const journal = memoryJournal();
    const first = await mortalLab(journal, 1_000);
    await receive(first, innocent);
    await live(first, 100);
    const second = await mortalLab(journal, 1_000);
    await receive(second, ['fresh-1', 'fresh-2']);
    await second.clock.advance(10);
    expect(second.begun.toSorted()).toEqual(['fresh-1', 'fresh-2', 'm-0', 'm-1', 'm-2', 'm-3']);
    expect(second.most).toBe(6);
    await live(second, 30_000);
    expect((await byState(journal))['ended']).toHaveLength(22);
  });

  it('runs alone at its last attempt, and not before its host has run for a while (durability §7.7)', async () => {
    const journal = memoryJournal();
    for (const forMs of [100, 100]) {
      const lab = await mortalLab(journal, 1_000);
      if ((await journal.updates()).length === 0) await receive(lab, innocent.slice(0, 3));
      await live(lab, forMs);
    }
    const lab = await mortalLab(journal, 900);
    await lab.clock.advance(990);
    expect(lab.begun).toEqual([]);
    await live(lab, 10_000);
    expect([lab.begun, lab.most]).toEqual([['m-0', 'm-1', 'm-2'], 1]);
    expect(await byState(journal)).toEqual({ ended: ['m-0', 'm-1', 'm-2'] });
  });

  it('is not blamed for a storm of deaths, however long that lasts (durability §7.7)', async () => {
    const journal = memoryJournal();
    for (let start = 0; start < 12; start++) {
      const lab = await mortalLab(journal, 700);
      if (start === 0) await receive(lab, innocent);
      await live(lab, 300 + 50 * start);
    }
    expect((await byState(journal))['dead']).toBeUndefined();
    await live(await mortalLab(journal, 700), 60_000);
    expect((await byState(journal))['ended']).toHaveLength(innocent.length);
  });

  it('is not convicted by another that is new and ends the host beside its last attempt (durability §7.7)', async () => {
    const journal = memoryJournal();
    for (const forMs of [100, 100]) {
      const lab = await mortalLab(journal, 600);
      if ((await journal.updates()).length === 0) await receive(lab, ['innocent']);
      await live(lab, forMs);
    }
    const last = await mortalLab(journal, 600);
    await last.clock.advance(1_100);
    expect(last.begun).toEqual(['innocent']);
    await receive(last, ['poison']);
    await live(last, 5_000);
    expect(last.isDead).toBe(true);
    expect(await journal.updates()).toMatchObject([{ attempts: 3 }, { attempts: 1 }]);
    for (let start = 0; start < 5; start++) await live(await mortalLab(journal, 600), 30_000);
    expect(await byState(journal)).toEqual({ ended: ['innocent'], dead: ['poison'] });
  });

  it('is not convicted beside two that end hosts, whichever of them came first (durability §7.7)', async () => {
    for (const texts of [
      ['poison-1', 'a', 'b'],
      ['a', 'poison-1', 'b'],
      ['a', 'b', 'poison-1'],
    ]) {
      const journal = memoryJournal();
      for (let start = 0; start < 14; start++) {
        const lab = await mortalLab(journal, 600);
        if (start === 0) await receive(lab, texts);
        await lab.clock.advance(start === 2 ? 1_020 : 0); // beside the first last attempt
        if (start === 2) await receive(lab, ['poison-2']);
        await live(lab, 40_000);
      }
      const states = await byState(journal);
      expect(states['dead']?.toSorted()).toEqual(['poison-1', 'poison-2']);
      expect(states['ended']?.toSorted()).toEqual(['a', 'b']);
    }
  });

  it('waits for no other that hangs: each begins within three seconds, also at its last attempt (durability §7.7)', async () => {
    for (const deaths of [1, 2]) {
      const journal = memoryJournal();
      for (let death = 0; death < deaths; death++) {
        const lab = await mortalLab(journal, 50);
        if (death === 0) await receive(lab, ['hung', ...innocent]);
        await lab.clock.advance(0);
        await live(lab, death === 0 ? 20 : 1_040); // in the second life, so far that all of them have begun
      }
      const attempts = (await journal.updates({ states: openUpdates })).map((one) => one.attempts);
      expect(new Set(attempts)).toEqual(new Set([deaths]));
      const left = attempts.length;
      const lab = await mortalLab(journal, 50);
      await lab.clock.advance(3_000);
      expect(lab.begun).toHaveLength(left);
      expect((await byState(journal))['handling']).toEqual(['hung']);
      lab.kill();
    }
  });

  it('comes to its end in hosts that live two seconds, also behind one that hangs (durability §7.7)', async () => {
    for (const lifeMs of [1_950, 2_400]) {
      const journal = memoryJournal();
      let lives = 0;
      const isDone = async () => ((await byState(journal))['ended']?.length ?? 0) === 40;
      while (lives < 40 && !(await isDone())) {
        const lab = await mortalLab(journal, 900);
        if (lives === 0)
          await receive(lab, ['hung', ...innocent, ...innocent.map((text) => `${text}-again`)]);
        await live(lab, lives++ < 2 ? 300 : lifeMs);
      }
      const { dead = [], ended } = await byState(journal);
      expect(ended).toHaveLength(40);
      expect(dead.filter((text) => text !== 'hung')).toEqual([]);
    }
  });

  it('is not convicted for one that ends hosts late, when the others beside it have long begun (durability §7.7)', async () => {
    const journal = memoryJournal();
    const slow = innocent.slice(0, 6);
    let deaths = 0;
    for (let start = 0; start < 8; start++) {
      const lab = await mortalLab(journal, 10_000);
      if (start === 0) await receive(lab, [...slow.slice(0, 3), 'poison', ...slow.slice(3)]);
      for (let ms = 0; ms < 120_000 && !lab.isDead; ms += 100) await lab.clock.advance(100);
      if (lab.isDead) deaths++;
      lab.kill();
    }
    expect(await byState(journal)).toEqual({
      dead: ['poison'],
      ended: expect.arrayContaining(slow) as unknown,
    });
    expect(deaths).toBeLessThanOrEqual(4);
  });

  it('has used up an attempt only if it ran: what waited for its session or its agent has not (durability §7.7)', async () => {
    const journal = memoryJournal();
    const attemptsOf = async () =>
      Object.fromEntries(
        (await journal.updates()).map(({ updateId, attempts }) => [updateId, attempts]),
      );
    const first = await mortalLab(journal, 1_000, { maxRunning: 1 });
    await receive(first, ['a', 'b', 'c']);
    await live(first, 100);
    expect(first.begun).toEqual(['a']);
    expect(await attemptsOf()).toEqual({ a: 1, b: 0, c: 0 });
    const second = await mortalLab(journal, 1_000, { maxRunning: 1 });
    await live(second, 1_500);
    expect(second.begun).toEqual(['b', 'c']); // "a" waited, which had run before
    expect(await attemptsOf()).toEqual({ a: 1, b: 1, c: 1 });
    await live(await mortalLab(journal, 1_000, { maxRunning: 1 }), 20_000);
    expect((await byState(journal))['ended']).toEqual(['a', 'b', 'c']);
    expect(await attemptsOf()).toEqual({ a: 2, b: 1, c: 2 });
  });

  it('is claimed again if it waited and could not be begun then (durability §6.2)', async () => {
    const memory = memoryJournal();
    let begins = 0;
    const journal: Journal = {
      ...memory,
      begin: async (eventId) => {
        if (++begins === 1) throw new Error('the disk is full'); // of "b", which has waited
        return memory.begin(eventId);
      },
    };
    const lab = await mortalLab(journal, 100, { maxRunning: 1 });
    await receive(lab, ['a', 'b']);
    await lab.clock.advance(150);
    expect(lab.texts()).toEqual(['a']);
    expect(begins).toBe(1);
    const errors = lab.log.entries.filter(({ level }) => level === 'error');
    expect(errors.map(({ message }) => message)).toEqual([
      'an update waits: the journal could not be used', // and nothing says that it failed
    ]);
    await live(lab, 5_000);
    expect(lab.texts()).toEqual(['a', 'b']);
    expect(await byState(journal)).toEqual({ ended: ['a', 'b'] });
  });

  it('has used up no attempt where its host was stopped in good order, and had no time for it (durability §7.8)', async () => {
    const journal = memoryJournal();
    for (let start = 0; start < 5; start++) {
      const lab = await mortalLab(journal, 5_000);
      if (start === 0) await receive(lab, ['slow']);
      await lab.clock.advance(100);
      const stopping = lab.host.stop({ timeoutMs: 100 });
      await lab.clock.advance(10_000);
      expect(await stopping).toMatchObject({ drained: false, abandoned: 1 });
      const [update] = await journal.updates({ eventId: idOf('slow') });
      expect(update).toMatchObject({ attempts: 0 });
    }
    const last = await mortalLab(journal, 5_000);
    await live(last, 6_000);
    expect(await journal.updates()).toMatchObject([{ state: 'ended', attempts: 1 }]);
  });
});

describe('M6: with a journal', () => {
  it('what waits is in the journal alone, and is claimed in the order in which it came (durability §8.8)', async () => {
    const journal = memoryJournal();
    const begun: string[] = [];
    const echo = echoProvider();
    await using lab = await hostLab({
      journal,
      lanes: { maxRunning: 2 },
      agents: [
        {
          id: 'main',
          provider: {
            ...echo,
            async *run(request) {
              begun.push(request.prompt);
              await passed(lab.clock, 100, request.signal);
              yield* echo.run(request);
            },
          },
        },
      ],
    });
    const texts = Array.from({ length: 60 }, (_, at) => `m-${at}`);
    await receive(lab, texts);
    // those that run, and as many as may run next
    expect(lab.host.stats()).toMatchObject({ running: 2, waiting: 4, parked: 56 });
    await lab.clock.advance(10_000);
    expect(begun).toEqual(texts);
    expect(lab.texts()).toEqual(texts);
    expect(lab.host.stats()).toMatchObject({ running: 0, waiting: 0 });
  });

  it('as many as may run wait for an agent in memory, the others in the journal, where no attempt counts (durability §8.8)', async () => {
    const journal = memoryJournal();
    const begun: string[] = [];
    const echo = echoProvider();
    await using lab = await hostLab({
      journal,
      lanes: { maxRunning: 4, total: 10 },
      agents: [
        {
          id: 'main',
          maxRunning: 1,
          provider: {
            ...echo,
            async *run(request) {
              begun.push(request.prompt);
              await passed(lab.clock, 100, request.signal);
              yield* echo.run(request);
            },
          },
        },
      ],
    });
    const texts = Array.from({ length: 60 }, (_, at) => `m-${at}`);
    await receive(lab, texts);
    await lab.clock.advance(10);
    expect(lab.host.stats()).toMatchObject({ waiting: 5 });
    await lab.clock.advance(10_000);
    expect(begun).toEqual(texts);
    const seen = lab.of('routing.resolved').map(({ event }) => event.correlationId ?? '');
    expect(
      Math.max(...[...new Set(seen)].map((id) => seen.filter((one) => one === id).length)),
    ).toBe(2);
    expect((await journal.updates()).map(({ attempts }) => attempts)).toEqual(texts.map(() => 1));
    expect(lab.host.stats()).toMatchObject({ running: 0, waiting: 0, dropped: 0 });
  });

  it('the messages of a conversation wait in the journal while one of them runs, and keep their order (durability §8.8)', async () => {
    const journal = memoryJournal();
    const lab = await mortalLab(journal, 100);
    const texts = Array.from({ length: 30 }, (_, at) => `m-${at}`);
    for (const text of texts) await lab.channel.receive({ text, conversation: 'one' }, text);
    expect(lab.host.stats()).toMatchObject({ waiting: 1, parked: 29 });
    await lab.clock.advance(10_000);
    expect(lab.begun).toEqual(texts);
    expect(lab.texts()).toEqual(texts);
    await lab[Symbol.asyncDispose]();
  });

  it('a host that is stopped leaves to the next one what has not begun; at the end of its input all is done (durability §8.8)', async () => {
    const journal = memoryJournal();
    const first = await mortalLab(journal, 100);
    const texts = ['a', 'b', 'c', 'd'];
    for (const text of texts) await first.channel.receive({ text, conversation: 'one' }, text);
    const stopping = first.host.stop({ timeoutMs: 5_000 });
    await first.clock.advance(5_000);
    expect(await stopping).toMatchObject({ drained: true, abandoned: 0 });
    expect(first.begun).toEqual(['a']);
    const second = await mortalLab(journal, 100);
    second.channel.end();
    await second.clock.advance(5_000);
    expect(await second.host.stopped).toMatchObject({ drained: true });
    expect(second.begun).toEqual(['b', 'c', 'd']);
  });
});
