import { openSqlite } from '../../src/journal/index.js';
import { sessionsTable } from '../../src/journal/rows/journal-rows.js';
import { headSum } from '../../src/journal/rows/row-sums.js';

/** Makes a journal whose updates and sends have no slots one of version 3. @returns the statements that it is made of then. */
export function makeVersion3(path: string): readonly string[] {
  using database = openSqlite(path);
  for (const row of database.prepare('SELECT * FROM sessions').all())
    database
      .prepare('UPDATE sessions SET sum = ? WHERE seq = ?')
      .run(headSum(sessionsTable, { ...row, slot: null }), row['seq'] ?? null);
  for (const table of ['updates', 'sends', 'sessions'])
    database.exec(`ALTER TABLE ${table} DROP COLUMN slot`);
  database.exec('PRAGMA user_version = 3');
  const made = database.prepare(
    `SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' AND name <> 'writer'`,
  ); // a host makes that one besides
  return made.all().map(({ sql }) => String(sql));
}
