import { vi } from 'vitest';
import type { ownCommand } from '../../../../src/cli/inspect/own-command.js';
import { jsonLines } from '../../../cli/cli.js';
import { runInMemory } from '../../../cli/memory-shell.js';

/**
 * Takes the place of the process in which a plugin is described: the same command runs in this process, without the trap. The
 * tests of the closed process itself (closed-plugin.test.ts) start a real one.
 */
export const describedHere = {
  ownCommand: vi.fn<typeof ownCommand>(async (args, { cwd }, input, { hear } = {}) => {
    const { stdout, stderr } = await runInMemory([...args, '--json'], input, { cwd });
    if (stderr !== '') hear?.(stderr);
    return { lines: jsonLines<Readonly<Record<string, unknown>>>(stdout), notes: [] };
  }),
};
