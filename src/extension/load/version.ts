import { readFileSync } from 'node:fs';

/**
 * The version in package.json: two folders up from here, in `src` as in `dist`.
 *
 * @example
 * sluiceVersion(); // '0.1.0'
 */
export function sluiceVersion(): string {
  const file = new URL('../../../package.json', import.meta.url);
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string }; // our own file
  return version;
}
