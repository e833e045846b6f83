import { expect, it } from 'vitest';
import { cancel, type FamilyName } from '../../../src/kernel/internal.js';
import type { ToolDefinition, ToolUse } from '../../../src/sdk/stream/index.js';
import { calls, says } from '../../support/messages-api/reply.js';
import { ClaudeLab, describeClaude } from './claude-lab.js';
import { expectSound } from './soundness.js';

const wireName = 'mcp__sluice__dice';
const throws = says('I throw.', calls('toolu_d', wireName, { sides: 6 }));

function dice(execute: ToolDefinition['execute']): ToolDefinition {
  const properties = { sides: { type: 'integer', minimum: 2 } };
  return {
    name: 'dice',
    description: 'Throws a die.',
    inputSchema: { type: 'object', properties, required: ['sides'] },
    execute,
  };
}

function payloads(lab: ClaudeLab, family: FamilyName) {
  return lab.test.outcomes
    .filter(({ event }) => event.family === family)
    .map(({ event }) => event.payload);
}

describeClaude('a tool of the host, in the real SDK (event pipeline §16.22, §16.24)', () => {
  it('is offered with its schema, called by its plain name without a question, and answers', async () => {
    const uses: ToolUse[] = [];
    await using lab = await ClaudeLab.start({ main: [throws, says('It is a four.')] });
    const tool = dice(({ sides }, use) => {
      uses.push(use);
      return { content: [{ type: 'text', text: `a four of ${String(sides)}` }], details: { n: 4 } };
    });
    const turn = await lab.turn('Throw', { tools: () => [tool] });
    await expectSound(turn, ['I throw.', 'It is a four.']);
    expect(lab.api.requests[0]?.schemas[wireName]).toMatchObject(tool.inputSchema);
    expect(lab.api.requests[1]?.messages.at(-1)).toContain('a four of 6');
    expect(uses).toMatchObject([{ toolCallId: 'toolu_d' }]);
    const named = { toolName: 'dice', toolCallId: 'toolu_d', params: { sides: 6 } };
    expect(payloads(lab, 'agent.tool.calling')).toMatchObject([named]);
    expect(payloads(lab, 'agent.tool.called')).toMatchObject([
      {
        ...named,
        isError: false,
        result: { content: [{ text: 'a four of 6' }], details: { n: 4 } },
      },
    ]);
    expect(payloads(lab, 'transcript.tool-result.persisting')).toMatchObject([
      { toolName: 'dice', message: { content: [{ text: 'a four of 6' }] } },
    ]);
    const told = JSON.stringify([turn.events, lab.written]);
    expect(told).toContain('"dice"');
    expect(told).not.toContain(wireName);
  });

  it('does not run when a veto refuses it, and runs with what a mutator makes of its input', async () => {
    let runs = 0;
    await using lab = await ClaudeLab.start({ main: [throws, says('I may not.')] });
    lab.test.kernel.contribute({
      ...{ extensionId: 'test', id: 'guard', class: 'veto', family: 'agent.tool.calling' },
      handler: ({ payload }) => (payload.toolName === 'dice' ? cancel('policy') : undefined),
    });
    await lab.turn('Throw', { tools: () => [dice(() => String(++runs))] });
    expect(runs).toBe(0);
    await using patched = await ClaudeLab.start({ main: [throws, says('Twenty.')] });
    patched.test.kernel.contribute({
      ...{ extensionId: 'test', id: 'more', class: 'mutator', family: 'agent.tool.calling' },
      handler: () => ({ params: { sides: 20 } }),
    });
    await patched.turn('Throw', { tools: () => [dice(({ sides }) => `of ${String(sides)}`)] });
    expect(patched.api.requests[1]?.messages.at(-1)).toContain('of 20');
  });

  it('needs no permission of the SDK beside the pipeline’s: not in a mode that denies what no rule allows', async () => {
    const options = { permissionMode: 'dontAsk' } as const;
    await using lab = await ClaudeLab.start({ main: [throws, says('It is a four.')] }, options);
    await lab.turn('Throw', { tools: () => [dice(() => 'a four')] });
    expect(lab.api.requests[1]?.messages.at(-1)).toContain('a four');
  });

  it('tells the model of a failure, and stops when the turn does', async () => {
    await using lab = await ClaudeLab.start({ main: [throws, says('It broke.')] });
    const breaks = dice(() => {
      throw new Error('no die here');
    });
    await lab.turn('Throw', { tools: () => [breaks] });
    expect(lab.api.requests[1]?.messages.at(-1)).toContain('the tool failed: no die here');
    expect(payloads(lab, 'agent.tool.called')).toMatchObject([{ isError: true }]);
    await using stopped = await ClaudeLab.start({ main: [throws] });
    const stop = new AbortController();
    let signal: AbortSignal | undefined;
    const hangs = dice((_, use) => {
      signal = use.signal;
      stop.abort();
      return new Promise(() => undefined);
    });
    const { result } = await stopped.turn('Throw', { tools: () => [hangs], signal: stop.signal });
    expect(result.status).toBe('aborted');
    expect(signal?.aborted).toBe(true);
  });
});
