// Imports every entry point of the installed package, as its exports map names them.
import { readFileSync } from 'node:fs';

const path = new URL('./node_modules/sluice/package.json', import.meta.url);
const { exports } = JSON.parse(readFileSync(path, 'utf8'));
for (const entry of Object.keys(exports)) {
  if (entry.endsWith('.json')) continue;
  const name = `sluice${entry.slice(1)}`;
  const loaded = await import(name);
  console.log(`${name}: ${Object.keys(loaded).length} values`);
}
