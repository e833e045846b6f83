import { defineExtension } from 'sluice';
import {
  type AgentProvider,
  type AssistantMessage,
  type SessionMessage,
  textOf,
} from 'sluice/stream';
import { z } from 'zod';

const config = z.strictObject({ url: z.url(), apiKey: z.string(), model: z.string() });
const fn = z.object({ name: z.string(), arguments: z.string() });
const calls = z.array(z.object({ id: z.string(), function: fn })).default([]);
const message = z.object({ content: z.string().nullish(), tool_calls: calls });
const answer = z.object({ choices: z.tuple([z.object({ message })]) });

const properties = { a: { type: 'number' }, b: { type: 'number' } };
const add = { name: 'add', description: 'Adds.', parameters: { type: 'object', properties } };
const tools = [{ type: 'function', function: add }];
const runTool = (name: string, { a, b }: Readonly<Record<string, unknown>>): string =>
  name === 'add' ? String(Number(a) + Number(b)) : `There is no tool ${name}.`;

/** A message of the transcript, as the API has it. */
function wireOf(message: SessionMessage): object {
  const { role } = message;
  if (role === 'user') return { role, content: message.content };
  const content = textOf(message);
  if (role === 'toolResult') return { role: 'tool', tool_call_id: message.toolCallId, content };
  const wishes = message.content.filter((block) => block.type === 'toolCall');
  const tool_calls = wishes.map(({ id, name, arguments: args }) => {
    return { id, type: 'function', function: { name, arguments: JSON.stringify(args) } };
  });
  return { role, content, ...(wishes.length > 0 && { tool_calls }) };
}

const openAi = ({ url, apiKey, model }: z.infer<typeof config>): AgentProvider => ({
  id: 'openai',
  models: [model],
  toolGate: 'enforce',
  async *run({ systemPrompt = '', history, prompt, begun = [], model, gate, signal }) {
    const told = [...history, { role: 'user' as const, content: prompt }, ...begun].map(wireOf);
    const messages = [{ role: 'system', content: systemPrompt }, ...told];
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
    const said: SessionMessage[] = [];
    yield { type: 'agent_start' };
    for (let isDone = false; !isDone; ) {
      const body = JSON.stringify({ model, messages, tools });
      const response = await fetch(url, { method: 'POST', headers, body, signal });
      if (!response.ok) throw new Error(`the model's server said ${response.status}`);
      const [choice] = answer.parse(await response.json()).choices;
      const wishes = choice.message.tool_calls.map(({ id, function: { name, ...rest } }) => {
        return { type: 'toolCall' as const, id, name, arguments: JSON.parse(rest.arguments) };
      });
      isDone = wishes.length === 0;
      const text = { type: 'text' as const, text: choice.message.content ?? '' };
      const stopReason = isDone ? 'stop' : 'toolUse';
      const reply: AssistantMessage = { role: 'assistant', content: [text, ...wishes], stopReason };
      yield { type: 'message_start', message: reply };
      yield { type: 'message_end', message: reply };
      said.push(reply);
      messages.push(wireOf(reply));
      for (const { id: toolCallId, name: toolName, arguments: args } of wishes) {
        const call = { toolCallId, toolName, args };
        yield { type: 'tool_execution_start', ...call };
        const decision = await gate(call); // it may refuse the call, or change the arguments
        const result = decision.allowed ? runTool(toolName, decision.args) : decision.reason;
        const end = { toolCallId, toolName, result, isError: !decision.allowed };
        yield { type: 'tool_execution_end', ...end };
        messages.push({ role: 'tool', tool_call_id: toolCallId, content: result });
      }
    }
    yield { type: 'agent_end', messages: said };
  },
});

export default defineExtension({
  id: 'openai',
  manifest: { grants: ['provide:agent'] },
  config,
  setup: (api, settings) => api.provide('agent', { id: 'gpt', provider: openAi(settings) }),
});
