import { Agent, type Model, Runner, tool } from '@openai/agents';
import { type JudgeOptions, judge } from 'sluice-openai-agents';
import { z } from 'zod';
import { kernel } from './adapter-rules.js';

export async function run(plain: Model, given: JudgeOptions['given']) {
  const shell = tool({
    name: 'shell',
    description: 'Runs a command.',
    parameters: z.object({ command: z.string() }),
    execute: async ({ command }) => `ran ${command}, with sk-12345`,
  });
  const judged = judge(kernel, { given, onAsk: async () => true }); // here a human would be asked
  const model = judged.model(plain);
  const agent = new Agent({ name: 'Ada', model, tools: judged.tools([shell]) });
  return await new Runner({ tracingDisabled: true }).run(agent, 'Clean up.');
}
