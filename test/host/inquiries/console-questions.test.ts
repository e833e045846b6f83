import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { runInMemory } from '../../cli/memory-shell.js';

const ask = fileURLToPath(new URL('../../../docs/examples/ask.ts', import.meta.url));

it.each([
  ['the number of an option', '1', 'Build 7 goes out.'],
  ['the number of another', '2', 'It waits.'],
  ['the label of an option', 'yes', 'Build 7 goes out.'],
])(
  'a question on the console is numbered, and answered by %s (extensions-that-act §7.4)',
  async (_, line, reply) => {
    const args = ['run', '--quiet', '--no-config', '--extension', ask];
    const { code, stdout, stderr } = await runInMemory(args, `/deploy 7\n${line}\nhello\n`);
    expect([code, stderr]).toEqual([0, '']);
    const lines = stdout.split('\n').filter((text) => text.trim() !== '');
    const question = [
      'Deploy now?',
      expect.stringMatching(/^1\W+Yes$/),
      expect.stringMatching(/^2\W+Not now$/),
    ];
    expect(lines.slice(0, 3)).toEqual(question);
    expect(lines.slice(3).toSorted()).toEqual([reply, 'hello'].toSorted()); // the agent has not seen the answer
  },
);
