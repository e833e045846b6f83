import { generateText, isStepCount, tool, wrapLanguageModel } from 'ai';
import { type JudgeOptions, judge } from 'sluice-ai-sdk';
import { z } from 'zod';
import { kernel } from './adapter-rules.js';

type Model = Parameters<typeof wrapLanguageModel>[0]['model'];

export async function run(plain: Model, given: JudgeOptions['given']) {
  const shell = tool({
    description: 'Runs a command.',
    inputSchema: z.object({ command: z.string() }),
    execute: async ({ command }) => `ran ${command}, with sk-12345`,
  });
  const judged = judge(kernel, { given, onAsk: async () => true }); // here a human would be asked
  const tools = judged.tools({ shell });
  const model = wrapLanguageModel({ model: plain, middleware: judged.middleware });
  return await generateText({ model, tools, prompt: 'Clean up.', stopWhen: isStepCount(5) });
}
