import { allow, cancel, defineExtension } from 'sluice';
import { z } from 'zod';

/** Keeps each message from the agent that has a word of a list. */
export default defineExtension({
  id: 'my-name',
  // The schema of the settings. A wrong setting is an error that names it.
  config: z.strictObject({ words: z.array(z.string().min(1)).default(['secret']) }),
  setup(api, { words }) {
    // An observer watches, and returns nothing.
    api.observe('egress.sent', 'tell', ({ payload }) => {
      api.log.info('a message went out', { kind: payload.kind });
    });
    // A veto cancels, or allows. With failClosed, a message that it could not judge is not answered.
    // One that judges replies, at egress.preparing, has the option preview: without preview: 'ok'
    // no reply is shown while it grows.
    api.veto('routing.resolving', 'words', { failClosed: true }, ({ payload }) => {
      const text = payload.message.content.toLowerCase();
      const found = words.find((word) => text.includes(word.toLowerCase()));
      if (found === undefined) return allow();
      return cancel('policy', { text: `it says "${found}"`, reply: 'I may not speak of that.' });
    });
  },
});
