import { describe, expect, it } from 'vitest';
import { streamLab } from '../../extensions/telegram/test/stream-lab.js';
import { readsOf } from '../sdk/chat/reads-of.js';

describe('L1: a step of a preview', () => {
  it('L1: makes only what is shown: parts that come faster than Telegram allows cost nothing', async () => {
    const lab = await streamLab();
    await lab.content('first');
    const reads = readsOf(() => {
      for (let at = 0; at < 1_000; at++)
        void lab.sender.onContentDelta({ phase: 'content', content: `**first** ${at}` });
    });
    expect(reads).toBe(0);
    await lab.clock.advance(10_000);
    expect(lab.texts()).toEqual(['<b>first</b> 999 ▌']);
    expect(lab.calls).toHaveLength(2);
  });
});
