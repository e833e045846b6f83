import { describe, expect, it, vi } from 'vitest';
import { type Journal, memoryJournal } from '../../src/journal/index.js';
import { type VirtualClock, virtualClock } from '../../src/testing/index.js';
import { type BotApiServer, botApiServer } from '../support/bot-api/bot-api.js';
import { messageUpdate } from '../support/bot-api/updates.js';
import { mortalJournal } from '../support/mortal-journal.js';
import { slowly } from '../support/slowly.js';
import { telegramLab } from '../support/telegram-lab.js';
import { end, said, start } from '../support/turn-lab.js';

vi.setConfig({ testTimeout: 300_000 }); // many hosts one after the other, on a busy machine

/** The last event before the host died. */
interface Death {
  readonly at: string;
  /** Everything that happened, the death included. */
  readonly way: readonly string[];
}

interface Scene {
  readonly server: BotApiServer;
  readonly clock: VirtualClock;
  readonly journal: Journal;
  readonly answer: string;
}

const journalSteps = new Set(['prepare', 'shown', 'final', 'sending', 'unsent', 'endSend']);

/**
 * Runs a host until the message is done with, or until the step at which it dies: before a write of its journal, or
 * before or after a call at Telegram. From then on nothing of it reaches the journal or Telegram.
 */
async function hostThatDies(
  { server, clock, journal, answer }: Scene,
  name: string,
  diesAt: number,
  way: string[] = [],
): Promise<Death | undefined> {
  let isDead = false;
  const step = (what: string): void => {
    if (isDead) return;
    way.push(what);
    if (way.length !== diesAt) return;
    isDead = true;
    mortal.kill();
    server.cutOff(name);
  };
  const mortal = mortalJournal(journal, (kind) => {
    if (journalSteps.has(kind)) step(`before ${kind}`);
    return undefined;
  });
  server.onCall = (method, when) => step(`${when} ${method}`);
  const stepMs = Math.ceil(20_000 / answer.length); // a few edits, however long it is
  const lab = await telegramLab({
    clock,
    journal: mortal,
    shared: { server, process: name },
    agents: [
      { id: 'main', provider: slowly(clock, () => [start, ...said(answer), end()], stepMs) },
    ],
    failureText: () => undefined,
  });
  if (name === 'first') server.give(messageUpdate({ updateId: 101, text: 'hi' }));
  const isDone = async () =>
    (await journal.updates()).every(({ endedAtMs }) => endedAtMs !== undefined);
  let done = false;
  const look = async (): Promise<void> => {
    done = (await journal.updates()).length > 0 && (await isDone());
  };
  await lab.until(() => {
    void look();
    return isDead || done;
  }, `${name} has died or is done`);
  server.onCall = undefined;
  await lab[Symbol.asyncDispose]();
  return isDead ? { at: way.at(-1) ?? '', way } : undefined;
}

async function sceneOf(answer: string): Promise<Scene & AsyncDisposable> {
  const clock = virtualClock();
  const server = await botApiServer(() => clock.now());
  return {
    clock,
    server,
    answer,
    journal: memoryJournal(),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

const short = 'The answer is as long as a few edits of it take, and no longer.';

describe('M9: a host that dies while Telegram shows a reply that grows (durability §7.2)', () => {
  it('M9: at any point: the next host answers once, and leaves nothing of the preview', async () => {
    const seen = new Set<string>();
    for (let diesAt = 1; ; diesAt++) {
      await using scene = await sceneOf(short);
      const death = await hostThatDies(scene, 'first', diesAt);
      if (death === undefined) break;
      seen.add(death.at);
      expect(await hostThatDies(scene, 'second', 0)).toBeUndefined();
      const where = `it died at step ${diesAt}: ${death.way.join(', ')}`;
      await expectAnswered(scene, death, where);
    }
    // all of them were tried
    expect([...seen]).toEqual(
      expect.arrayContaining([
        ...['before prepare', 'before sendMessage', 'after sendMessage', 'before shown'],
        ...['before final', 'before sending', 'before editMessageText', 'after editMessageText'],
        'before endSend',
      ]),
    );
  });

  it('M9: at any point of an answer of several messages: none of them comes twice', async () => {
    const long = Array.from({ length: 900 }, (_, at) => `w${at}`).join(' ');
    const ends = new Map<string, string>();
    for (let diesAt = 1; ; diesAt++) {
      await using scene = await sceneOf(long);
      const death = await hostThatDies(scene, 'first', diesAt);
      if (death === undefined) break;
      expect(await hostThatDies(scene, 'second', 0)).toBeUndefined();
      const where = `it died at step ${diesAt}: ${death.way.join(', ')}`;
      const whole = scene.server.shown.filter(({ text }) => !text.endsWith('▌'));
      const said = whole.map(({ text }) => text).join(' ');
      const [update] = await scene.journal.updates();
      if (update?.outcome === 'answered') expect(said, where).toBe(long);
      else {
        // nobody knows which of its messages are out: it is not sent again, and that is told
        expect(long.startsWith(said), where).toBe(true);
        expect(update, where).toMatchObject({ state: 'dead', outcome: 'failed' });
        expect(await scene.journal.sends(), where).toMatchObject([{ cause: 'ambiguous' }]);
        expect(
          death.way.filter((one) => one === 'before shown'),
          where,
        ).toHaveLength(2);
      }
      ends.set(death.at, update?.outcome ?? '');
    }
    expect([...ends.values()]).toEqual(expect.arrayContaining(['answered', 'failed']));
  });

  it.each(['before final', 'before sending', 'before endSend'])(
    'M9: %s, and the next one while it ends what was left: the third answers once',
    async (first) => {
      await using trial = await sceneOf(short);
      const way: string[] = [];
      await hostThatDies(trial, 'first', 0, way);
      const at = way.indexOf(first) + 1;
      expect(at).toBeGreaterThan(0);
      const ways = new Set<string>();
      for (let diesAt = 1; ; diesAt++) {
        await using scene = await sceneOf(short);
        expect((await hostThatDies(scene, 'first', at))?.at).toBe(first);
        const death = await hostThatDies(scene, 'second', diesAt);
        if (death === undefined) break;
        ways.add(death.at);
        expect(await hostThatDies(scene, 'third', 0)).toBeUndefined();
        await expectAnswered(scene, death, `${first}, then ${death.way.join(', ')}`);
      }
      // what grew is taken back, and said anew; a final is put where it was shown, and may be there already
      const act = first === 'before final' ? 'deleteMessage' : 'editMessageText';
      const acts = [`before ${act}`, ...(first === 'before endSend' ? [] : [`after ${act}`])];
      expect([...ways]).toEqual(expect.arrayContaining(acts));
    },
  );
});

async function expectAnswered({ server, journal, answer }: Scene, death: Death, where: string) {
  const texts = server.shown.map(({ text }) => text);
  // nobody knows the id of a first message whose answer, or the note of it, was lost: its beginning stays
  const begun = death.way.lastIndexOf('after sendMessage');
  const noted = death.way.lastIndexOf('before shown');
  const isUnknown = begun !== -1 && (noted < begun || noted === death.way.length - 1);
  expect(isUnknown ? texts.filter((text) => !text.endsWith('▌')) : texts, where).toEqual([answer]);
  expect(await journal.updates(), where).toMatchObject([{ state: 'ended', outcome: 'answered' }]);
  const open = await journal.sends({ states: ['prepared', 'sending'] });
  expect(open, where).toEqual([]);
}
