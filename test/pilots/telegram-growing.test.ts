import { describe, expect, it, vi } from 'vitest';
import { streamLab } from '../../extensions/telegram/test/stream-lab.js';

describe('L1: a step of a preview', () => {
  it('L1: makes only what is shown: parts that come faster than Telegram allows cost nothing', async () => {
    const lab = await streamLab();
    await lab.content('first');
    using looked = vi.spyOn(String.prototype, 'charCodeAt'); // as the parser looks at a character
    for (let at = 0; at < 1_000; at++)
      void lab.sender.onContentDelta({ phase: 'content', content: `**first** ${at}` });
    expect(looked).not.toHaveBeenCalled();
    await lab.clock.advance(10_000);
    expect(looked).toHaveBeenCalled();
    expect(lab.texts()).toEqual(['<b>first</b> 999 ▌']);
    expect(lab.calls).toHaveLength(2);
  });
});
