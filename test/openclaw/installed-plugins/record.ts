import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Found } from './child/found.js';
import { corpus } from './corpus.js';
import type { Record62 } from './table.js';

const file = fileURLToPath(new URL('./found.json', import.meta.url));

/** The results that the page shows. */
export function recorded(): Record62 {
  return JSON.parse(readFileSync(file, 'utf8')) as Record62; // written by `record`
}

/** Puts a new result in the place of an old one, in the order of the corpus. */
export function record(id: string, found: Found): void {
  const all: Record62 = { ...recorded(), [id]: found };
  const rows = corpus.flatMap((plugin) => {
    const one = all[plugin.id];
    return one === undefined ? [] : [[plugin.id, one] as const];
  });
  writeFileSync(file, `${JSON.stringify(Object.fromEntries(rows), null, 2)}\n`);
}
