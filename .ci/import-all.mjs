// Imports every entry point of the installed packages, as their exports maps name them.
import { readdirSync, readFileSync } from 'node:fs';

const modules = new URL('./node_modules/', import.meta.url);
for (const name of readdirSync(modules).filter((one) => /^sluice(-|$)/.test(one))) {
  const { exports } = JSON.parse(readFileSync(new URL(`${name}/package.json`, modules), 'utf8'));
  for (const entry of Object.keys(exports)) {
    if (entry.endsWith('.json')) continue;
    const loaded = await import(`${name}${entry.slice(1)}`);
    console.log(`${name}${entry.slice(1)}: ${Object.keys(loaded).length} values`);
  }
}
