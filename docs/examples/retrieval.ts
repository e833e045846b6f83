import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defineExtension } from 'sluice';
import { z } from 'zod';

const wordsOf = (text: string): string[] => text.toLowerCase().match(/\p{L}{4,}/gu) ?? [];

export default defineExtension({
  id: 'retrieval',
  config: z.strictObject({ notes: z.string(), pieces: z.number().default(3) }),
  async setup(api, { notes, pieces }) {
    const folder = api.resolvePath(notes);
    const files = (await readdir(folder)).filter((name) => name.endsWith('.md')).toSorted();
    const texts = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')));
    const paragraphs = texts.flatMap((text, file) =>
      text.split(/\n{2,}/).map((part) => ({ part, from: files[file], words: wordsOf(part) })),
    );

    // An index of your own, such as a vector store, takes the place of this count of words: pass it `signal`.
    const search = (question: string): typeof paragraphs => {
      const asked = new Set(wordsOf(question));
      return paragraphs
        .map((one) => ({ one, score: one.words.filter((word) => asked.has(word)).length }))
        .filter(({ score }) => score > 0)
        .toSorted((a, b) => b.score - a.score)
        .slice(0, pieces)
        .map(({ one }) => one);
    };

    api.mutate('agent.prompt.building', 'notes', { timeoutMs: 2_000 }, ({ payload }) => {
      const found = search(payload.prompt).map(({ part, from }) => `[${from}] ${part}`);
      return found.length === 0 ? undefined : { additions: [`Notes:\n${found.join('\n')}`] };
    });
  },
});
