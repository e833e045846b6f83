import fs from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import type Driver from 'libsql';
import { vi } from 'vitest';

/** Counts the statements that run on databases, with the beginnings and ends of transactions, and the looks at files. */
export function fileCalls(): Disposable & {
  counts(): { readonly statements: number; readonly stats: number };
} {
  const Database = createRequire(import.meta.url)('libsql') as typeof Driver; // the same CommonJS module as the journal's
  const { prototype } = Database;
  const one = new Database(':memory:');
  const statement: Driver.Statement = Object.getPrototypeOf(one.prepare('SELECT 1'));
  one.close();
  const onDatabase = [
    vi.spyOn(prototype, 'exec'),
    vi.spyOn(statement, 'all'),
    vi.spyOn(statement, 'run'),
  ];
  const onFiles = [vi.spyOn(fs, 'statSync'), vi.spyOn(fs, 'lstatSync')];
  syncBuiltinESMExports();
  const sum = (spies: readonly { readonly mock: { readonly calls: readonly unknown[] } }[]) =>
    spies.reduce((calls, { mock }) => calls + mock.calls.length, 0);
  return {
    counts: () => ({ statements: sum(onDatabase), stats: sum(onFiles) }),
    [Symbol.dispose]: () => {
      for (const spy of [...onDatabase, ...onFiles]) spy.mockRestore();
      syncBuiltinESMExports();
    },
  };
}
