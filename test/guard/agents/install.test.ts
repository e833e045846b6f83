import {
  chmodSync,
  cpSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { parse } from 'jsonc-parser';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { agents } from '../../../extensions/guard/src/agents/index.js';
import { examine } from '../../../extensions/guard/src/commands/doctor.js';
import { type InitOptions, init, remove } from '../../../extensions/guard/src/commands/install.js';
import { watchSettings } from '../../../extensions/guard/src/commands/watch-settings.js';
import { virtualClock } from '../../../src/testing/index.js';

let cwd = '';
let home = '';
beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), 'guard-init-'));
  cwd = join(folder, 'shop');
  home = join(folder, 'home');
  mkdirSync(cwd);
  mkdirSync(home);
});
afterEach(() => rmSync(dirname(cwd), { recursive: true, force: true }));

const options = (given: Partial<InitOptions> = {}): InitOptions => ({
  ...{ cwd, home, env: {}, agent: agents.map(({ agent }) => agent), ...given },
});

/** Every file below both folders, with its text and mode. */
function all(): Record<string, string> {
  const seen: Record<string, string> = {};
  for (const folder of [cwd, home])
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      const path = join(folder, name);
      const { mode } = lstatSync(path);
      seen[path] = statSync(path).isDirectory()
        ? 'folder'
        : `${mode} ${readFileSync(path, 'utf8')}`;
    }
  return seen;
}

function write(name: string, text: string, mode = 0o644): string {
  const path = join(cwd, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode });
  chmodSync(path, mode);
  return path;
}

const claude = '.claude/settings.local.json';
const others = `{
\t// keep this
\t"permissions": { "allow": ["Bash(ls:*)"] },
\t"hooks": {
\t\t"PreToolUse": [{ "hooks": [{ "type": "command", "command": "./mine.sh" }] }],
\t},
}
`;

describe('sluice guard init', () => {
  it('writes the hooks of every agent, a config and policies of six lines', async () => {
    const done = await init(options());
    expect(done.map(({ did }) => did)).toEqual(done.map(() => 'wrote'));
    expect(done.flatMap(({ agent }) => agent ?? [])).toEqual(agents.map(({ agent }) => agent));
    const policies = readFileSync(join(cwd, '.sluice/policies.yaml'), 'utf8');
    expect(policies.trim().split('\n')).toHaveLength(6);
    const { hooks } = parse(readFileSync(join(cwd, claude), 'utf8'));
    const [hook] = hooks.PreToolUse[0].hooks;
    expect(hook).toMatchObject({ type: 'command', timeout: 600, onFailure: 'block' });
    expect(hook.command).toMatch(/client\.js' claude PreToolUse '.*guard' closed$/);
    expect(hooks.Stop[0].hooks[0].onFailure).toBeUndefined();
    const { BeforeTool } = parse(readFileSync(join(cwd, '.gemini/settings.json'), 'utf8')).hooks;
    expect(BeforeTool[0].hooks[0].command).toMatch(
      /client\.js' gemini BeforeTool '.*guard' closed$/,
    );
    const { version } = parse(readFileSync(join(cwd, '.github/hooks/sluice-guard.json'), 'utf8'));
    expect(version).toBe(1);
  });

  it('never closes a hook at which the agent only tells', async () => {
    await init(options());
    for (const text of Object.values(all()))
      expect(text).not.toMatch(
        /(Stop|AfterAgent|agentStop|SessionStart|session\.idle) '[^']*' closed/,
      );
  });

  it('changes nothing when it runs again, and all hooks when it is to be open', async () => {
    await init(options());
    const before = all();
    const again = await init(options());
    expect(again.map(({ did }) => did)).toEqual(again.map(() => 'kept'));
    expect(all()).toEqual(before);
    await init(options({ open: true }));
    for (const [path, text] of Object.entries(all()))
      if (!path.endsWith('installed.json')) expect(text).not.toMatch(/' closed|"onFailure"/);
    remove(options());
    expect(all()).toEqual({});
  });

  it('keeps every byte beside its entries, and remove gives the file back with its mode', async () => {
    const path = write(claude, others, 0o640);
    write('.sluice/policies.yaml', '[]\n');
    const before = all();
    await init(options());
    const after = readFileSync(path, 'utf8');
    expect(parse(after).hooks.PreToolUse).toHaveLength(2);
    for (const line of others.split('\n')) expect(after).toContain(line.slice(0, -3));
    expect(readFileSync(join(cwd, '.sluice/policies.yaml'), 'utf8')).toBe('[]\n');
    remove(options());
    expect(all()).toEqual(before);
  });

  it('takes its own hooks alone out of a file that was changed since', async () => {
    const path = write(claude, others);
    await init(options());
    const changed = readFileSync(path, 'utf8').replace('Bash(ls:*)', 'Bash(cat:*)');
    writeFileSync(path, changed);
    const plugin = join(cwd, '.opencode/plugin/sluice-guard.js');
    writeFileSync(plugin, `${readFileSync(plugin, 'utf8')}\n`);
    writeFileSync(join(cwd, '.sluice/policies.yaml'), '[]\n');
    remove(options());
    const left = readFileSync(path, 'utf8');
    expect(parse(left)).toEqual(parse(others.replace('Bash(ls:*)', 'Bash(cat:*)')));
    expect(left).toContain('// keep this');
    expect(existsSync(plugin)).toBe(false);
    expect(readFileSync(join(cwd, '.sluice/policies.yaml'), 'utf8')).toBe('[]\n');
  });

  // Issue 40, section 7: another user of the machine may listen at the port while the guard is away.
  it('has no agent call a port, which another user could take', async () => {
    await init(options());
    for (const [path, text] of Object.entries(all()))
      if (!path.includes('/guard/')) expect(text, path).not.toMatch(/127\.0\.0\.1|Bearer/);
  });

  it('keeps the record out of git when the hooks are removed', async () => {
    await init(options());
    write('.sluice/guard.db', '');
    remove(options());
    expect(readdirSync(join(cwd, '.sluice'))).toEqual(['.gitignore', 'guard.db']);
  });

  it('finds its hooks again without its notes', async () => {
    const path = write(claude, others);
    await init(options());
    rmSync(join(cwd, '.sluice/guard/installed.json'));
    await init(options());
    expect(parse(readFileSync(path, 'utf8')).hooks.PreToolUse).toHaveLength(2);
    remove(options());
    expect(parse(readFileSync(path, 'utf8'))).toEqual(parse(others));
  });

  it.each([
    ['{ "hooks": ', 'settings.json is no JSON, at line 1'],
    ['[]', 'must hold a JSON object'],
    ['{ "hooks": [] }', '"hooks" of'],
    ['{ "hooks": { "BeforeTool": {} } }', '"hooks.BeforeTool" of'],
  ])('writes nothing at all if settings are broken: %s', async (text, problem) => {
    write('.gemini/settings.json', text);
    const before = all();
    const why = await init(options()).catch((thrown: Error) => thrown.message);
    expect(why).toContain(problem);
    expect(String(why).split('\n')).toHaveLength(1);
    expect(all()).toEqual(before);
  });

  it('writes nothing if a file is not UTF-8, or cannot be written', async () => {
    const path = write('.gemini/settings.json', '{}');
    writeFileSync(path, Buffer.from([0x7b, 0xff, 0x7d]));
    await expect(init(options())).rejects.toThrow('it is not UTF-8');
    writeFileSync(path, '{}');
    write('.opencode', 'a file where a folder must be');
    const before = all();
    await expect(init(options())).rejects.toThrow('.opencode');
    const { [join(cwd, '.sluice')]: _folder, ...left } = all();
    for (const name of Object.keys(left)) if (name.includes('.sluice')) delete left[name];
    expect(left).toEqual(before);
  });

  it('follows a symbolic link, and leaves it one', async () => {
    const real = write('dot/settings.json', '{}\n');
    mkdirSync(join(cwd, '.gemini'));
    symlinkSync(real, join(cwd, '.gemini/settings.json'));
    await init(options());
    expect(lstatSync(join(cwd, '.gemini/settings.json')).isSymbolicLink()).toBe(true);
    expect(parse(readFileSync(real, 'utf8')).hooks.BeforeTool).toHaveLength(1);
    remove(options());
    expect(readFileSync(real, 'utf8')).toBe('{}\n');
  });

  it('puts a whole file in the place of the one before, with its mode: nobody reads a half of it', async () => {
    const path = write('.gemini/settings.json', '{}\n', 0o666);
    const reader = join(cwd, 'read-meanwhile.json');
    linkSync(path, reader); // the file that somebody has open
    await init(options());
    expect(readFileSync(reader, 'utf8')).toBe('{}\n');
    expect(parse(readFileSync(path, 'utf8')).hooks.BeforeTool).toHaveLength(1);
    expect(statSync(path).mode & 0o777).toBe(0o666);
  });

  it('writes for the user where the agents look, and shows a plan without a trace', async () => {
    const env = { CODEX_HOME: join(home, 'codex') };
    const plan = await init(options({ env, user: true, dryRun: true }));
    expect(all()).toEqual({});
    const done = await init(options({ env, user: true }));
    expect(done).toEqual(plan);
    expect(done.map(({ file }) => file)).toContain(join(home, 'codex/hooks.json'));
    expect(existsSync(join(home, '.claude/settings.json'))).toBe(true);
    expect(readdirSync(cwd)).toEqual([]);
    remove(options({ env, user: true }));
    expect(all()).toEqual({});
  });

  it('finds the agents of the machine and of the repository, and says so if there is none', async () => {
    await expect(init(options({ agent: [] }))).rejects.toThrow('no agent is found here');
    await expect(init(options({ agent: ['curser'] }))).rejects.toThrow('no agent "curser"');
    mkdirSync(join(cwd, '.codex'));
    const bin = join(home, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'gemini'), '#!/bin/sh\necho 0.61.0\n', { mode: 0o755 });
    const done = await init(options({ agent: [], env: { PATH: bin } }));
    expect(done.flatMap(({ agent }) => agent ?? [])).toEqual(['codex', 'gemini']);
  });

  it('gives any settings back as they were', async () => {
    const key = fc.constantFrom('model', 'hooks2', 'a b', 'ü');
    const json = fc.dictionary(key, fc.jsonValue());
    const hooks = fc.dictionary(fc.constantFrom('BeforeTool', 'Other'), fc.array(fc.jsonValue()));
    const shape = fc.record({ json, hooks: fc.option(hooks), indent: fc.constantFrom(0, 2, '\t') });
    const ends = fc.constantFrom('', '\n', '\r\n\r\n', '// end');
    await fc.assert(
      fc.asyncProperty(shape, ends, async ({ json: other, hooks: some, indent }, end) => {
        const text =
          JSON.stringify({ ...other, ...(some && { hooks: some }) }, undefined, indent) + end;
        const path = write('.gemini/settings.json', text);
        await init(options({ agent: ['gemini'] }));
        const { hooks: after, ...rest } = parse(readFileSync(path, 'utf8'));
        expect(rest).toEqual(parse(JSON.stringify(other)));
        expect(after.BeforeTool.slice(0, -1)).toEqual(
          parse(JSON.stringify(some?.BeforeTool ?? [])),
        );
        remove(options());
        expect(readFileSync(path, 'utf8')).toBe(text);
      }),
      { numRuns: 40 },
    );
  });
});

describe('sluice guard doctor', () => {
  it('says what is enforced, observed and absent', async () => {
    await init(options({ agent: ['claude'] }));
    const { states, problems, notes } = await examine(options());
    const of = (agent: string) => states.flatMap((one) => (one.agent === agent ? [one.state] : []));
    expect(of('claude')).toEqual(['observed', 'enforced', 'enforced', 'enforced', 'observed']);
    expect(of('codex')).toEqual(Array(5).fill('absent'));
    expect(problems).toContain('the guard does not answer: start it by `sluice guard run`');
    expect(notes).toEqual(['Claude Code is not installed here']);
  });

  it('names hooks that are gone or changed, switches, other hooks and another release', async () => {
    const bin = join(home, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'claude'), '#!/bin/sh\necho "9.1.0 (Claude Code)"\n', { mode: 0o755 });
    write('.claude/settings.json', '{ "disableAllHooks": true }');
    const path = write(claude, others);
    await init(options({ agent: ['claude'] }));
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.replace('claude UserPromptSubmit ', 'claude Nothing '));
    const { states, problems, notes } = await examine(options({ env: { PATH: `${bin}:/bin` } }));
    expect(new Set(states.map(({ state }) => state))).toEqual(new Set(['absent']));
    expect(problems.join('\n')).toMatch(/hook UserPromptSubmit .* gone or changed/);
    expect(problems.join('\n')).toMatch(/"disableAllHooks" of .*settings\.json switches hooks off/);
    expect(notes.join('\n')).toMatch(/other hooks of PreToolUse/);
    expect(notes.join('\n')).toMatch(/Claude Code is 9\.1\.0; its hooks were read in 2\.1\.332/);
  });
});

describe('a running guard', () => {
  // Issue 40, section 7: an agent that edits its hook settings is told of at once.
  it('tells of hooks that an agent takes away, once, and of its own files', async () => {
    await init(options());
    const clock = virtualClock();
    const told: string[] = [];
    const folder = join(cwd, '.sluice/guard');
    using _watch = watchSettings({ folder, clock, tell: (problem) => void told.push(problem) });
    await clock.advance(10_000);
    expect(told).toEqual([]);
    const path = join(cwd, '.codex/hooks.json');
    cpSync(path, join(home, 'kept.json'));
    writeFileSync(path, '{}');
    await clock.advance(1_000);
    await clock.advance(1_000);
    expect(told).toEqual([
      `Codex: the hook SessionStart of ${path} is gone or changed, and 4 more`,
    ]);
    cpSync(join(home, 'kept.json'), path);
    await clock.advance(1_000);
    writeFileSync(join(cwd, '.sluice/policies.yaml'), '[]');
    rmSync(join(cwd, '.opencode/plugin/sluice-guard.js'));
    await clock.advance(1_000);
    expect(told.slice(1)).toEqual([
      `${join(cwd, '.sluice/policies.yaml')} was changed`,
      `OpenCode: ${join(cwd, '.opencode/plugin/sluice-guard.js')} is gone, and 4 more`,
    ]);
  });
});
