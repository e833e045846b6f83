import { describe, expect, it } from 'vitest';
import type { TestRef } from '../parity/ownership/improvements.js';
import { decisions, furtherRows, mappedParts, retiredParts } from '../parity/telegram/mapping.js';
import { telegramRows } from '../parity/telegram/rows.js';
import { expectFresh, heading, table } from '../support/generated.js';
import { testTitles } from '../support/test-titles.js';

describe('spec/pilots/telegram.md', () => {
  it.each([...mappedParts, ...furtherRows])('$legacy has a test, which is there', ({ test }) => {
    expect(testTitles(test.file)).toContain(test.title);
  });

  it('shows the mapping, what differs and what is retired', () => {
    const about =
      'Each part of the Telegram path of OpenClaw 2026.3.13 has its counterpart in `extensions/telegram`, for seed 004\'s "First pilot\n' +
      'focus". `npm run test:parity` gives 2,000 generated messages and 300 replies to the package\'s own code (the context of a\n' +
      'message, its mappers, `deliverReplies`) and to this channel, host and bridge: plugins hear the same, but for the rows\n' +
      'below. It fails on a difference without a row, and on a row that nothing needed.';
    const document = [
      heading('Pilot: telegram', about, 'test/spec/telegram.test.ts').trimEnd(),
      `## Legacy to canonical\n\n${table(
        ['legacy', 'canonical', 'test'],
        mappedParts.map(({ legacy, canonical, test }) => [legacy, canonical, shown(test)]),
      )}`,
      `## What differs in what plugins hear\n\nBy the names that the comparison counts.\n\n${table(
        ['row', 'fields', 'why'],
        telegramRows.map(({ name, fields, why }) => [`\`${name}\``, fieldsOf(fields), why]),
      )}`,
      `## What differs beyond that\n\n${table(
        ['legacy', 'here', 'test'],
        furtherRows.map(({ legacy, canonical, test }) => [legacy, canonical, shown(test)]),
      )}`,
      `## Decisions\n\n${table(['what', 'why'], decisions)}`,
      `## Retired\n\n${table(['what', 'why'], retiredParts)}`,
    ].join('\n\n');
    expectFresh('spec/pilots/telegram.md', `${document}\n`);
  });
});

function fieldsOf(fields: Readonly<Partial<Record<string, readonly string[]>>>): string {
  return Object.entries(fields)
    .map(([hook, paths = []]) => `\`${hook}\`: ${paths.map((path) => `\`${path}\``).join(', ')}`)
    .join('; ');
}

function shown({ file, title }: TestRef): string {
  return `${file.split('/').at(-1)}: ${title}`;
}
