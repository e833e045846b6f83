import type { PluginReport } from './plugin-report.js';
import { nameOf, sdkTexts, verdictTexts } from './plugin-view.js';

/** A report as a page of Markdown: every verdict, every divergence and every finding. */
export function pluginMarkdown(report: PluginReport): string {
  const { error, capabilities, divergences, diagnostics } = report;
  const found = [
    ...(error === undefined ? [] : [`${error.code}: ${error.message} ${error.hint}`]),
    ...diagnostics.map(({ level, message }) => `${level}: ${message}`),
  ];
  const rows = capabilities.map(({ kind, name, verdict, because, differs, place }) => {
    const become = report.hooks.find(({ hook }) => kind === 'hook' && hook === name)?.becomes ?? [];
    const parts = new Set(become.map((part) => `${part.family}, ${part.class}`));
    const cells = [
      kind,
      name,
      verdict.replace('-', ' '),
      [...parts].join('; '),
      [...because, ...differs, ...(place === undefined ? [] : [`(${place})`])].join(' '),
    ];
    return `| ${cells.map(plain).join(' | ')} |`;
  });
  const list = (title: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : ['', `## ${title}`, '', ...lines.map((line) => `- ${plain(line)}`)];
  return [
    `# ${plain(nameOf(report))} ${verdictTexts[report.verdict]}`,
    ...sdkTexts(report).flatMap((text) => ['', plain(text)]),
    ...(rows.length === 0
      ? []
      : ['', '| kind | name | verdict | becomes | why |', '|---|---|---|---|---|', ...rows]),
    ...list('Found', found),
    ...list(
      'What differs from OpenClaw',
      divergences.map(({ name, what, reason }) => `**${name}**: ${what} ${reason}`),
    ),
    '',
  ].join('\n');
}

/** A text in a cell or an item: on one line, without the signs that begin HTML or end a cell. */
function plain(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[|<>]/g, (sign) => `\\${sign}`);
}
