import { expect, it } from 'vitest';
import { memoryJournal } from '../../../src/journal/index.js';
import { approvalLab, until } from '../../support/approval-lab.js';

it('a turn that waits for a human holds no place and spends no time, and its words were shown (judgement §4.16, judgement §4.20)', async () => {
  await using lab = await approvalLab({
    journal: memoryJournal(),
    lanes: { maxRunning: 1 },
    argsOf: (p) => (p === 'hi' ? [] : [p]),
  });
  const ending = lab.say('v2');
  await until(() => lab.asked().length === 1);
  expect(lab.channel.sent.map(({ content }) => content)[0]).toBe('I deploy v2.');
  await until(() => lab.host.stats().running === 0);
  expect((await lab.say({ text: 'hi', conversation: 'scripted:eve' })).status).toBe('answered');
  await lab.clock.advance(700_000); // more than the limit of a turn
  expect((await lab.say(`!${lab.button()}`)).status).toBe('answer');
  expect(await ending).toMatchObject({ status: 'answered' });
  expect(lab.ran).toEqual(['v2']);
});
it('a stop leaves the question and its message, and counts no attempt (judgement §4.20)', async () => {
  const journal = memoryJournal();
  const lab = await approvalLab({ journal });
  void lab.say('v2');
  await until(() => lab.asked().length === 1);
  const stopping = lab.host.stop();
  await lab.clock.advance(1);
  expect((await stopping).drained).toBe(true);
  const rows = await journal.keyValues.list('/approvals/asked', { prefix: '', limit: 5 });
  expect(rows.map(({ body }) => JSON.parse(body).state)).toEqual(['pending']);
  expect((await journal.updates({})).map(({ outcome, attempts }) => [outcome, attempts])).toEqual([
    [undefined, 0],
  ]);
});
