import { ask, defineExtension, defineTool } from 'sluice';
import { z } from 'zod';

export default defineExtension({
  id: 'pay',
  manifest: { grants: ['provide:tool', 'veto:agent.tool.calling'] },
  setup(api) {
    const pay = defineTool({
      name: 'pay',
      description: 'Pays an amount in euros.',
      args: z.object({ to: z.string(), euros: z.number().positive() }),
      execute: async ({ to, euros }, { toolCallId, signal }) => {
        await transfer({ to, euros, key: toolCallId, signal });
        return `${to} has ${euros} euros.`;
      },
    });
    api.provide('tool', pay);
    const options = { match: { toolName: 'pay' }, failClosed: true } as const;
    api.veto('agent.tool.calling', 'ask', options, () =>
      ask({ title: 'Pay?', timeoutMs: 15 * 60_000 }),
    );
  },
});

/** Your own code: the same key pays once. */
async function transfer(_order: {
  to: string;
  euros: number;
  key: string;
  signal: AbortSignal;
}): Promise<void> {}
