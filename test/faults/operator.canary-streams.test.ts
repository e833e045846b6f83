import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { jsonLines } from '../cli/cli.js';
import { runInMemory } from '../cli/memory-shell.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const pieces = ['Zx9qK-rT7vP', '-mW3nB-y', 'H5cD-kL2sF'];
const token = pieces.join('');
/** The families whose dispatches quote the secret. */
const families: readonly string[] = [
  ...['agent.output.delta', 'agent.tool.calling', 'agent.tool.called', 'agent.completed'],
  ...['agent.llm.output', 'transcript.message.writing', 'transcript.tool-result.persisting'],
  ...['subagent.spawning', 'subagent.spawned', 'subagent.completed'],
  ...['egress.preparing', 'egress.sending', 'egress.sent', 'egress.cancelled'],
];
const extension = fileURLToPath(new URL('fixtures/leaky-streams.mjs', import.meta.url));

/** All that a host with the leaky agent and channel wrote: into its journal, and of it. */
async function run(config: Readonly<Record<string, unknown>>, args: readonly string[]) {
  using folder = temporaryFolder({
    'sluice.config.json': JSON.stringify({
      channels: ['leaky-channel'],
      journal: { path: './sluice.db', ...(config['journal'] as object | undefined) },
      logging: config['logging'] ?? {},
      extensions: [{ path: extension, config: { token: { env: 'CANARY_TOKEN' }, pieces } }],
    }),
  });
  const cwd = folder.path;
  const { stdout, stderr } = await runInMemory(['run', ...args], '', {
    cwd,
    env: { CANARY_TOKEN: token },
  });
  const journal = (...words: string[]) =>
    runInMemory([...words, '--no-config', '--journal', 'sluice.db'], '', { cwd, env: {} });
  const list = await runInMemory(
    ['journal', 'list', '--json', '--journal', 'sluice.db', '--no-config'],
    '',
    { cwd, env: {} },
  );
  const ids = [...list.stdout.matchAll(/"eventId":"([^"]+)"/g)].map(([, id]) => String(id));
  let told = list.stdout + list.stderr;
  for (const id of ids)
    for (const words of [
      ['journal', 'show', id],
      ['explain', id, '--way'],
    ]) {
      const { stdout, stderr } = await journal(...words);
      told += stdout + stderr; // without the config nothing is taken out here: it is not in the journal
    }
  const kept = readdirSync(cwd)
    .filter((name) => name.startsWith('sluice.db'))
    .map((name) => readFileSync(join(cwd, name), 'latin1'))
    .join();
  return { stdout, stderr, told, kept, ids };
}

function partsIn(text: string): string[] {
  return pieces.filter((piece) => text.includes(piece));
}

describe('M3: secrets in what is streamed (fault 49, §20.3, §20.8)', () => {
  it.each([
    ['as it is kept where nothing is said, with the timeline of each message', {}, []],
    [
      'with all payloads, and every log line',
      { journal: { hotPathPayloads: true }, logging: { level: 'debug', format: 'json' } },
      ['--json'],
    ],
  ])('reach no file, no line and no command, whole or in parts: %s', async (_, config, args) => {
    const written = await run(config, args);
    expect(written.ids).toHaveLength(9); // each message, and `/stop`
    for (const phase of ['content', 'final', 'abort'])
      expect(written.stderr.replaceAll('\\', '')).toContain(`a stream sender failed at "${phase}"`);
    for (const [name, text] of Object.entries(written))
      expect.soft({ name, parts: partsIn(String(text)) }).toEqual({ name, parts: [] });
  });

  it('stood in the deltas, tools, subagents, cancels and errors of those messages', async () => {
    const { stdout, stderr, told } = await run({ logging: { format: 'json' } }, ['--json']);
    const quoting = jsonLines<{ event: { family: string } }>(stdout)
      .filter((line) => JSON.stringify(line).includes('[secret]'))
      .map(({ event }) => event.family);
    expect(quoting).toEqual(expect.arrayContaining([...families]));
    expect(told).toContain('[secret]');
    expect(stderr).toContain('a stream sender failed');
    for (const text of ['cannot', 'it is', 'the provider', '529 for', 'no more', 'stopped with'])
      expect(stderr).not.toContain(text); // at this level the log has no text of anybody (M3)
  });
});
