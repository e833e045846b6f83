import { defineExtension, select } from 'sluice';
import { z } from 'zod';

export default defineExtension({
  id: 'router',
  config: z.strictObject({
    agents: z.array(z.object({ words: z.array(z.string()), agentId: z.string() })),
    short: z.object({ characters: z.number(), model: z.string() }),
  }),
  setup(api, { agents, short }) {
    api.resolve('routing.resolving', 'by-words', ({ payload: { message } }) => {
      const words = message.content.toLowerCase().split(/[^\p{L}\p{N}]+/u);
      const found = agents.find((one) => one.words.some((word) => words.includes(word)));
      return found && select({ agentId: found.agentId });
    });
    api.mutate('agent.model.resolving', 'cheap-if-short', ({ payload }) =>
      payload.prompt.length <= short.characters ? { model: short.model } : undefined,
    );
  },
});
