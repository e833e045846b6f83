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

const accountsOf = (...channels: readonly string[]): readonly string[] =>
  channels.flatMap((one) => [`channels.${one}`, `channels.${one}.accounts.*`]);

/** The places that a word at the head of a pattern stands for. */
const places: Readonly<Record<string, readonly string[]>> = {
  ACCOUNT: accountsOf('telegram', 'slack'),
  TELEGRAM: accountsOf('telegram'),
  SLACK: accountsOf('slack'),
  AGENT: ['agents.defaults', 'agents.list.*'],
  TOOLS: ['tools', 'agents.list.*.tools'],
};

/** The rows of `data/paths.yaml`, with their patterns cut at the dots. */
const rows = dataOf<readonly Row[]>('paths').map((row) => ({
  row,
  patterns: row.paths.flatMap((path) => {
    const [head = '', ...rest] = path.split('.');
    return (places[head] ?? [head]).map((place) => [...place.split('.'), ...rest]);
  }),
}));

/** Finds the row of a path. A list without an item has the row of its items. */
export function rowOf(path: Path, value?: unknown): Row | undefined {
  const found = (at: Path) =>
    rows.findIndex(({ patterns }) => patterns.some((pattern) => fits(pattern, at)));
  const isEmpty = Array.isArray(value) && value.length === 0;
  const at = [found(path), isEmpty ? found([...path, 0]) : -1].filter((one) => one >= 0);
  return rows[Math.min(...at)]?.row;
}

function fits(pattern: readonly string[], path: Path): boolean {
  const isOpen = pattern.at(-1) === '**';
  const keys = isOpen ? pattern.slice(0, -1) : pattern;
  return (
    (isOpen ? path.length >= keys.length : path.length === keys.length) &&
    keys.every((key, at) => key === '*' || key === String(path[at]))
  );
}
