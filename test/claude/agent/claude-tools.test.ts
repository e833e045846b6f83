import { describe, expect, it } from 'vitest';
import { plainFrame, plainGate } from '../../../src/claude/agent/claude-tools.js';
import { claudeProvider } from '../../../src/claude/agent/index.js';
import { type McpTransport, toolServer } from '../../../src/claude/agent/tool-server.js';
import { callbackQueue, toolGate } from '../../../src/claude/index.js';
import type { AgentTool, AgentToolCall, ToolCall } from '../../../src/sdk/stream/index.js';

const dice = 'mcp__sluice__dice';

/** A server with one tool, which answers when a test says so, and a connection to it. */
async function connected() {
  const calls: AgentToolCall[] = [];
  const answers: ((text: string) => void)[] = [];
  const tool: AgentTool = {
    name: 'dice',
    description: 'Throws a die.',
    inputSchema: { type: 'object' },
    call: (call) => {
      calls.push(call);
      return new Promise((resolve) => {
        answers.push((text) => resolve({ content: [{ type: 'text', text }], isError: false }));
      });
    },
  };
  const said: unknown[] = [];
  const transport: McpTransport = { send: async (message) => void said.push(message) };
  await toolServer('sluice', [tool]).connect(transport);
  const ask = (message: object) => transport.onmessage?.({ jsonrpc: '2.0', ...message });
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return { calls, answers, said, ask, settled };
}

function callOf(id: number, params: object): object {
  return { id, method: 'tools/call', params };
}

describe('the server of the tools of a host (event pipeline §16.24)', () => {
  it('tells its tools with their schemas, answers a ping, and knows no other method', async () => {
    const { said, ask, settled } = await connected();
    ask({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25' } });
    ask({ method: 'notifications/initialized' });
    ask({ id: 2, method: 'tools/list' });
    ask({ id: 3, method: 'ping' });
    ask({ id: 4, method: 'prompts/list' });
    await settled();
    expect(said).toMatchObject([
      { id: 1, result: { protocolVersion: '2025-11-25', capabilities: { tools: {} } } },
      { id: 2, result: { tools: [{ name: 'dice', inputSchema: { type: 'object' } }] } },
      { id: 3, result: {} },
      { id: 4, error: { code: -32601 } },
    ]);
  });

  it('calls a tool with the id that the SDK gives, and stops it when the SDK does', async () => {
    const { calls, answers, said, ask, settled } = await connected();
    const _meta = { 'claudecode/toolUseId': 'toolu_1' };
    ask(callOf(7, { name: 'dice', arguments: { sides: 6 }, _meta }));
    expect(calls).toMatchObject([{ toolCallId: 'toolu_1', args: { sides: 6 } }]);
    ask({ method: 'notifications/cancelled', params: { requestId: 7 } });
    expect(calls[0]?.signal?.aborted).toBe(true);
    answers[0]?.('four');
    await settled();
    const content = [{ type: 'text', text: 'four' }];
    expect(said).toEqual([{ jsonrpc: '2.0', id: 7, result: { content, isError: false } }]);
  });

  it('refuses a call without an id, and one of a tool that there is not', async () => {
    const { calls, said, ask, settled } = await connected();
    ask(callOf(1, { name: 'dice', arguments: {} }));
    ask(callOf(2, { name: 'coin', _meta: { 'claudecode/toolUseId': 't' } }));
    await settled();
    expect(calls).toEqual([]);
    expect(said).toMatchObject([{ result: { isError: true } }, { result: { isError: true } }]);
  });

  it('has a name that no server of the operator may have', () => {
    const make = () => claudeProvider({ sdk: { mcpServers: { sluice: {} } } });
    expect(make).toThrow(expect.objectContaining({ code: 'reserved-option' }));
    expect(() => claudeProvider({ sdk: { mcpServers: { other: {} } } })).not.toThrow();
  });
});

describe('the names of its tools (event pipeline §16.24)', () => {
  it('are plain in frames; a frame without one stays the same object', () => {
    const call = { type: 'tool_use', id: 't', name: dice, input: {} };
    const plain = { ...call, name: 'dice' };
    const start = { type: 'content_block_start', index: 0, content_block: call };
    expect(plainFrame({ type: 'assistant', message: { content: [call] } })).toEqual({
      ...{ type: 'assistant', message: { content: [plain] } },
    });
    expect(plainFrame({ type: 'stream_event', event: start })).toEqual({
      ...{ type: 'stream_event', event: { ...start, content_block: plain } },
    });
    expect(plainFrame({ type: 'tool_progress', tool_name: dice })).toMatchObject({
      tool_name: 'dice',
    });
    const other = { type: 'assistant', message: { content: [{ ...call, name: 'mcp__a__dice' }] } };
    expect(plainFrame(other)).toBe(other);
  });

  it('are plain at the gate, and a call that it passes needs no permission of the SDK', async () => {
    const asked: ToolCall[] = [];
    const gate = plainGate(
      toolGate(async (call) => {
        asked.push(call);
        return call.args['no'] === true
          ? { allowed: false, reason: 'no' }
          : { allowed: true, args: { more: 1 } };
      }, callbackQueue()),
    );
    const hook = gate.hooks.PreToolUse[0]?.hooks[0];
    const input = { hook_event_name: 'PreToolUse', tool_input: {} };
    const signal = new AbortController().signal;
    const ask = (tool_name: string, id: string, tool_input: object = {}) =>
      hook?.({ ...input, tool_name, tool_input, tool_use_id: id }, id, { signal });
    const updatedInput = { more: 1 };
    expect(await ask(dice, 'a')).toEqual({
      hookSpecificOutput: {
        ...{ hookEventName: 'PreToolUse', permissionDecision: 'allow', updatedInput },
      },
    });
    expect(await ask(dice, 'b', { no: true })).toMatchObject({
      hookSpecificOutput: { permissionDecision: 'deny', permissionDecisionReason: 'no' },
    });
    expect(await ask('Bash', 'c')).toEqual({
      hookSpecificOutput: { hookEventName: 'PreToolUse', updatedInput },
    });
    const options = { signal, toolUseID: 'd' };
    expect(await gate.canUseTool(dice, {}, options)).toMatchObject({ behavior: 'allow' });
    expect(asked.map(({ toolName }) => toolName)).toEqual(['dice', 'dice', 'Bash', 'dice']);
  });
});
