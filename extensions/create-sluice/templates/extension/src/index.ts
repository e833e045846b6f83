import { allow, cancel, defineExtension } from 'sluice';
import { z } from 'zod';

/** Keeps back each reply that has a word of a list. */
export default defineExtension({
  id: 'my-name',
  // The schema of the settings. A wrong setting is an error that names it.
  config: z.strictObject({ words: z.array(z.string().min(1)).default(['secret']) }),
  setup(api, { words }) {
    // An observer watches, and returns nothing.
    api.observe('egress.cancelled', 'tell', ({ payload }) => {
      api.log.info(`kept back: ${payload.cancel.code}`);
    });
    // A veto cancels, or allows. With failClosed, a reply that it could not judge is not sent.
    api.veto('egress.preparing', 'words', { failClosed: true }, ({ payload }) => {
      const text = payload.content.toLowerCase();
      const found = words.find((word) => text.includes(word.toLowerCase()));
      if (found === undefined) return allow();
      return cancel('policy', { text: `it says "${found}"`, reply: 'I may not say that.' });
    });
  },
});
