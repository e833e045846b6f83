import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A folder that is gone with its test. */
export interface TemporaryFolder extends Disposable {
  readonly path: string;
  /** Writes a file, with the folders that it lies in. Returns its path. */
  write(name: string, text: string): string;
}

/** Makes a folder with some files in it. */
export function temporaryFolder(files: Readonly<Record<string, string>> = {}): TemporaryFolder {
  const path = mkdtempSync(join(tmpdir(), 'sluice-test-'));
  const write = (name: string, text: string): string => {
    const file = join(path, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  };
  for (const [name, text] of Object.entries(files)) write(name, text);
  return {
    path,
    write,
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}
