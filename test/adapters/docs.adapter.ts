import { describe, expect, it } from 'vitest';
import { run as aiSdk } from '../../docs/examples/adapter-ai-sdk.js';
import { run as langChain } from '../../docs/examples/adapter-langchain.js';
import { run as openAiAgents } from '../../docs/examples/adapter-openai-agents.js';
import { aiSdkModel } from './agents/ai-sdk.js';
import { langChainModel } from './agents/langchain.js';
import { openAiAgentsModel } from './agents/openai-agents.js';

const given = () => ({ sessionId: 's' });
const calls = [
  { id: 'c1', name: 'shell', args: { command: 'rm -rf /' } },
  { id: 'c2', name: 'shell', args: { command: 'ls' } },
];
const leaks = ['The key is sk-12345.'];
const read = { c1: 'No removals.', c2: 'ran ls, with [key]' };

describe('the examples of docs/adapters.md', () => {
  it('AI SDK: refuse a call, ask about another, hide a key of its result, and keep back an answer', async () => {
    const model = aiSdkModel([calls]);
    await aiSdk(model, given);
    expect(model.read()).toEqual(read);
    const leaking = aiSdkModel([[]], leaks);
    expect(JSON.stringify(await aiSdk(leaking, given))).toContain('I may not say that.');
  });

  it('OpenAI Agents SDK: do the same', async () => {
    const model = openAiAgentsModel([calls]);
    await openAiAgents(model, given);
    expect(model.read()).toEqual(read);
    const leaking = openAiAgentsModel([[]], leaks);
    expect(JSON.stringify(await openAiAgents(leaking, given))).toContain('I may not say that.');
  });

  it('LangChain: do the same', async () => {
    const model = langChainModel([calls]);
    await langChain(model, given);
    expect(model.read()).toEqual(read);
    const leaking = langChainModel([[]], leaks);
    expect(JSON.stringify(await langChain(leaking, given))).toContain('I may not say that.');
  });
});
