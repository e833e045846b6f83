import { describe, expect, it } from 'vitest';
import {
  furtherRows,
  generatedRows,
  type Improvement,
  type TestRef,
} from '../parity/ownership/improvements.js';
import { decisions, mappedParts, retiredParts } from '../parity/ownership/mapping.js';
import { expectFresh, heading, table } from '../support/generated.js';
import { testTitles } from '../support/test-titles.js';

const generated: readonly (readonly [string, Improvement])[] = Object.entries(generatedRows);
const rows = [...mappedParts, ...generated.map(([, row]) => row), ...furtherRows];

describe('spec/pilots/thread-ownership.md', () => {
  it.each(rows)('$legacy has a test, which is there', ({ test: { file, title } }) => {
    expect(testTitles(file)).toContain(title);
  });

  it('shows the mapping, what differs and what is retired', () => {
    const about =
      'Each part of the OpenClaw plugin `thread-ownership` (2026.3.13) has its counterpart in `extensions/thread-ownership`, for seed\n' +
      '004\'s "First pilot focus". `npm run test:parity` plays 1,500 generated sequences of messages, pauses and answers of the\n' +
      'service to the unmodified plugin on the bridge and to the extension, side by side: the same sends, cancels and\n' +
      'requests, but for the rows below. It fails on a difference without a row, and on a row that nothing needed.';
    const document = [
      heading('Pilot: thread-ownership', about, 'test/spec/thread-ownership.test.ts').trimEnd(),
      `## Legacy to canonical\n\n${table(
        ['plugin', 'extension', 'test'],
        mappedParts.map(({ legacy, canonical, test }) => [legacy, canonical, shown(test)]),
      )}`,
      `## What differs in a sequence of messages\n\nBy the names that the comparison counts.\n\n${table(
        ['row', 'plugin', 'extension', 'test'],
        generated.map(([name, row]) => [`\`${name}\``, row.legacy, row.native, shown(row.test)]),
      )}`,
      `## What differs beyond that\n\n${table(
        ['plugin', 'extension', 'test'],
        furtherRows.map(({ legacy, native, test }) => [legacy, native, shown(test)]),
      )}`,
      `## Decisions\n\n${table(['what', 'why'], decisions)}`,
      `## Retired\n\n${table(['what', 'why'], retiredParts)}`,
    ].join('\n\n');
    expectFresh('spec/pilots/thread-ownership.md', `${document}\n`);
  });
});

function shown({ file, title }: TestRef): string {
  return `${file.split('/').at(-1)}: ${title}`;
}
