import { defineExtension } from 'sluice';
import { z } from 'zod';
import pigeons from './pigeon.js';

export default defineExtension({
  id: 'pigeons',
  config: z.object({ loft: z.string().default('home'), ring: z.string().optional() }),
  declares: {
    channel: {
      id: 'pigeon',
      options: [{ flags: '--loft <name>', description: 'the loft to listen at', setting: 'loft' }],
      credentials: [
        {
          name: 'a ring',
          setting: 'ring',
          env: 'PIGEON_RING',
          shape: /^R\d{4}$/,
          looksLike: 'an R and four digits',
          hint: 'The breeder has it.',
        },
      ],
      starter: { config: `{ loft: 'roof' }` },
    },
  },
  setup: (api) => pigeons.setup(api, undefined),
});
