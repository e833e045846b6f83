import type { Imported } from '../import-openclaw.js';
import type { Verdict } from './rows.js';

const verdicts: readonly Verdict[] = [
  'not supported',
  'converted with a difference',
  'converted',
  'not needed',
];

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

/** The report of an import as a page. It holds no value of the config. */
export function reportText({
  findings,
  moved,
  broken,
  variables,
  packages,
}: Omit<Imported, 'status'>): string {
  const table = (head: string, entries: readonly (readonly [string, string])[]): string =>
    [
      `| ${head} | |`,
      '|---|---|',
      ...entries.map(([one, text]) => `| \`${cell(one)}\` | ${cell(text)} |`),
    ].join('\n');
  const sections = verdicts.flatMap((verdict) => {
    const of = findings.filter((one) => one.verdict === verdict);
    return of.length === 0
      ? []
      : [
          `## ${verdict[0]?.toUpperCase()}${verdict.slice(1)}`,
          table(
            'path',
            of.map(({ path, text }) => [path, text]),
          ),
        ];
  });
  return `${[
    '# Import from OpenClaw',
    `\`npm install ${packages.join(' ')}\` installs what the host needs. \`npx sluice doctor\` checks it.`,
    ...(Object.keys(variables).length > 0
      ? [
          '## Secrets',
          'No secret was written. Set these variables where the host is started.',
          table('path', Object.entries(variables)),
        ]
      : []),
    ...(broken.length > 0 ? ['## Not read', broken.map((one) => `- ${cell(one)}`).join('\n')] : []),
    ...sections,
    ...(Object.keys(moved).length > 0 ? ['## Files', table('file', Object.entries(moved))] : []),
  ].join('\n\n')}\n`;
}
