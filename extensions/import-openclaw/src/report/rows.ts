import { dataOf } from '../data.js';
import type { Path } from '../source/node.js';

/** The things that can become of a path. */
export type Verdict = 'converted' | 'converted with a difference' | 'not supported' | 'not needed';

/** The verdict on the paths that some patterns name. */
export interface Row {
  readonly paths: readonly string[];
  readonly is: Verdict;
  /** The difference, or what to do. */
  readonly text?: string;
  /** An import ends at its paths until they are accepted. A list has the values that restrict nothing. */
  readonly restricts?: true | 'by its name' | readonly unknown[];
}

const places = ['telegram', 'slack'].flatMap((channel) => [
  `channels.${channel}`,
  `channels.${channel}.accounts.*`,
]);

/** The rows of `data/paths.yaml`, with their patterns cut at the dots. */
const rows = dataOf<readonly Row[]>('paths').map((row) => ({
  row,
  patterns: row.paths
    .flatMap((path) => (path.startsWith('ACCOUNT') ? places.map((at) => at + path.slice(7)) : path))
    .map((path) => path.split('.')),
}));

/** Finds the row of a path. */
export function rowOf(path: Path): Row | undefined {
  return rows.find(({ patterns }) => patterns.some((pattern) => fits(pattern, path)))?.row;
}

function fits(pattern: readonly string[], path: Path): boolean {
  const isOpen = pattern.at(-1) === '**';
  const keys = isOpen ? pattern.slice(0, -1) : pattern;
  return (
    (isOpen ? path.length >= keys.length : path.length === keys.length) &&
    keys.every((key, at) => key === '*' || key === String(path[at]))
  );
}
