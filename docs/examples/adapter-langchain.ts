import type { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { createAgent, tool } from 'langchain';
import { type JudgeOptions, judge } from 'sluice-langchain';
import { z } from 'zod';
import { kernel } from './adapter-rules.js';

export async function run(model: BaseChatModel, given: JudgeOptions['given']) {
  const shell = tool(async ({ command }) => `ran ${command}, with sk-12345`, {
    name: 'shell',
    description: 'Runs a command.',
    schema: z.object({ command: z.string() }),
  });
  const judged = judge(kernel, { given, onAsk: async () => true }); // here a human would be asked
  const agent = createAgent({ model, tools: [shell], middleware: judged.middleware([]) });
  return await agent.invoke({ messages: [{ role: 'user', content: 'Clean up.' }] });
}
