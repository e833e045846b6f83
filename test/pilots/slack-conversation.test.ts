import { describe, expect, it } from 'vitest';
import { said } from '../support/slack-api/envelopes.js';
import { slackLab } from '../support/slack-lab.js';

const whole = { settings: { streaming: false } };

describe('a message of a person', () => {
  it('goes through every stage in order, and is answered once, where it was written', async () => {
    await using lab = await slackLab(whole);
    await lab.settle(said(1, 'hello *you* &amp; <https://x.y|me>'));
    expect(lab.server.shown).toMatchObject([{ channel: 'D001', text: 'hello you & me' }]);
  });
});
