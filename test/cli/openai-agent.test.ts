import { describe, expect, it } from 'vitest';
import { httpLab } from '../../extensions/http/test/http-lab.js';
import { calls, modelServer, says } from '../../extensions/openai/test/model-server.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { root, runCli } from './cli.js';

describe('sluice run --agent openai:MODEL@URL (event-pipeline §13.13)', () => {
  it('answers with the model at that address, and with the key of the environment', async () => {
    await using server = await modelServer(says('Good morning.'));
    const args = ['run', '--quiet', '--no-config', '--agent', `openai:llama3.2@${server.url}/`];
    const env = { OPENAI_API_KEY: 'k-7' };
    const ended = await runCli(args, 'hello\n', { env });
    expect(ended).toEqual({ code: 0, stdout: 'Good morning.\n', stderr: '' });
    expect(server.asked).toMatchObject([
      {
        headers: { authorization: 'Bearer k-7' },
        body: { model: 'llama3.2', messages: [{ role: 'user', content: 'hello' }] },
      },
    ]);
  });

  it('has the MCP servers of the config, and ends them with the host', async () => {
    await using server = await modelServer(
      calls(['mcp__it__echo', { text: 'tea' }]),
      says('It has heard it.'),
    );
    const program = `${root}extensions/openai/test/mcp-program.js`;
    const mcpServers = { it: { command: process.execPath, args: [program], allow: ['echo'] } };
    using folder = temporaryFolder({
      'sluice.config.json': JSON.stringify({
        extensions: [{ path: `${root}extensions/openai/dist/index.js`, config: { mcpServers } }],
        agent: `openai:m-1@${server.url}`,
      }),
    });
    const ended = await runCli(['run', '--quiet'], 'say tea\n', { cwd: folder.path });
    expect(ended).toEqual({ code: 0, stdout: 'It has heard it.\n', stderr: '' });
    expect(server.asked[1]?.body.messages.at(-1)).toMatchObject({ content: 'heard tea' });
  });

  it('says in one line that the server cannot be reached', async () => {
    const server = await modelServer();
    await server[Symbol.asyncDispose](); // nobody listens there any more
    const args = ['run', '--way', '--no-config', '--agent', `openai:m@${server.url}`];
    const { stderr } = await runCli(args, 'hello\n');
    expect(stderr).toContain(`failed (unreachable: ${new URL(server.url).origin}: ECONNREFUSED)`);
  });

  it('asks another host by its channel http', async () => {
    await using other = await httpLab();
    const args = ['run', '--quiet', '--no-config', '--agent', `openai:sluice@${other.url}/v1`];
    const ended = await runCli(args, 'hello, host\n');
    expect(ended).toEqual({ code: 0, stdout: 'hello, host\n', stderr: '' });
    expect(other.test.ends).toMatchObject([{ status: 'answered' }]);
  });
});
