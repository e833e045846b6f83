import { spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { TerminalScreen } from '../../../src/sdk/channel/index.js';
import { cliProgram } from '../../support/compiled.js';
import { emulatedTerminal } from '../../support/emulated-terminal.js';
import { fixture } from '../cli.js';
import { runInMemory } from '../memory-shell.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const recording = 'test/fixtures/claude-stream/thinking-text-tool.jsonl';

/** Runs a host whose stdout is an emulated terminal; its input is a pipe, which shows nothing there. */
async function onTerminal(args: readonly string[], input: string) {
  const terminal = emulatedTerminal(60, 20);
  const { code } = await runInMemory(['run', '--quiet', ...args], input, {
    screen: new TerminalScreen(terminal),
  });
  return {
    code,
    rows: terminal.rows(),
    redraws: terminal.written.filter((text) => text.includes('\u001b7')).length,
  };
}

describe('sluice run on a terminal', () => {
  it('shows replies while they grow, and leaves each of them there once', async () => {
    const { code, rows, redraws } = await onTerminal(['--agent', `replay:${recording}`], 'go\n');
    expect({ code, rows }).toEqual({ code: 0, rows: ['Let me look.', 'It says hello.'] });
    expect(redraws).toBeGreaterThan(0);
  });

  it('shows thoughts while they grow with --reasoning stream, and nothing of them without', async () => {
    const args = ['--agent', `replay:${recording}`, '--reasoning', 'stream'];
    const { rows } = await onTerminal(args, 'go\n');
    expect(rows).toEqual([
      'Reasoning:',
      '_I should read it first, then answer._',
      'Let me look.',
      'It says hello.',
    ]);
  });

  it('answers with the echo agent, each line once and in order', async () => {
    const { rows } = await onTerminal([], 'one two three\nand four\n');
    expect(rows).toEqual(['one two three', 'and four']);
  });

  it('redraws nothing where an extension has to see the whole text first (§14.7)', async () => {
    const args = ['--extension', fixture('shout.ts'), '--agent', `replay:${recording}`];
    const { rows, redraws } = await onTerminal(args, 'go\n');
    expect(rows).toEqual(['LET ME LOOK.', 'IT SAYS HELLO.']);
    expect(redraws).toBe(0);
  });
});

const hasScript = spawnSync('script', ['--version']).status === 0;

it.skipIf(!hasScript)(
  'a real terminal, typed into: the reply stands once under its question',
  async () => {
    const args = [cliProgram, 'run', '--quiet', '--agent', `replay:${recording}`];
    const words = [process.execPath, ...args, '--reasoning', 'stream'];
    const command = words.map((word) => `'${word}'`).join(' '); // a folder's name may have spaces
    const child = spawn('script', ['-qfec', command, '/dev/null'], {
      cwd: root,
      env: { PATH: process.env['PATH'], TERM: 'xterm-256color', NO_COLOR: '1' },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const terminal = emulatedTerminal(80, 24);
    let shown = Promise.resolve();
    let all = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      all += text;
      shown = shown.then(() => terminal.type(text));
      if (all.includes('It says hello.') && !child.stdin.writableEnded) child.stdin.end('\u0004');
    });
    child.stdin.write('what does it say?\n');
    const code = await new Promise((resolve) => child.once('close', resolve));
    await shown;
    expect(code).toBe(0);
    expect(all).toContain('\u001b7'); // it was redrawn
    const rows = terminal.rows().map((row) => row.replace(/\^D.*/, ''));
    expect(rows.filter((row) => row !== '')).toEqual([
      'what does it say?',
      'Reasoning:',
      '_I should read it first, then answer._',
      'Let me look.',
      'It says hello.',
    ]);
  },
);
