import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '../../extensions/postgres/src/index.js';
import { readPostgresJournal } from '../../src/postgres/postgres-journal.js';
import { describeKilledHosts } from '../crash/killed-hosts.js';
import { newDatabase, projectFolder } from './databases.js';

// each host takes the journal over from one that was killed, when its lease of 500 ms has ended (durability §11.2)
describeKilledHosts('PostgreSQL', {
  rounds: Math.max(2, Number(process.env['CRASH_ROUNDS'] ?? 20)),
  hasBound: false,
  slowness: 4,
  make: async () => {
    const name = await newDatabase();
    const cwd = projectFolder();
    const config = { journal: { url: { env: 'DATABASE_URL' } } };
    writeFileSync(join(cwd, 'sluice.config.json'), JSON.stringify(config));
    return {
      name,
      place: { args: [], cwd, env: { DATABASE_URL: name } },
      read: () => readPostgresJournal(connect(name)),
      [Symbol.asyncDispose]: async () => undefined,
    };
  },
});
