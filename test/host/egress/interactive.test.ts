import { describe, expect, it } from 'vitest';
import type { Kernel } from '../../../src/kernel/internal.js';
import type { Interactive } from '../../../src/sdk/channel/index.js';
import { numberedPresses } from '../../../src/sdk/channel/interactive.js';
import { hostLab } from '../../support/host-lab.js';
import { scriptedChannel } from '../../support/scripted-channel.js';

const trip: Interactive = {
  buttons: [
    { id: 'go', label: 'Go' },
    { id: 'stay', label: 'Stay <home>' },
  ],
  list: {
    name: 'day',
    label: 'Which day?',
    choices: [
      { value: 'mon', label: 'Monday' },
      { value: 'tue', label: 'Tuesday' },
    ],
  },
  form: {
    name: 'who',
    label: 'Who comes?',
    fields: [
      { name: 'name', label: 'Name' },
      { name: 'age', label: 'Age', isOptional: true },
    ],
  },
};

const toAda = { channel: 'scripted', accountId: 'default', to: 'scripted:ada' };

const under = (kernel: Kernel, patch: { interactive: Interactive; format?: 'html' }): void => {
  kernel.contribute({
    family: 'egress.preparing',
    class: 'mutator',
    extensionId: 'test',
    id: 'under',
    handler: () => patch,
  });
};

describe('the elements of a message', () => {
  it('are numbered lines under the text, if the channel shows none of them (§14.16)', async () => {
    await using lab = await hostLab();
    await lab.host.send({ ...toAda, content: 'Shall we?', interactive: trip });
    const text = [
      'Shall we?',
      '',
      '1) Go',
      '2) Stay <home>',
      'Which day?',
      '3) Monday',
      '4) Tuesday',
      'Who comes?',
      '- Name',
      '- Age (optional)',
    ].join('\n');
    expect(lab.channel.sent).toMatchObject([{ content: text }]);
    expect(lab.channel.sent[0]).not.toHaveProperty('interactive');
    expect(lab.of('egress.preparing')[0]?.payload).toMatchObject({
      content: 'Shall we?',
      interactive: trip,
    });
    expect(lab.of('egress.sent')[0]?.payload.content).toBe(text);
  });

  it('go to the channel if it shows them, and the rest is written into the text (§14.16)', async () => {
    const channel = scriptedChannel({ interactive: ['buttons', 'form'] });
    await using lab = await hostLab({ channel });
    await lab.host.send({ ...toAda, content: 'Shall we?', interactive: trip });
    const { buttons, form } = trip;
    expect(channel.sent).toMatchObject([
      { content: 'Shall we?\n\nWhich day?\n1) Monday\n2) Tuesday', interactive: { buttons, form } },
    ]);
    expect(channel.sent[0]?.interactive).not.toHaveProperty('list');
  });

  it('can be put under a reply by a mutator, and are written as text in HTML (§14.16)', async () => {
    const { buttons = [] } = trip;
    await using lab = await hostLab({
      contribute: (kernel) => under(kernel, { interactive: { buttons }, format: 'html' }),
    });
    await lab.say('hello');
    expect(lab.texts()).toEqual(['hello\n\n1) Go\n2) Stay &lt;home&gt;']);
  });

  it('can be taken away by a mutator (§14.16)', async () => {
    await using lab = await hostLab({ contribute: (kernel) => under(kernel, { interactive: {} }) });
    await lab.host.send({ ...toAda, content: 'Shall we?', interactive: trip });
    expect(lab.texts()).toEqual(['Shall we?']);
  });

  it('have the numbers of their lines (§14.16)', () => {
    expect(numberedPresses(trip).map(({ number, press }) => [number, press.name])).toEqual([
      [1, 'go'],
      [2, 'stay'],
      [3, 'day'],
      [4, 'day'],
    ]);
  });
});
