import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { jsonLines, runCli } from '../../../cli/cli.js';
import { runInMemory } from '../../../cli/memory-shell.js';

vi.mock('../../../../src/cli/inspect/own-command.js', async (original) => ({
  ...(await original<object>()),
  ...(await import('./described-here.js')).describedHere,
}));
vi.mock('../../../../src/cli/replay/effects-trap.js', () => ({ trapEffects: () => undefined }));

const plugins = fileURLToPath(new URL('../../../fixtures/legacy-plugins/', import.meta.url));
const courier = join(plugins, 'courier');
const toolsmith = join(plugins, 'toolsmith');

interface Report {
  readonly schemaVersion: number;
  readonly verdict: string;
  readonly capabilities: readonly {
    readonly kind: string;
    readonly name: string;
    readonly verdict: string;
    readonly because: readonly string[];
    readonly place?: string;
  }[];
  readonly works: boolean;
  readonly diagnostics: readonly { readonly message: string }[];
  readonly plugin?: { readonly id: string };
  readonly error?: { readonly code: string };
  readonly hooks: readonly {
    readonly hook: string;
    readonly becomes: readonly object[];
    readonly differs: readonly string[];
  }[];
  readonly divergences: readonly { readonly name: string }[];
  readonly unsupported: readonly { readonly method: string }[];
  readonly mentions: readonly object[];
}

async function reportOf(...args: readonly string[]): Promise<Report & { code: number | null }> {
  const { code, stdout } = await runInMemory(['check-plugin', '--json', ...args]);
  const [report] = jsonLines<Report>(stdout);
  if (report === undefined) throw new Error('it printed nothing');
  return { ...report, code };
}

let folder = '';

/** A plugin of one file, in a folder of its own: a module is imported once. */
function write(index: string, manifest: object = { id: 'acme', configSchema: {} }): string {
  const path = mkdtempSync(join(folder, 'plugin-'));
  writeFileSync(join(path, 'openclaw.plugin.json'), JSON.stringify(manifest));
  writeFileSync(join(path, 'index.ts'), index);
  return path;
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-check-'));
});

afterAll(() => rmSync(folder, { recursive: true }));

describe('sluice check-plugin', () => {
  it('says of each hook what family, class and mode it becomes', async () => {
    const report = await reportOf(courier);
    expect(report).toMatchObject({ code: 0, works: true, plugin: { id: 'courier' } });
    expect(report.hooks).toMatchObject([
      {
        hook: 'message_received',
        becomes: [{ family: 'ingress.normalized', class: 'observer', mode: 'sequential' }],
      },
      {
        hook: 'message_sending',
        priority: 5,
        becomes: [
          { family: 'egress.preparing', class: 'mutator', mode: 'sequential' },
          { family: 'egress.preparing', class: 'veto', mode: 'sequential' },
        ],
      },
    ]);
  });

  it('names what differs for each hook, and says once what that is', async () => {
    const { hooks, divergences } = await reportOf(courier);
    const [received, sending] = hooks.map(({ differs }) => differs);
    expect(sending).toContain('cancel-is-terminal');
    expect(received).not.toContain('cancel-is-terminal');
    expect(divergences.map(({ name }) => name)).toEqual(
      expect.arrayContaining([...(received ?? []), ...(sending ?? [])]),
    );
    const { stdout } = await runInMemory(['check-plugin', courier]);
    expect(stdout).toMatch(/What differs from OpenClaw\n(?: .*\n)* {2}cancel-is-terminal: There,/);
  });

  it('runs neither services nor commands nor channels', async () => {
    const { code, stdout, stderr } = await runInMemory(['check-plugin', courier]);
    expect(code).toBe(0);
    expect(stderr).toBe('');
    expect(stdout).toMatch(/^Courier \(courier\) is registered; its channels were not tried\n/);
    expect(stdout).toContain('services loft, ringer');
    const module = (await import(join(courier, 'index.js'))) as { default: { log: object[] } };
    expect(module.default.log.filter((entry) => 'started' in entry)).toEqual([]);
  });

  it('finds every call that is not supported in one go, says what to use, and fails', async () => {
    const report = await reportOf(toolsmith);
    expect(report).toMatchObject({ code: 1, works: false });
    expect(report.hooks.map(({ hook }) => hook)).toEqual(['before_tool_call', 'message_sent']);
    expect(report.unsupported).toMatchObject([
      { method: 'api.registerProvider', instead: expect.stringContaining('AgentProvider') },
      { method: 'api.runtime.tts.textToSpeechTelephony' },
    ]);
    const { stdout } = await runInMemory(['check-plugin', toolsmith]);
    expect(stdout).toMatch(/^toolsmith \(toolsmith\) works in part\n/);
    expect(stdout).toMatch(/^ {2}provider api\.registerProvider\n.*src\/plugin\.js:6\):\s+Give\s/m);
    expect(stdout).toMatch(/there is no hook "befor_tool_call"/);
  });

  it('lists its tools, and says which of them the operator has to allow (event pipeline §17.26)', async () => {
    const path = write(`export default (api: any) => {
      api.registerTool({ name: 'hammer', execute: () => 'bang' });
      api.registerTool(() => null, { names: ['saw', 'file'], optional: true });
      api.registerTool({ name: 'broken' });
    };`);
    const because = [expect.stringContaining('"optionalTools"')];
    expect((await reportOf(path)).capabilities).toMatchObject([
      { kind: 'tool', name: 'hammer', verdict: 'works' },
      { kind: 'tool', name: 'saw, file', verdict: 'works-but', because },
      { kind: 'tool', name: 'broken', verdict: 'refused' },
    ]);
    const run = await runCli(['run', '--plugin', path], 'hello\n');
    expect(run.stderr).toContain('sluice: plugin acme brings the tools hammer, saw (optional');
    const quiet = await runInMemory(['run', '-q', '--plugin', path], 'hello\n');
    expect(quiet).toMatchObject({ stdout: 'hello\n' });
    expect(quiet.stderr).not.toContain('brings');
  });

  it('finds in the source what would be asked for later', async () => {
    const path = write(`export default function register(api: any) {
      api.on('message_sent', () => api.runtime.tts.speak(api.runtime.state.resolveStateDir()));
      api.registerService({ id: 's', start: () => api.runtime?.events.onSessionTranscriptUpdate() });
      api.runtime.events.onAgentEvent(() => undefined);
    }`);
    const report = await reportOf(path);
    expect(report).toMatchObject({ code: 1, works: false, unsupported: [] });
    expect(report.mentions).toMatchObject([
      { method: 'api.runtime.tts.speak', file: 'index.ts', line: 2 },
      { method: 'api.runtime.events.onSessionTranscriptUpdate', file: 'index.ts', line: 3 },
    ]);
  });

  it('finds it where the plugin keeps its runtime behind a function, too', async () => {
    const path = write(`import { getAcmeRuntime } from './runtime.js';
      export default () => undefined;
      export const send = (text: string) => getAcmeRuntime().channel.acme.send(text);`);
    writeFileSync(join(path, 'runtime.js'), 'export const getAcmeRuntime = () => undefined;');
    expect(await reportOf(path)).toMatchObject({
      works: false,
      mentions: [{ method: 'api.runtime.channel.acme', file: 'index.ts', line: 3 }],
    });
  });

  it('says once what two contributions of a hook become alike', async () => {
    const path = write(`export default (api: any) => api.on('before_prompt_build', () => {});`);
    const { stdout } = await runInMemory(['check-plugin', path]);
    expect(stdout.match(/becomes/g)).toHaveLength(1);
  });

  it('sets off what is wrong from what to do', async () => {
    const manifest = { id: 'acme', configSchema: { type: 'object', required: ['url'] } };
    const path = write('export default () => undefined;', manifest);
    const { stdout } = await runInMemory(['check-plugin', path]);
    expect(stdout).toMatch(/is required\. Fix/);
  });

  it('compiles TypeScript whose imports of the SDK are types', async () => {
    const path = write(`import type { OpenClawPluginApi } from 'openclaw/plugin-sdk';
      export default (api: OpenClawPluginApi) => api.on('message_sent', () => undefined);`);
    const { code, stdout } = await runInMemory(['check-plugin', path, '--json']);
    expect(code).toBe(0);
    expect(jsonLines<Report>(stdout)[0]?.hooks).toMatchObject([{ hook: 'message_sent' }]);
  });

  it('names the SDK where the plugin needs it when it runs', async () => {
    const path = write(`import { resolveStateDir } from 'openclaw/plugin-sdk';
      export default { stateDir: resolveStateDir(), register() {} };`);
    const text = await runCli(['check-plugin', path]);
    expect(text.code).toBe(1);
    expect(text.stderr).toMatch(/^sluice: plugin-needs-sdk: acme: .*index\.ts:1 imports "openclaw/);
    const json = await runCli(['check-plugin', path, '--json']);
    expect(json.code).toBe(1);
    expect(jsonLines<Report>(json.stdout)[0]).toMatchObject({
      works: false,
      error: { code: 'plugin-needs-sdk' },
    });
  });

  it('D3: check-plugin and run load a plugin alike: what one lists the other registers', async () => {
    const path = write(`export default (api: any) => {
      api.registerProvider({ id: 'hammer' });
      api.on('message_sending', () => ({ content: 'changed' }));
    };`);
    expect((await reportOf(path)).hooks).toMatchObject([{ hook: 'message_sending' }]);
    const run = await runInMemory(['run', '-q', '--plugin', path], 'hello\n');
    expect(run).toMatchObject({ code: 0, stdout: 'changed\n' });
    const strict = await reportOf(path, '--strict-plugins');
    expect(strict).toMatchObject({ hooks: [], error: { code: 'plugin-unsupported' } });
    const refused = await runInMemory(
      ['run', '-q', '--strict-plugins', '--plugin', path],
      'hello\n',
    );
    expect(refused).toMatchObject({ code: 1, stdout: 'hello\n' });
  });

  it('takes the release of the hooks from --legacy-profile, then from the config (event-pipeline §17.27)', async () => {
    const path = join(folder, 'by-profile');
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, 'openclaw.plugin.json'), '{ "id": "by-profile", "configSchema": {} }');
    writeFileSync(
      join(path, 'index.js'),
      `export default (api) => api.on('before_agent_reply', () => ({ handled: true, reply: { text: 'by a plugin' } }));`,
    );
    const config = join(folder, 'by-profile.json');
    const legacy = { profile: '2026.9' };
    writeFileSync(config, JSON.stringify({ legacy, plugins: [{ path }] }));
    const later = ['--legacy-profile', '2026.9'];
    const earlier = ['--legacy-profile', '2026.3'];
    const { hooks, diagnostics } = await reportOf(path, ...earlier);
    expect(hooks).toEqual([]);
    expect(diagnostics[0]?.message).toContain('--legacy-profile 2026.9');
    expect((await reportOf(path, ...later)).hooks).toMatchObject([{ hook: 'before_agent_reply' }]);
    expect((await reportOf(path, '--config', config)).hooks).toHaveLength(1);
    const run = await runInMemory(['run', '-q', ...later, '--plugin', path], 'hello\n');
    expect(run).toMatchObject({ code: 0, stdout: 'by a plugin\n' });
    expect(run.stderr).not.toContain('guess');
    const guessed = await reportOf(path);
    expect(guessed.hooks).toHaveLength(1);
    expect(guessed.diagnostics[0]?.message).toContain('a guess from its hook "before_agent_reply"');
    const named = await reportOf(path, '--openclaw', '2026.9.6');
    expect(named).toMatchObject({ hooks: [{ hook: 'before_agent_reply' }], diagnostics: [] });
    const wrong = await runInMemory(['run', '-q', '--legacy-profile', '2026.6'], '');
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain('2026.3, 2026.9');
  });

  it('gives a verdict for each hook, command, service, channel and refused member (event-pipeline §17.16)', async () => {
    const { capabilities, verdict, schemaVersion } = await reportOf(courier);
    expect({ verdict, schemaVersion }).toEqual({ verdict: 'registered', schemaVersion: 1 });
    const told = capabilities.map((one) => `${one.kind} ${one.name}: ${one.verdict}`);
    expect(told).toEqual([
      'hook message_received: works',
      'hook message_sending: works-but',
      'internal hook courier-audit (command:new, message:received): works-but',
      'service loft: works',
      'service ringer: works',
      'command /fly: works',
      'command /coo: works',
      'command /lost: works',
      'command /hush: works',
      'channel pigeon: registered',
    ]);
  });

  it('refuses a hook that there is not, a command with the name of another, and each skipped member, with its place', async () => {
    const path = write(`export default (api: any) => {
      api.on('befor_tool_call', () => undefined);
      api.registerCommand({ name: 'help', description: 'd', handler: () => ({}) });
      api.registerProvider({ id: 'acme' });
      api.registerService({ id: 's', start: () => api.runtime.tts.speak() });
    };`);
    const { capabilities, verdict } = await reportOf(path);
    expect(verdict).toBe('partly');
    expect(capabilities.filter((one) => one.verdict === 'refused')).toMatchObject([
      { kind: 'hook', name: 'befor_tool_call', because: [expect.stringContaining('did it mean')] },
      { kind: 'command', name: 'help', because: [expect.stringContaining('a built-in one')] },
      { kind: 'provider', name: 'api.registerProvider', place: join(path, 'index.ts:4') },
      { kind: 'runtime', name: 'api.runtime.tts.speak', place: 'index.ts:5' },
    ]);
  });

  it.each([
    ['works', 0, `api.on('message_sent', () => undefined)`],
    ['works-but', 0, `api.on('message_sending', () => undefined)`],
    ['partly', 1, `{ api.on('message_sent', () => undefined); api.registerProvider({}); }`],
    ['refused', 1, 'api.registerProvider({})'],
    ['does-not-load', 1, `{ throw new Error('no'); }`],
  ])('tells a plugin that %s by its verdict and the exit code %i', async (verdict, code, body) => {
    const path = write(`export default (api: any): unknown => ${body};`);
    expect(await reportOf(path)).toMatchObject({ verdict, code, works: code === 0 });
  });

  it('tells the OpenClaw that a plugin was written for, also of one that does not load', async () => {
    const openclaw = {
      compat: { pluginApi: '>=1.0.0', pluginApiRange: '>=2026.5' },
      build: { openclawVersion: '2026.7.1' },
    };
    const target = { builtWith: '2026.7.1', asksFor: '>=2026.5' };
    for (const index of ['export default () => undefined;', `throw new Error('no');`]) {
      const path = write(index);
      writeFileSync(join(path, 'package.json'), JSON.stringify({ openclaw }));
      expect(await reportOf(path)).toMatchObject({ target });
      const { stdout } = await runInMemory(['check-plugin', path]);
      if (!index.startsWith('throw'))
        expect(stdout).toContain('  written for: built with openclaw 2026.7.1, asks for openclaw');
    }
  });

  it('writes a report in Markdown with every row, also of a plugin that does not load', async () => {
    const file = join(folder, 'reports', 'courier.md');
    const { code } = await runInMemory(['check-plugin', courier, '--report', file]);
    expect(code).toBe(0);
    const text = readFileSync(file, 'utf8');
    expect(text).toMatch(/^# Courier \(courier\) is registered; its channels were not tried\n/);
    expect(text).toContain(
      '| hook | message_sending | works but | egress.preparing, mutator; egress.preparing, veto | cancel-is-terminal |',
    );
    expect(text).toContain('- **priority-must-be-finite**: There,');
    const none = await runInMemory(['check-plugin', 'nowhere', '--report', file]);
    expect(none).toMatchObject({ code: 2, stdout: '' });
    expect(readFileSync(file, 'utf8')).toMatch(/^# nowhere was not found\n\n## Found\n\n- plugin-/);
    const bad = await runInMemory(['check-plugin', courier, '--report', folder]);
    expect(bad).toMatchObject({ code: 1, stdout: '' });
    expect(bad.stderr).toMatch(/^sluice: unwritable-file: /);
  });

  it('D4: --json prints a report also of a folder that holds no plugin, and exits with 2', async () => {
    const path = mkdtempSync(join(folder, 'empty-'));
    expect(await reportOf(path)).toMatchObject({
      code: 2,
      schemaVersion: 1,
      verdict: 'not-found',
      works: false,
      error: { code: 'plugin-not-found' },
      hooks: [],
    });
  });

  it('D6: names the subpath of the SDK and the version that lacks it', async () => {
    const path = write(`import { resolveStateDir } from 'openclaw/plugin-sdk/state';
      export default { stateDir: resolveStateDir(), register() {} };`);
    const absent = await runCli(['check-plugin', path]);
    expect(absent.stderr).toContain('imports "openclaw/plugin-sdk/state" when it runs');
    const sdk = join(path, 'node_modules', 'openclaw');
    mkdirSync(sdk, { recursive: true });
    const exports = { './plugin-sdk': './index.js' };
    const manifest = { name: 'openclaw', version: '2026.3.13', type: 'module', exports };
    writeFileSync(join(sdk, 'package.json'), JSON.stringify(manifest));
    writeFileSync(join(sdk, 'index.js'), '');
    const other = await runCli(['check-plugin', path]);
    expect(other.stderr).toMatch(
      /^sluice: plugin-needs-sdk: acme: .*imports "openclaw\/plugin-sdk\/state".*neither openclaw@2026\.3\.13 of/,
    );
  });

  it('tells the openclaw that the plugin imports: what Sluice has, or the one of --openclaw and of the config (event-pipeline §17.13)', async () => {
    const text = `import { definePluginEntry } from 'openclaw/plugin-sdk/core';
      export default definePluginEntry({ id: 'acme', name: 'Acme', description: 'd', register(api: any) {
        api.on('message_sending', () => ({ content: 'changed' }));
      } });`;
    const path = write(text);
    const own = await runCli(['check-plugin', path]);
    expect(own.stdout).toMatch(
      /^Acme \(acme\) works, with limits\n {2}openclaw\/plugin-sdk: what Sluice has of it\n\nWorks, but\n {2}hook message_sending/,
    );
    const run = await runCli(['run', '-q', '--plugin', path], 'hello\n');
    expect(run).toMatchObject({ code: 0, stdout: 'changed\n' });
    const sdk = mkdtempSync(join(folder, 'openclaw-'));
    const exports = { './plugin-sdk/core': './core.js' };
    const manifest = { name: 'openclaw', version: '2026.4.2', type: 'module', exports };
    writeFileSync(join(sdk, 'package.json'), JSON.stringify(manifest));
    writeFileSync(
      join(sdk, 'core.js'),
      `export const definePluginEntry = (entry) => ({ ...entry, register(api) {
        api.on('message_sending', () => ({ content: 'by openclaw' })); } });`,
    );
    const named = await runCli(['check-plugin', path, '--openclaw', sdk]);
    expect(named.stdout).toContain('openclaw@2026.4.2, as named, in');
    const other = await runCli(['run', '-q', '--plugin', path, '--openclaw', sdk], 'hello\n');
    expect(other).toMatchObject({ code: 0, stdout: 'by openclaw\n' });
    const config = join(folder, 'legacy.json');
    const written = { plugins: [{ path }], legacy: { openclaw: basename(sdk) } };
    writeFileSync(config, JSON.stringify(written));
    const configured = await runCli(['run', '-q', '--config', config], 'hello\n');
    expect(configured).toMatchObject({ code: 0, stdout: 'by openclaw\n' });
    const wrong = await runCli(['check-plugin', path, '--openclaw', path]);
    expect(wrong).toMatchObject({ code: 1 });
    expect(wrong.stderr).toMatch(/^sluice: openclaw-not-found: /);
  });

  it('D9: a hook lists what differs for it, and not what differs for every hook', async () => {
    const { hooks, divergences } = await reportOf(courier);
    for (const { differs } of hooks) {
      expect(differs).not.toContain('priority-must-be-finite');
      expect(differs).not.toContain('unreadable-error-is-told');
    }
    expect(divergences.map(({ name }) => name)).toContain('priority-must-be-finite');
    const { stdout } = await runInMemory(['check-plugin', courier]);
    expect(stdout).not.toMatch(/priority-must-be-finite|unreadable-error-is-told/);
  });

  it('gives the plugin its part of a config file', async () => {
    const manifest = {
      id: 'acme',
      configSchema: { type: 'object', required: ['url'], properties: { url: { type: 'string' } } },
    };
    const path = write('export default () => undefined;', manifest);
    expect(await reportOf(path)).toMatchObject({ code: 1, error: { code: 'bad-config' } });
    const config = join(path, 'sluice.json');
    writeFileSync(config, JSON.stringify({ plugins: [{ path: '.', config: { url: 'a' } }] }));
    expect(await reportOf(path, '--config', config)).toMatchObject({ code: 0, works: true });
  });

  it.each([
    [['check-plugin', courier, '--strict-plugin'], 2, /^sluice: bad-arguments: unknown option/],
    [['check-plugin'], 2, /^sluice: bad-arguments: missing required argument 'path'/],
    [['check-plugin', 'nowhere'], 2, /^sluice: missing-file: Plugin "nowhere" was not found/],
    [['check-plugin', 'src'], 2, /^sluice: missing-file: .* holds no openclaw\.plugin\.json/],
    [['check-plugin', courier, '-c', 'no.json'], 2, /^sluice: missing-file: there is no file/],
  ])('tells in one line what is wrong with %j', async (args, code, line) => {
    const ended = await runInMemory(args);
    expect(ended.code).toBe(code);
    expect(ended.stderr).toMatch(line);
    expect(ended.stderr.trimEnd().split('\n')).toHaveLength(1);
  });

  it('has a help with an example', async () => {
    const { code, stdout } = await runInMemory(['check-plugin', '--help']);
    expect(code).toBe(0);
    expect(stdout).toContain('$ sluice check-plugin ./extensions/thread-ownership');
  });
});

describe('sluice run --plugin', () => {
  it('runs a plugin in the host: its hooks, commands and services', async () => {
    const input = '/coo\nhello\na secret\n';
    const { code, stdout, stderr } = await runInMemory(['run', '-q', '--plugin', courier], input);
    expect(stdout).toBe('coo\nhello\n');
    expect(stderr).toBe('');
    expect(code).toBe(0);
  });

  it('takes plugins, what they are configured with and what they are shown from a config file', async () => {
    const config = join(folder, 'run.json');
    const setting = { path: courier, config: { sign: '-- C' } };
    const openclaw = { channels: { pigeon: { accounts: ['loft-1'] } } };
    writeFileSync(config, JSON.stringify({ plugins: [setting], openclaw }));
    const { stdout } = await runCli(['run', '--json', '-c', config], 'hello\n');
    const outcomes = jsonLines<{ event: { family: string }; payload: Record<string, unknown> }>(
      stdout,
    );
    const of = (family: string) => outcomes.filter(({ event }) => event.family === family);
    expect(of('egress.sent')[0]?.payload).toMatchObject({ content: 'hello -- C' });
    expect(of('account.started')[1]?.payload).toMatchObject({ accountId: 'loft-1' });
  });

  it('tells of a plugin that cannot be set up, goes on with the rest, and fails', async () => {
    const args = [
      'run',
      '-q',
      '--strict-plugins',
      '--plugin',
      toolsmith,
      '--plugin',
      courier,
      '--plugin',
      courier,
    ];
    const { code, stdout, stderr } = await runCli(args, '/coo\n');
    expect(code).toBe(1);
    expect(stdout).toBe('coo\n');
    expect(stderr).toMatch(
      /^sluice: plugin-unsupported: toolsmith: api\.registerProvider is not supported/m,
    );
    expect(stderr).toMatch(/^sluice: bad-config: plugin "courier" of .* is loaded already/m);
  });

  it('refuses a config whose plugins have a key that there is not', async () => {
    const config = join(folder, 'bad.json');
    writeFileSync(config, JSON.stringify({ plugins: [{ path: '.', trustd: true }] }));
    const { code, stderr } = await runInMemory(['stages', '-c', config]);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /at plugins\[0\]\.trustd: there is no setting "trustd"\. Did you mean "trusted"\?/,
    );
  });

  it('shows the hooks of a plugin in sluice stages', async () => {
    const { stdout } = await runInMemory(['stages', '--plugin', courier]);
    expect(stdout).toMatch(/courier\/0001\.1, veto, priority 5, no recheck/);
  });
});
