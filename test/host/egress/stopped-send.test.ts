import { expect, it } from 'vitest';
import { type Journal, memoryJournal } from '../../../src/host/index.js';
import { hostLab } from '../../support/host-lab.js';
import { mortalJournal } from '../../support/mortal-journal.js';

it('a reply that is being kept when its host may wait no longer is said by the next host (durability §7.4)', async () => {
  const memory = memoryJournal();
  let keep = (): void => undefined;
  const slow = new Promise<void>((resolve) => {
    keep = resolve;
  });
  const journal: Journal = {
    ...mortalJournal(memory),
    prepare: async (send, isSending) => {
      await memory.prepare(send, isSending);
      await slow;
    },
  };
  {
    await using lab = await hostLab({ journal });
    void lab.channel.receive({ text: 'hello', conversation: 'one' }, 'u-1');
    await lab.clock.advance(100);
    const stopping = lab.host.stop({ timeoutMs: 10 });
    await lab.clock.advance(1_000);
    keep();
    await lab.clock.advance(10_000);
    await stopping;
    expect(lab.texts()).toEqual([]);
  }
  await using next = await hostLab({ journal: mortalJournal(memory) });
  await next.clock.advance(1_000);
  expect(next.texts()).toEqual(['hello']);
});
