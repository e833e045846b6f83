import { describe, expect, it } from 'vitest';
import { agentDefinitions } from '../../../src/cli/pipeline/agent-definitions.js';
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary-folder.js';
import { runInMemory } from '../memory-shell.js';
import { agentOptions } from './agent-options.js';

/** An agent package as an author publishes it: it says its own name, and a word of its settings. */
const agents = `
const said = (text) => ({ role: 'assistant', content: [{ type: 'text', text }], stopReason: 'stop' });
const agent = (asked, word) => ({
  id: 'openai:' + asked,
  provider: {
    id: 'openai:' + asked, models: [asked], toolGate: 'enforce',
    async *run({ model }) {
      const message = said(model + word);
      yield { type: 'agent_start' };
      yield { type: 'message_start', message };
      yield { type: 'message_end', message };
      yield { type: 'agent_end', messages: [message] };
    },
  },
});
export default {
  kind: 'sluice-extension', id: 'openai', manifest: { version: '0.4.0' },
  config: { '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }) } },
  setup: (api, { asked = [], word = '' }) => {
    for (const one of asked) api.provide('agent', agent(one, word));
  },
};`;

/** A folder in which the package of the agents is installed. */
function installed(config: object = {}, code = agents): TemporaryFolder {
  return temporaryFolder({
    'node_modules/sluice-openai/package.json': JSON.stringify({
      name: 'sluice-openai',
      version: '0.4.0',
      type: 'module',
      exports: { '.': './index.js', './package.json': './package.json' },
    }),
    'node_modules/sluice-openai/index.js': code,
    'sluice.config.json': JSON.stringify(config),
  });
}

const named = ['run', '--quiet', '--agent', 'openai:m1@http://127.0.0.1:1/v1'];

async function answers(args: readonly string[], folder: TemporaryFolder) {
  return runInMemory(args, 'hi\n', { cwd: folder.path });
}

describe('the agent of a package (event-pipeline §13.13)', () => {
  it('is loaded by the beginning of its name, and gets the rest of it', async () => {
    using folder = installed();
    const { code, stdout, stderr } = await answers(named, folder);
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: 'm1@http://127.0.0.1:1/v1\n',
      stderr: '',
    });
  });

  it('needs no grant where an operator has named it, in the config too', async () => {
    using folder = installed({ agent: 'openai:m2', leastPrivilege: true });
    expect(await answers(['run', '--quiet'], folder)).toMatchObject({ code: 0, stdout: 'm2\n' });
  });

  it('keeps the settings of the config for its extension, by whatever path that is loaded', async () => {
    const extensions = [
      { path: './node_modules/sluice-openai/index.js', config: { word: ', at your service' } },
    ];
    using folder = installed({ extensions });
    const { code, stdout, stderr } = await answers(named, folder);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe('m1@http://127.0.0.1:1/v1, at your service\n');
  });

  it('may be one of several: each gets its own', async () => {
    const several = [
      { id: 'main', provider: 'openai:m1' },
      { id: 'spare', provider: 'openai:m2' },
    ];
    using folder = installed({ agents: several, defaultAgent: 'spare' });
    expect(await answers(['run', '--quiet'], folder)).toMatchObject({ code: 0, stdout: 'm2\n' });
  });

  it('is not there without its package: the error says what to install', async () => {
    using folder = temporaryFolder();
    const choice = { kind: 'provided', agentId: 'pigeon:grey' } as const; // the known packages lie beside the sources
    const agents = { agents: [{ id: 'main', choice }], gateway: { url: '' } };
    const options = agentOptions(folder.path);
    const making = agentDefinitions(agents, { live: [] }, options);
    await expect(making).rejects.toMatchObject({
      message: 'there is no agent "pigeon:grey"',
      hint: expect.stringContaining('No such package is ours'),
    });
  });

  it('that is broken is named, and the error points at what was said before', async () => {
    using folder = installed({}, 'throw new Error("no key");');
    const { code, stderr } = await answers(named, folder);
    expect(code).toBe(2);
    expect(stderr).toContain('no key');
    expect(stderr).toContain('Package sluice-openai is installed, and has provided no agent');
  });
});
