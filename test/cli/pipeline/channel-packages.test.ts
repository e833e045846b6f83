import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary-folder.js';
import { jsonLines } from '../cli.js';
import { runInMemory } from '../memory-shell.js';

/** A channel package as an author publishes it: one message comes in, and the reply says the settings. */
const pigeon = (declares: string): string => `
const channel = ({ loft = 'home', mute = false } = {}) => ({
  id: 'pigeon', capabilities: {}, accounts: ['default'],
  resendPolicy: { ambiguous: 'fail', maxAttempts: 1, maxWaitMs: 0 },
  startAccount: async (_, inbox) => {
    inbox.receive({ raw: 'coo', updateId: '1' }).then(() => inbox.ended({ reason: 'it is home' }));
  },
  stopIntake: async () => {}, stopAccount: async () => {},
  decodeIngress: (raw, accountId) => ({
    kind: 'message',
    message: { channel: 'pigeon', accountId, from: 'pigeon:ada', content: raw, attachments: [], metadata: {} },
  }),
  send: async (permit) => {
    console.error('to ' + loft + (mute ? ' in silence' : '') + ': ' + permit.take().content);
    return { status: 'sent', receipt: {} };
  },
});
export default {
  kind: 'sluice-extension', id: 'pigeons', manifest: { version: '0.4.0' },
  config: { '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }) } },
  declares: { channel: { id: 'pigeon', ${declares} } },
  setup: (api, config) => api.provide('channel', channel(config)),
};`;

const declared = `
  options: [
    { flags: '--loft <name>', description: 'the loft', setting: 'loft' },
    { flags: '--mute', description: 'no coo', setting: 'mute' },
  ],
  credentials: [{
    name: 'a ring', setting: 'ring', env: 'PIGEON_RING', shape: /^R\\d{4}$/, looksLike: 'an R and four digits',
    hint: 'The breeder has it.',
  }],
  starter: { config: "{ loft: 'roof' }", files: { 'loft/README.md': 'A roof.' } },`;

/** A folder in which the package of a channel is installed. */
function installed(
  files: Readonly<Record<string, string>> = {},
  declares = declared,
): TemporaryFolder {
  return temporaryFolder({
    'node_modules/sluice-pigeon/package.json': JSON.stringify({
      name: 'sluice-pigeon',
      version: '0.4.0',
      type: 'module',
      exports: { '.': './index.js', './package.json': './package.json' },
    }),
    'node_modules/sluice-pigeon/index.js': pigeon(declares),
    ...files,
  });
}

/** The lines that the pigeon wrote: a channel in this process writes to this process's stderr. */
async function carried(
  args: readonly string[],
  folder: TemporaryFolder,
): Promise<{ readonly code: number | null; readonly said: string; readonly stderr: string }> {
  const { error } = console;
  const said: string[] = [];
  console.error = (text: string) => void said.push(text);
  try {
    const { code, stderr } = await runInMemory(args, '', { cwd: folder.path });
    return { code, said: said.join('\n'), stderr };
  } finally {
    console.error = error;
  }
}

describe('the channel of a package (§14.15)', () => {
  it('is loaded by the name of the channel, and takes the options that it declares', async () => {
    using folder = installed();
    const usual = await carried(['run', '--channel', 'pigeon'], folder);
    expect(usual).toMatchObject({ code: 0, said: 'to home: coo' });
    const args = ['run', '--loft', 'roof', '--channel', 'pigeon', '--mute', '--quiet'];
    expect(await carried(args, folder)).toMatchObject({ code: 0, said: 'to roof in silence: coo' });
  });

  it('needs no grant where an operator has named it, and the options go over the config', async () => {
    const extensions = [{ path: 'sluice-pigeon', config: { loft: 'barn', mute: true } }];
    const config = { channels: ['pigeon'], extensions, grants: { pigeons: ['provide:channel'] } };
    using folder = installed({
      'bare.json': '{ "channels": ["pigeon"], "leastPrivilege": true }',
      'full.json': JSON.stringify(config),
    });
    const named = await carried(['run', '--config', 'bare.json'], folder);
    expect(named).toMatchObject({ code: 0, said: 'to home: coo' });
    const over = await carried(['run', '--config', 'full.json', '--loft', 'roof'], folder);
    expect(over).toMatchObject({ code: 0, said: 'to roof in silence: coo' });
  });

  it('is not there without its package: the error says what to install, also for its options', async () => {
    using folder = temporaryFolder();
    for (const args of [
      ['run', '--channel', 'pigeon'],
      ['run', '--channel', 'pigeon', '--loft', 'roof'],
    ]) {
      const { code, stderr } = await runInMemory(args, '', { cwd: folder.path });
      expect(code).toBe(2);
      expect(stderr).toContain('there is no channel "pigeon"');
      expect(stderr).toContain('No such package is ours');
      expect(stderr).not.toContain('npm install'); // anybody may publish a package of that name
    }
    const doctor = await runInMemory(['doctor', '--channel', 'pigeon', '--json'], '', {
      cwd: folder.path,
    });
    expect(jsonLines<{ hint?: string }>(doctor.stdout)).toContainEqual(
      expect.objectContaining({ hint: expect.stringContaining('No such package is ours') }),
    );
  });

  it('adds its options to the help of the command', async () => {
    using folder = installed();
    const help = async (...args: readonly string[]): Promise<string> => {
      const { code, stdout } = await runInMemory(['run', ...args], '', { cwd: folder.path });
      expect(code).toBe(0);
      expect(stdout).toContain('Usage: sluice run');
      return stdout;
    };
    expect(await help('--channel', 'pigeon', '--help')).toContain('--loft <name>');
    expect(await help('-h')).not.toContain('--loft <name>');
  });

  it.each([
    ['an option that nothing declares', ['--lotf', 'roof'], "unknown option '--lotf'"],
    ['an option of the channel, misspelt', ['--lofft', 'roof'], 'Did you mean --loft?'],
    ['an option of the command, misspelt', ['--quite'], 'Did you mean --quiet?'],
    ['a word', ['roof'], 'too many arguments'],
  ])('leaves %s an error', async (_, args, text) => {
    using folder = installed();
    const all = ['run', '--channel', 'pigeon', ...args];
    const { code, stderr } = await runInMemory(all, '', { cwd: folder.path });
    expect(code).toBe(2);
    expect(stderr).toContain(text);
  });

  it('may not declare an option that the command has', async () => {
    using folder = installed(
      {},
      `options: [{ flags: '--config <x>', description: '', setting: 'x' }],`,
    );
    const all = ['run', '--channel', 'pigeon', '--loft', 'roof'];
    const { code, stderr } = await runInMemory(all, '', { cwd: folder.path });
    expect(code).toBe(2);
    expect(stderr).toContain('the option --config <x> is declared twice');
  });

  it('tells its own error if its package is there and broken', async () => {
    using folder = temporaryFolder({
      'node_modules/sluice-pigeon/package.json': '{ "name": "sluice-pigeon", "main": "index.mjs" }',
      'node_modules/sluice-pigeon/index.mjs': 'throw new Error("no corn");',
    });
    const { code, stderr } = await runInMemory(['run', '--channel', 'pigeon'], '', {
      cwd: folder.path,
    });
    expect(code).toBe(2);
    expect(stderr).toContain('no corn');
    expect(stderr).not.toContain('npm install');
  });

  it.each([
    ['run', '--channel', 'dove'],
    ['init', 'bot', '--channel', 'dove'],
  ])('is not to be installed again if its package provides another: %s', async (...args) => {
    using folder = temporaryFolder({
      'node_modules/sluice-dove/package.json': '{ "name": "sluice-dove", "main": "index.mjs" }',
      'node_modules/sluice-dove/index.mjs':
        "export default { kind: 'sluice-extension', id: 'doves', setup: () => {} };",
    });
    const { code, stderr } = await runInMemory(args, '', { cwd: folder.path });
    expect(code).toBe(2);
    expect(stderr).toContain(
      'Package sluice-dove is installed, and has provided no channel "dove"',
    );
    expect(stderr).not.toContain('npm install');
  });

  it('has secrets with a form of their own, which the doctor knows (§20.5)', async () => {
    const extensions = [
      { path: 'sluice-pigeon', config: { ring: { env: 'RING' }, note: 'R4711' } },
    ];
    using folder = installed({
      'sluice.config.json': JSON.stringify({ channels: ['pigeon'], extensions }),
    });
    const found = await runInMemory(['doctor', '--json'], '', {
      cwd: folder.path,
      env: { RING: 'X1' },
    });
    const what = jsonLines<{ what: string }>(found.stdout).map((one) => one.what);
    expect(what).toContain('extensions[0].config.note holds a ring, written out');
    expect(what).toContain(
      'extensions[0].config.ring cannot be right: a ring is an R and four digits',
    );
    expect(found.code).toBe(1);
  });

  it('begins a host by sluice init, with its settings, its files and the secret that it needs', async () => {
    using folder = installed();
    const made = await runInMemory(['init', 'bot', '--channel', 'pigeon'], '', {
      cwd: folder.path,
    });
    expect(made).toMatchObject({ code: 0, stderr: '' });
    expect(made.stdout).toContain('a ring in the variable PIGEON_RING. The breeder has it.');
    const read = (file: string): string => readFileSync(join(folder.path, 'bot', file), 'utf8');
    expect(read('sluice.config.ts')).toContain("channels: ['pigeon']");
    expect(read('sluice.config.ts')).toContain(
      "{ path: 'sluice-pigeon', config: { loft: 'roof' } },",
    );
    expect(read('loft/README.md')).toBe('A roof.');
    const { dependencies } = JSON.parse(read('package.json')) as {
      readonly dependencies: Readonly<Record<string, string>>;
    };
    expect(dependencies['sluice-pigeon']).toBe(
      `file:${join(folder.path, 'node_modules/sluice-pigeon')}`,
    );
  });

  it('is not guessed by sluice init', async () => {
    using folder = temporaryFolder();
    const { code, stderr } = await runInMemory(['init', '--channel', 'pigeon'], '', {
      cwd: folder.path,
    });
    expect(code).toBe(2);
    expect(stderr).toContain('No such package is ours');
  });

  it('is loaded by no name that is no name of a package', async () => {
    using folder = installed();
    const { code, stderr } = await runInMemory(['run', '--channel', '../pigeon'], '', {
      cwd: folder.path,
    });
    expect(code).toBe(2);
    expect(stderr).not.toContain('npm install');
  });
});
