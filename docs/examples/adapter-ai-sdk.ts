import { generateText, isStepCount, type LanguageModel, tool } from 'ai';
import { type JudgeOptions, judge } from 'sluice-ai-sdk';
import { z } from 'zod';
import { kernel } from './adapter-rules.js';

export async function run(model: LanguageModel, given: JudgeOptions['given']) {
  const shell = tool({
    description: 'Runs a command.',
    inputSchema: z.object({ command: z.string() }),
    execute: async ({ command }) => `ran ${command}, with sk-12345`,
  });
  const judged = judge(kernel, { given, onAsk: async () => true }); // here a human would be asked
  const tools = judged.tools({ shell });
  return await generateText({ model, tools, prompt: 'Clean up.', stopWhen: isStepCount(5) });
}
