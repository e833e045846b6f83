import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { consoleInput } from '../../../src/cli/run/console-input.js';
import type { HostHealth } from '../../../src/host/index.js';

function console(leaving: readonly string[], turns = 0) {
  const said: string[] = [];
  let running = turns;
  const stderr = { lines: (lines: readonly string[]) => void said.push(...lines) };
  const view = { interrupted: ['stopped'], leaving };
  const host = {
    abortTurns: () => {
      const stopped = running;
      running = 0;
      return stopped;
    },
    health: () => ({ accounts: [] as HostHealth['accounts'] }) as unknown as HostHealth, // it is asked for no more
  };
  const shell = { stdin: Readable.from(['one\ntwo\n']), stderr } as unknown as Parameters<
    typeof consoleInput
  >[0]; // of an output, lines are written
  return { said, ...consoleInput(shell, view, () => host) };
}

describe('Ctrl-C at the console', () => {
  it('B4: at a terminal ends nothing at first, since a line may be half typed; once more it ends', async () => {
    const { interrupted, lines, said } = console(['once more ends']);
    expect(interrupted()).toBe(true);
    expect(said).toEqual(['once more ends']);
    const typed = lines[Symbol.asyncIterator]();
    await typed.next();
    await typed.next(); // something was said after it: it begins anew
    expect(interrupted()).toBe(true);
    expect(interrupted()).toBe(false);
  });

  it('B4: ends at once where nobody types', () => {
    expect(console([]).interrupted()).toBe(false);
  });

  it('B4: stops an answer first, and the next one ends', () => {
    const { interrupted, said } = console(['once more ends'], 1);
    expect(interrupted()).toBe(true);
    expect(said).toEqual(['stopped']);
    expect(interrupted()).toBe(false);
  });
});
