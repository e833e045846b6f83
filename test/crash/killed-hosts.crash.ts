import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readJournal } from '../../src/journal/index.js';
import { describeKilledHosts } from './killed-hosts.js';

describeKilledHosts('a file', {
  rounds: Math.max(2, Number(process.env['CRASH_ROUNDS'] ?? 60)),
  hasBound: true,
  make: async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-crash-'));
    const name = join(folder, 'sluice.db');
    return {
      name,
      place: { args: ['--journal', name] },
      read: () => readJournal(name),
      [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true, force: true }),
    };
  },
});
