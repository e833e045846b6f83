import { expect, it } from 'vitest';
import { entryOf } from '../../../src/host/inquiries/question-index.js';
import type { QuestionRow } from '../../../src/host/inquiries/question-row.js';
import { Questions } from '../../../src/host/inquiries/questions.js';
import { wholeOwnership } from '../../../src/journal/internal.js';
import { memoryKeyValues } from '../../../src/sdk/extension/internal.js';
import { createTestKernel, virtualClock } from '../../../src/testing/index.js';
import { sideBySide } from '../../support/side-by-side.js';

const place = { channel: 'scripted', accountId: 'default', to: 'one' } as const;

function row(at: number): QuestionRow {
  const named = { id: `q${at}`, extensionId: `e${Math.floor(at / 1_000)}`, name: `n${at}` };
  const shape = { place, options: [], takesText: true, digest: 'd' };
  return { ...named, ...shape, askedAtMs: at, dueAtMs: 86_400_000 };
}

it('reads 10,000 questions of a conversation, and no more than eight at once', async () => {
  const clock = virtualClock();
  const values = memoryKeyValues(clock);
  const reads = sideBySide();
  let isCounting = false;
  const keyValues: typeof values = {
    ...values,
    get: (...at) =>
      isCounting && at[0].startsWith('/questions/')
        ? reads.run(() => values.get(...at))
        : values.get(...at),
  };
  const { log: logger } = createTestKernel({ clock });
  const questions = new Questions({ keyValues, clock, logger }, wholeOwnership());
  const rows = Array.from({ length: 10_000 }, (_, at) => row(at));
  for (const one of rows)
    await values.write(`/questions/${one.extensionId}`, one.id, { body: JSON.stringify(one) }, {});
  const names = rows.map(({ extensionId, id }) => ({ extensionId, id, thread: '' }));
  const conversation = { ...place, conversationId: 'one' };
  await values.write('/questions-in', entryOf(conversation), { body: JSON.stringify(names) }, {});
  questions.begin({ accept: async () => true, isOpen: async () => false });
  await questions.take(() => true);
  questions.stop();
  isCounting = true;
  const found = await questions.at(conversation);
  expect([found.length, reads.ran, reads.most]).toEqual([10_000, 10_000, 8]);
});
