import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { cancel } from '../../../src/kernel/internal.js';
import { calls, says } from '../../support/messages-api/reply.js';
import { ClaudeLab, describeClaude } from './claude-lab.js';

const secret = 'sk-live-4711';
const at = { extensionId: 'guard', id: 'clean', family: 'agent.tool.returning' } as const;
const guards: Readonly<Record<string, object>> = {
  'a mutator of texts': {
    class: 'mutator',
    handler: ({
      payload: { result },
    }: {
      payload: { result: { content: { text?: string }[] } };
    }) => ({
      result: {
        ...result,
        content: result.content.map((block) => ({
          ...block,
          text: block.text?.replaceAll(secret, '[key]'),
        })),
      },
    }),
  },
  'a veto': { class: 'veto', handler: () => cancel('unsafe', { text: 'It held a [key].' }) },
  'a handler that throws': {
    class: 'mutator',
    failClosed: true,
    handler: () => {
      throw new Error('[key]');
    },
  },
};

/** A server with one tool, which answers with data. */
const mcpServer = `
  const tell = (id, result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
  const answers = {
    initialize: ({ protocolVersion }) => ({
      protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'own', version: '1' },
    }),
    'tools/list': () => ({ tools: [{ name: 'look', inputSchema: { type: 'object' } }] }),
    'tools/call': () => ({ content: [], structuredContent: { balance: 4711 } }),
  };
  require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id !== undefined) tell(id, answers[method]?.(params) ?? {});
  });`;

/** A turn in which Claude runs a tool that answers with the secret. */
async function turnWith(guard: object, tool: 'Bash' | 'Read') {
  const file = join('project', 'note.txt');
  const command = `cat note.txt`;
  const script = (path: string) => [
    says('I look.', calls('toolu_a', tool, tool === 'Bash' ? { command } : { file_path: path })),
    says('Done.'),
  ];
  const main: ReturnType<typeof script> = [];
  const lab = await ClaudeLab.start({ main });
  const path = join(lab.home, file);
  main.push(...script(path));
  writeFileSync(path, `one\nthe key is ${secret}\nthree\n`);
  lab.test.kernel.contribute({ ...at, ...guard } as never); // its class says the rest
  const turn = await lab.turn('Look');
  return { lab, turn };
}

describeClaude('agent.tool.returning, in the real SDK (event pipeline §16.31)', () => {
  it.each(
    Object.keys(guards).flatMap((name) => [[name, 'Bash'] as const, [name, 'Read'] as const]),
  )(
    'is enforced: %s keeps the result of %s from the model, the events and the transcript',
    async (name, tool) => {
      const { lab, turn } = await turnWith(guards[name] ?? {}, tool);
      await using _ = lab;
      expect(turn.result.status).toBe('completed');
      const asked = lab.api.requests[1]?.messages.at(-1);
      expect(asked).toContain(name === 'a handler that throws' ? 'withheld' : '[key]');
      const after = lab.test.outcomes.filter(({ event }) => event.family !== at.family);
      const seen = JSON.stringify([
        turn.events,
        lab.written,
        after,
        lab.api.requests,
        lab.test.log.entries,
      ]);
      expect(seen).not.toContain(secret);
      const [called] = after.filter(({ event }) => event.family === 'agent.tool.called');
      expect(called?.payload).toMatchObject({ isError: name !== 'a mutator of texts' });
      const judged = lab.test.outcomes.filter(({ event }) => event.family === at.family);
      expect(judged).toHaveLength(1);
      expect(judged[0]?.failures.map(({ kind }) => kind)).not.toContain('observe-only');
    },
  );

  it('keeps back what an MCP server gives as data, and is taken', async () => {
    const main: ReturnType<typeof says>[] = [
      says('I look.', calls('toolu_a', 'mcp__own__look', {})),
      says('Done.'),
    ];
    const args = ['-e', mcpServer];
    const mcpServers = { own: { type: 'stdio', command: process.execPath, args } };
    await using lab = await ClaudeLab.start({ main }, { sdk: { mcpServers } as never }); // see `ClaudeQueryOptions`
    lab.test.kernel.contribute({ ...at, ...guards['a veto'] } as never); // its class says the rest
    const turn = await lab.turn('Look');
    expect(turn.result.status).toBe('completed');
    expect(lab.api.requests[1]?.messages.at(-1)).toContain('It held a [key].');
    expect(JSON.stringify([turn.events, lab.written, lab.api.requests])).not.toContain('4711');
  });

  it('ends the turn if the SDK does not take what a handler has left: nothing of it is told', async () => {
    const guard = {
      class: 'mutator',
      handler: () => ({ result: { content: [], structured: { no: 'shape' }, isError: false } }),
    };
    const { lab, turn } = await turnWith(guard, 'Read');
    await using _ = lab;
    expect(turn.result).toMatchObject({ status: 'failed', error: { code: 'provider-failed' } });
    expect(turn.result.error?.message).toContain('as it was before it was judged');
    expect(JSON.stringify([turn.events, lab.written])).not.toContain(secret);
    expect(readFileSync(join(lab.cwd, 'note.txt'), 'utf8')).toContain(secret);
  });

  it('changes nothing of a result that nobody changes', async () => {
    const { lab, turn } = await turnWith({ class: 'observer', handler: () => undefined }, 'Read');
    await using _ = lab;
    expect(turn.result.status).toBe('completed');
    expect(lab.api.requests[1]?.messages.at(-1)).toContain(secret);
  });
});
