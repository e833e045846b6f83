import { machineLine, tablesOf } from './report.mjs';

/** The tables, aligned for a terminal. */
export function asText(figures) {
  const blocks = tablesOf(figures).map(({ title, head, rows }) => {
    const widths = head.map((_, at) => Math.max(...[head, ...rows].map((row) => row[at].length)));
    const line = (row) =>
      row
        .map((cell, at) => (at === 0 ? cell.padEnd(widths[at]) : cell.padStart(widths[at])))
        .join('  ');
    return [title, line(head), ...rows.map(line)].join('\n');
  });
  return [machineLine(figures), ...blocks].join('\n\n');
}

/** The two tables that the README shows: time, and targets. */
export function asMarkdown(figures) {
  const shown = tablesOf(figures).filter(({ title }) =>
    /^(Nanoseconds per dispatch \(|Targets)/.test(title),
  );
  const blocks = shown.map(({ title, head, rows }) => {
    const line = (row) => `| ${row.join(' | ')} |`;
    const rule = `|${head.map((_, at) => (at === 0 ? '---' : '---:')).join('|')}|`;
    return [`**${title}**`, '', line(head), rule, ...rows.map(line)].join('\n');
  });
  return [`${machineLine(figures)}. \`npm run bench\` makes this table.`, ...blocks].join('\n\n');
}
