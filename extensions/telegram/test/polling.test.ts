import { setImmediate as nextTurn } from 'node:timers/promises';
import { collectingLogger, virtualClock } from 'sluice/testing';
import { expect, it, vi } from 'vitest';
import { startPolling } from '../src/intake/polling.js';

it('takes an answer with 10,000 updates, which Telegram never gives, and no more than 100 at once', async () => {
  const seen = { running: 0, most: 0, taken: 0 };
  const update = (at: number) => ({
    update_id: at + 1,
    message: {
      ...{ message_id: at + 1, date: 0, text: 'Hi' },
      chat: { id: at, type: 'private' as const, first_name: 'Ada' },
    },
  });
  const updates = Array.from({ length: 10_000 }, (_, at) => update(at));
  const answers: unknown[] = [updates];
  const intake = startPolling({
    clock: virtualClock(),
    log: collectingLogger(),
    api: {
      call: async () => ({ status: 'done' as const, result: (answers.shift() ?? []) as never }), // whatever stands in between
      redact: (text) => text,
    },
    sink: {
      take: async () => {
        seen.most = Math.max(seen.most, ++seen.running);
        await nextTurn();
        seen.taken++;
        seen.running--;
        return undefined;
      },
      ended: () => undefined,
    },
  });
  await vi.waitFor(() => expect(seen.taken).toBe(10_000), 60_000);
  await intake.stop();
  expect(seen).toEqual({ running: 0, most: 100, taken: 10_000 });
});
