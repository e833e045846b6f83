import { expect, it } from 'vitest';
import { journalError } from '../../../src/journal/errors.js';
import { type Journal, memoryJournal } from '../../../src/journal/index.js';
import { virtualClock } from '../../../src/testing/index.js';
import { type HostLab, hostLab } from '../../support/host-lab.js';
import { scriptedChannel } from '../../support/scripted-channel.js';
import { sharedJournal } from '../../support/shared-journal.js';

const away = () => journalError('database-io', { path: 'memory', problem: 'it is away' });

/** The same journal, which keeps some ends of updates only when they are tried again. */
function forgetful(journal: Journal, unkept: number): Journal {
  let left = unkept;
  const endUpdate: Journal['endUpdate'] = (...given) =>
    left-- > 0 ? Promise.reject(away()) : journal.endUpdate(...given);
  const { write } = journal.keyValues;
  const keyValues: Journal['keyValues'] = {
    ...journal.keyValues,
    // the journal is away for both: the turn of the session is not released
    write: (namespace, key, value, given) =>
      left > 0 && value === undefined
        ? Promise.reject(away())
        : write(namespace, key, value, given),
  };
  return { ...journal, endUpdate, keyValues };
}

async function receiveAll(lab: HostLab, texts: readonly string[]): Promise<void> {
  for (const text of texts) void lab.channel.receive({ text, conversation: 'one' }, text);
  for (let second = 0; second < 10; second++) await lab.clock.advance(1_000);
}

const texts = ['a', 'b', 'c'];
const answered = texts.map((text) => `${text} answered`);

const statesOf = async (journal: Journal) =>
  (await journal.updates()).map(
    ({ updateId, state, outcome }) => `${updateId} ${outcome ?? state}`,
  );

it.each([1, 2, 3])(
  'an update whose end a shared journal has not persisted %i times ends before the next of its conversation begins, which would wait for its session (durability §6.6, durability §12.8)',
  async (unkept) => {
    const clock = virtualClock();
    const shared = sharedJournal(clock);
    shared.give('b', shared.all);
    const journal = forgetful(shared.of('b'), unkept);
    const channel = scriptedChannel({ everyHost: true });
    await using lab = await hostLab({ clock, channel, journal });
    await receiveAll(lab, texts);
    expect(lab.texts()).toEqual(texts);
    expect(await statesOf(journal)).toEqual(answered);
  },
);

it('an update ends before the next of its conversation begins if a shared journal has not persisted its end, and keeps that of its send later (durability §6.7, durability §12.8)', async () => {
  const clock = virtualClock();
  const shared = sharedJournal(clock);
  shared.give('b', shared.all);
  const inner = forgetful(shared.of('b'), 2);
  let left = 3;
  const endSend: Journal['endSend'] = (...given) =>
    left-- > 0 ? Promise.reject(away()) : inner.endSend(...given);
  const channel = scriptedChannel({ everyHost: true });
  await using lab = await hostLab({ clock, channel, journal: { ...inner, endSend } });
  for (const text of texts) void lab.channel.receive({ text, conversation: 'one' }, text);
  await clock.advance(150);
  expect(lab.texts()).toEqual(['a']);
  for (let second = 0; second < 10; second++) await clock.advance(1_000);
  expect(lab.texts()).toEqual(texts);
  expect(await statesOf(inner)).toEqual(answered);
});

it.each([1, 2, 3])(
  'an update whose end the journal of one host has not persisted %i times is answered once, and its end told once (durability §6.6)',
  async (unkept) => {
    const journal = forgetful(memoryJournal(), unkept);
    await using lab = await hostLab({ journal });
    await receiveAll(lab, texts);
    expect(lab.texts()).toEqual(texts);
    expect(await statesOf(journal)).toEqual(answered);
    expect(lab.ends.map(({ status }) => status)).toEqual(texts.map(() => 'answered'));
  },
);

it('an update whose end is persisted late is answered once in a journal that its host takes with it (durability §6.6, durability §6.8)', async () => {
  const journal = forgetful(memoryJournal({ acknowledge: 'ended' }), 1);
  await using lab = await hostLab({ journal });
  await receiveAll(lab, texts);
  expect(lab.texts()).toEqual(texts);
});

it.each([true, false])(
  'a host stops whose conversation is blocked by an end that is never persisted; it shares the journal: %s (durability §6.6)',
  async (isShared) => {
    const clock = virtualClock();
    const shared = sharedJournal(clock);
    shared.give('b', shared.all);
    const of = isShared ? shared.of('b') : memoryJournal({ clock });
    const journal = forgetful(of, Number.POSITIVE_INFINITY);
    const lab = await hostLab({ clock, channel: scriptedChannel({ everyHost: true }), journal });
    await receiveAll(lab, texts);
    expect(lab.texts()).toEqual(['a']);
    const stopped = lab.host.stop({ timeoutMs: 1_000 });
    await clock.advance(1_000);
    expect(await stopped).toMatchObject({ drained: true });
    const states = (await of.updates()).map(({ state }) => state);
    expect(states).toEqual(['handling', 'accepted', 'accepted']);
  },
);
