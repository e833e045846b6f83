import { fieldsOf } from 'sluice-kernel/internal';
import { fencesOf } from './chunks.js';
import { sectionsOf, textOf } from './settings.js';

type TableMode = 'off' | 'bullets' | 'code';

/** The channels whose clients show another form of a table than a block of code. */
const usualModes: Readonly<Record<string, TableMode>> = {
  signal: 'bullets',
  whatsapp: 'bullets',
  mattermost: 'off',
};

/** `resolveMarkdownTableMode`: how a channel shows the tables of a text. */
export function resolveMarkdownTableMode(params: {
  readonly cfg?: unknown;
  readonly channel?: unknown;
  readonly accountId?: unknown;
}): TableMode {
  const { cfg, channel, accountId } = params;
  const set = sectionsOf(cfg, channel, accountId).map(
    (section) => fieldsOf(section['markdown'])['tables'],
  );
  return set.find(isMode) ?? usualModes[textOf(channel)?.toLowerCase() ?? ''] ?? 'code';
}

function isMode(value: unknown): value is TableMode {
  return value === 'off' || value === 'bullets' || value === 'code';
}

/** `convertMarkdownTables`: writes the tables of a text as blocks of code, or as lists. */
export function convertMarkdownTables(markdown: string, mode: unknown): string {
  if (mode !== 'bullets' && mode !== 'code') return markdown;
  if (!markdown.includes('|')) return markdown;
  const fences = fencesOf(markdown);
  const lines = markdown.split('\n');
  const said: string[] = [];
  let start = 0;
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? '';
    const inCode = fences.some((fence) => start >= fence.start && start <= fence.end);
    const table = inCode ? [] : tableAt(lines, at);
    said.push(...(table.length === 0 ? [line] : shown(table, mode)));
    for (const end = at + (table.length === 0 ? 1 : table.length + 1); at < end; at += 1)
      start += (lines[at] ?? '').length + 1;
  }
  return said.join('\n');
}

/** The rows of the table that begins at a line, its head first; none if no table begins there. */
function tableAt(lines: readonly string[], at: number): readonly (readonly string[])[] {
  const head = lines[at] ?? '';
  const rule = lines[at + 1] ?? '';
  const isRule = rule.includes('-') && cellsOf(rule).every((cell) => /^:?-+:?$/.test(cell));
  if (!head.includes('|') || !isRule || cellsOf(head).length !== cellsOf(rule).length) return [];
  const rows = [cellsOf(head)];
  for (let next = at + 2; (lines[next] ?? '').includes('|'); next += 1)
    rows.push(cellsOf(lines[next] ?? ''));
  return rows;
}

function cellsOf(line: string): readonly string[] {
  return line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll(String.raw`\|`, '|'));
}

function shown(table: readonly (readonly string[])[], mode: Exclude<TableMode, 'off'>) {
  const [head = [], ...rows] = table;
  if (mode === 'code') {
    const widths = head.map((_, column) =>
      Math.max(3, ...table.map((row) => (row[column] ?? '').length)),
    );
    const row = (cells: readonly string[]): string =>
      `|${widths.map((width, column) => ` ${(cells[column] ?? '').padEnd(width)} |`).join('')}`;
    const rule = `|${widths.map((width) => ` ${'-'.repeat(width)} |`).join('')}`;
    return ['```', row(head), rule, ...rows.map(row), '```'];
  }
  return rows.flatMap(([label = '', ...values]) => [
    ...(label === '' ? [] : [`**${label}**`]),
    ...values.flatMap((value, at) =>
      value === '' ? [] : [`• ${head[at + 1] || `Column ${at + 1}`}: ${value}`],
    ),
    '',
  ]);
}
