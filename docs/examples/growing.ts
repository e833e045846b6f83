import { type AgentProvider, MessageWriter, type ToolDefinition } from 'sluice/stream';

const dice: ToolDefinition = {
  name: 'dice',
  description: 'Throws a die.',
  inputSchema: { type: 'object', properties: { sides: { type: 'integer' } }, required: ['sides'] },
  execute: ({ sides }) => `a ${1 + Math.floor(Math.random() * Number(sides))}`,
};

export const growing: AgentProvider = {
  id: 'growing',
  models: ['growing'],
  toolGate: 'enforce',
  ownTools: ['dice'],
  async *run({ runId, prompt, offer, tools = [], callsAgain, signal }) {
    const all = [...offer([dice]), ...tools]; // its own, and those of the host
    const writer = new MessageWriter({ provider: 'growing', model: 'growing' });
    yield { type: 'agent_start' };
    // a real model is asked here for its calls, unless there are some to make again
    const wish = { toolCallId: `${runId}/1`, toolName: 'dice', args: { sides: 6 } };
    const calls = callsAgain ?? (prompt.startsWith('throw') ? [wish] : []);
    for (const { toolCallId: id, toolName: name, args } of calls)
      yield* writer.call({ id, name, arguments: args });
    yield* writer.end();
    let answer = prompt;
    for (const { toolCallId, toolName, args } of calls) {
      yield { type: 'tool_execution_start', toolCallId, toolName, args };
      const tool = all.find(({ name }) => name === toolName);
      const result = await tool?.call({ toolCallId, args, signal }); // it asks the gate, and never rejects
      const isError = result?.isError ?? true;
      yield { type: 'tool_execution_end', toolCallId, toolName, result, isError };
      const texts = result?.content.map((part) => (part.type === 'text' ? part.text : '[image]'));
      answer = `The tool says: ${texts?.join('\n')}`;
    }
    for (const delta of answer.split(/(?<= )/)) {
      signal.throwIfAborted();
      yield* writer.grow('text', delta);
    }
    yield* writer.end();
    yield { type: 'agent_end', messages: writer.messages };
  },
};
