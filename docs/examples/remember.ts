import { readFile } from 'node:fs/promises';
import { defineExtension, fromTypebox } from 'sluice';
import { Type } from 'typebox';

export default defineExtension({
  id: 'remember',
  config: fromTypebox(Type.Object({ words: Type.String() })),
  async setup(api, config) {
    const words = await readFile(api.resolvePath(config.words), 'utf8');
    api.observe('ingress.normalized', 'count', async ({ payload }) => {
      const key = `seen/${payload.sender?.id}`;
      const seen = await api.store.update<number>(key, (before = 0) => before + 1, {
        ttlMs: 7 * 86_400_000,
      });
      api.log.info(`message ${seen} of this week`, { words: words.length });
    });
  },
});
