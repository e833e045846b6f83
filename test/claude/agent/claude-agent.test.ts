import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Ended, runCli } from '../../cli/cli.js';

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Runs a command line in a folder where a package stands under the SDK's name, or none. */
function runBeside(sdk: string | undefined, args: readonly string[], input = ''): Promise<Ended> {
  const cwd = mkdtempSync(join(tmpdir(), 'sluice-cli-'));
  folders.push(cwd);
  if (sdk !== undefined) {
    const packaged = join(cwd, 'node_modules', '@anthropic-ai', 'claude-agent-sdk');
    mkdirSync(packaged, { recursive: true });
    const exports = { '.': { types: './sdk.d.ts', default: './sdk.mjs' } };
    writeFileSync(join(packaged, 'package.json'), JSON.stringify({ type: 'module', exports }));
    writeFileSync(join(packaged, 'sdk.mjs'), sdk);
  }
  return runCli(args, input, { cwd });
}

const saying = `
  export function query({ prompt, options: { model = 'its own', cwd } }) {
    const text = prompt + ' from ' + model + (cwd === process.cwd() ? ' here' : ' elsewhere');
    const message = { id: 'm', model, content: [{ type: 'text', text }], stop_reason: 'end_turn' };
    async function* run() {
      yield { type: 'system', subtype: 'init', session_id: 's' };
      yield { type: 'assistant', message, parent_tool_use_id: null };
      yield { type: 'result', subtype: 'success', is_error: false, result: text };
    }
    return Object.assign(run(), { close() {} });
  }
`;

describe('sluice run --agent claude', () => {
  it('uses the SDK of the folder that it is started in', async () => {
    const args = ['run', '--quiet', '--agent', 'claude'];
    expect(await runBeside(saying, args, 'Hello\n')).toEqual({
      code: 0,
      stdout: 'Hello from its own here\n',
      stderr: '',
    });
  });

  it('asks for the model that is named', async () => {
    const args = ['run', '--quiet', '--agent', 'claude:opus'];
    expect((await runBeside(saying, args, 'Hello\n')).stdout).toBe('Hello from opus here\n');
  });

  it('hands the skills of plugins to it, and nothing else of them (event-pipeline §17.32)', async () => {
    const shows = saying
      .replace('cwd } })', 'cwd, plugins } })')
      .replace(
        "? ' here'",
        "? ' ' + JSON.stringify(plugins.map(({ type, path }) => [type, path.slice(cwd.length), readdirSync(path, { recursive: true }).sort()]))",
      );
    const plugin = mkdtempSync(join(tmpdir(), 'sluice-skilled-'));
    folders.push(plugin);
    for (const [file, text] of Object.entries({
      'openclaw.plugin.json':
        '{"id":"Acme/x","configSchema":{},"skills":["./skills","./one","../out","./none"]}',
      'index.mjs': 'export default () => undefined;',
      'skills/fly/SKILL.md': 'Flap.',
      'skills/notes.md': '',
      'one/SKILL.md': 'One.',
      'hooks/hooks.json': '{}',
    })) {
      mkdirSync(dirname(join(plugin, file)), { recursive: true });
      writeFileSync(join(plugin, file), text);
    }
    const args = ['run', '--quiet', '--agent', 'claude', '--plugin', plugin];
    const { stdout, stderr } = await runBeside(
      `import { readdirSync } from 'node:fs';${shows}`,
      args,
      'Hi\n',
    );
    const [type, path, files] = JSON.parse(/\[.*\]/.exec(stdout)?.[0] ?? '[[]]')[0] as unknown[];
    expect([type, path]).toEqual(['local', '/.sluice/acme-x/claude-skills']);
    expect(
      (files as string[]).filter((file) => /\.\w+$/.test(file) && !file.endsWith('plugin')),
    ).toEqual([...['.claude-plugin/plugin.json', 'skills/fly/SKILL.md', 'skills/one/SKILL.md']]);
    expect(stderr.match(/skills "[^"]+" is left out/g)).toEqual([
      ...['skills "../out" is left out', 'skills "./none" is left out'],
    ]);
  });

  it.each([
    ['is absent', undefined, 'it is not installed'],
    ['cannot be imported', 'throw new Error("broken by hand")', 'broken by hand'],
    ['is something else', 'export const ask = 1;', 'exports no query()'],
  ])('tells in one line how the SDK is installed, where it %s', async (_, sdk, problem) => {
    const { code, stdout, stderr } = await runBeside(sdk, ['run', '--agent', 'claude'], 'Hi\n');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(
      /^sluice: missing-package: .* Run `npm install @anthropic-ai\/claude-agent-sdk@[\d.]+`\.(?: --debug shows its stack\.)?\n$/,
    );
    expect(stderr).toContain(problem);
  });

  it.each(['claude:', 'echo:loud', 'replay', 'clod'])('knows no agent "%s"', async (agent) => {
    const { code, stderr } = await runBeside(undefined, ['run', '--agent', agent]);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /^sluice: bad-arguments: there is no agent .*openclaw:AGENT, and the id of an agent that an extension provides\.\n$/,
    );
  });
});
