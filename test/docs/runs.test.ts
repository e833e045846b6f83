import { copyFileSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { policiesOf } from '../../extensions/policies/src/index.js';
import { checkConfig } from '../../src/host/config/check-config.js';
import { surroundingsOf, withSurroundings } from '../../src/sdk/stream/internal.js';
import { loadForTest } from '../../src/testing/index.js';
import { runInMemory } from '../cli/memory-shell.js';
import { readProjectFile, root } from '../support/source-tree.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { commandsOf } from './commands.js';
import { codeBlocks } from './pages.js';

const recording = join(root, 'test/fixtures/claude-stream/thinking-text-tool.jsonl');

const shellLines = ['README.md', ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`)]
  .filter((name) => name.endsWith('.md'))
  .flatMap((page) => codeBlocks(readProjectFile(page), 'sh'))
  .flatMap(({ code }) => code.split('\n'));

/** Runs a line of a page, which begins with its command and perhaps with an `echo` before it, in a folder. */
async function run(line: string, cwd: string, input = 'hello\n') {
  const shown = shellLines.some((shell) => shell.replace(/\s+#.*$/, '') === line);
  expect(shown, `${line} stands in a page`).toBe(true);
  const [, ...args] =
    commandsOf(line)
      .at(-1)
      ?.slice(line.includes('npx ') ? 1 : 0) ?? [];
  return runInMemory(args, input, { cwd });
}

/** A folder with the examples as a reader saves them, and without the config file that stands beside them. */
function savedExamples() {
  const folder = temporaryFolder();
  for (const name of ['shout.ts', 'parrot.ts', 'pigeon.ts'])
    symlinkSync(join(root, 'docs/examples', name), join(folder.path, name)); // a copy would not find `sluice`
  return folder;
}

describe('a command of the pages', () => {
  it.each([
    ['npx sluice run --extension ./shout.ts', 'HELLO'],
    ['echo "hello" | npx sluice run --extension ./parrot.ts', 'hello'],
    ['echo "hello" | npx sluice run --quiet', 'hello'],
    ['npx sluice run --agent replay:example', 'hello'],
    ['npx sluice stages --extension ./shout.ts', 'shout/length'],
  ])('does what its page says: %s', async (line, expected) => {
    using folder = savedExamples();
    const { code, stdout } = await run(line, folder.path);
    expect(code).toBe(0);
    expect(stdout).toContain(expected);
  });

  it('sends the reply with a channel of an extension', async () => {
    const carried = vi.spyOn(console, 'error').mockReturnValue(undefined);
    const line = 'npx sluice run --extension ./pigeon.ts --channel pigeon';
    using folder = savedExamples();
    const { code } = await run(line, folder.path);
    expect(code).toBe(0);
    expect(carried).toHaveBeenCalledWith('the pigeon carries coo');
    carried.mockRestore();
  });

  it('finds the events of a recording in order', async () => {
    using folder = temporaryFolder();
    copyFileSync(recording, join(folder.path, 'session.jsonl'));
    const { code } = await run('npx sluice normalize --check session.jsonl', folder.path);
    expect(code).toBe(0);
  });

  it('runs the plugin of the page about migration as it is', async () => {
    const page = readProjectFile('docs/migrating-from-openclaw.md');
    const [plugin] = codeBlocks(page, 'js');
    using folder = temporaryFolder({
      'acme/openclaw.plugin.json': JSON.stringify({ id: 'acme', configSchema: { type: 'object' } }),
      'acme/index.js': plugin?.code ?? '',
      'acme/package.json': JSON.stringify({ type: 'module' }),
    });
    const checked = await run('sluice check-plugin ./acme', folder.path);
    expect(checked.stdout).toContain('message_sending');
    const { stdout } = await run('sluice run --plugin ./acme', folder.path, 'hello\na secret\n');
    expect(stdout).toContain('hello\n-- Acme');
    expect(stdout).not.toContain('secret\n-- Acme');
  });
});

const blocks = readdirSync(join(root, 'extensions')).flatMap((name) =>
  codeBlocks(readProjectFile(`extensions/${name}/README.md`), 'json').map(({ code }) => ({
    name,
    settings: JSON.parse(code) as Record<string, unknown>,
  })),
);

describe('the settings that an extension shows on its page', () => {
  it.each(blocks)('are accepted: $name', async ({ name, settings }) => {
    if (Array.isArray(settings['extensions']) || 'journal' in settings) {
      const env = { DATABASE_URL: 'postgres://localhost/sluice' };
      const secrets = { env, readSecretFile: () => '' };
      expect(checkConfig(settings, secrets)).toMatchObject({ ok: true });
      return;
    }
    const { default: extension } = await import(join(root, 'extensions', name, 'src/index.js'));
    await using loaded = await loadForTest(extension, { config: settings });
    expect(loaded).toBeDefined();
  });
});

describe('the blocks of the pages', () => {
  it('have a language that a test compiles, runs or reads', () => {
    const pages = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));
    const tags = ['../README.md', '../CONTRIBUTING.md', ...pages].flatMap((page) =>
      [...readProjectFile(join('docs', page)).matchAll(/^```(\S*)[^\n]*\n[\s\S]*?^```$/gm)].map(
        ({ 1: tag }) => tag,
      ),
    );
    expect([...new Set(tags)].toSorted()).toEqual([
      ...['dockerfile', 'ini', 'js', 'json', 'mermaid', 'nginx', 'sh', 'text', 'ts', 'yaml'],
    ]);
  });

  it('show of plain text what an agent is told around a message, to the letter (§15.13)', () => {
    const texts = readdirSync(join(root, 'docs'))
      .filter((name) => name.endsWith('.md') && name !== 'guard.md') // the demo of the guard looks at that one
      .flatMap((page) => [
        ...readProjectFile(join('docs', page)).matchAll(/^```text\n([\s\S]*?)\n```$/gm),
      ]);
    const told = surroundingsOf({
      isGroup: true,
      channelName: 'Friends',
      sender: { id: '42', name: 'Ada', username: 'ada_x' },
      replyTo: {
        sender: { name: 'Bot', isBot: true },
        content: 'Second: call Bob.',
        isQuote: true,
      },
    });
    expect(texts.map(([, text]) => text)).toEqual([withSurroundings('expand on this', told)]);
  });

  it.each(['docs/judgement.md', 'extensions/policies/README.md'])(
    'in YAML are policies that load, in %s',
    async (page) => {
      const blocks = [...readProjectFile(page).matchAll(/^```yaml\n([\s\S]*?)^```$/gm)];
      const texts = blocks.map(({ 1: text = '' }) => ({ file: page, text }));
      expect((await policiesOf(texts)).rules).toHaveLength(blocks.length);
      expect(blocks).not.toEqual([]);
    },
  );
});
