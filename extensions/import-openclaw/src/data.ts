import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** Reads a table of this package. */
export function dataOf<Table>(name: 'paths' | 'tools' | 'services'): Table {
  const text = readFileSync(new URL(`../data/${name}.yaml`, import.meta.url), 'utf8');
  return parse(text) as Table; // a file of this package: a test checks its shape
}
