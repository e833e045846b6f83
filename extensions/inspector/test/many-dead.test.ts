import { setImmediate as nextTurn } from 'node:timers/promises';
import { memoryJournal } from 'sluice/host';
import { virtualClock } from 'sluice/testing';
import { describe, expect, it } from 'vitest';
import { answersOf } from '../src/answers.js';

/** The answers of a page that may change a journal whose dead letters are written in one turn each. */
function answersWith() {
  const seen = { running: 0, most: 0, ids: new Set<string>() };
  const write = async (id: string): Promise<void> => {
    seen.most = Math.max(seen.most, ++seen.running);
    seen.ids.add(id);
    await nextTurn();
    seen.running--;
  };
  const reader = memoryJournal();
  const answers = answersOf(
    {
      ...{ name: 'a test', reader },
      tended: {
        retry: (id) => write(id).then(() => true),
        purge: (id) => write(String(id)).then(() => 1),
      },
    },
    { write: true, text: false, clock: virtualClock(), signal: new AbortController().signal },
  );
  const ask = (name: string, ids: readonly string[]) => answers.find('POST', name)?.({ ids });
  return { seen, ask };
}

const idsOf = (count: number) => Array.from({ length: count }, (_, at) => `dead-${at}`);

describe('the inspector', () => {
  it.each(['retry', 'purge'])(
    '%s: writes as many dead letters as a page shows, and no more than eight at once',
    async (name) => {
      const { seen, ask } = answersWith();
      expect(await ask(name, idsOf(1_000))).toEqual({ done: 1_000 });
      expect([seen.ids.size, seen.most]).toEqual([1_000, 8]);
    },
  );

  it.each(['retry', 'purge'])('%s: refuses 10,000 ids, and writes none', async (name) => {
    const { seen, ask } = answersWith();
    await expect(ask(name, idsOf(10_000))).rejects.toThrow('a list of at most 1000 ids');
    expect(seen.ids.size).toBe(0);
  });
});
