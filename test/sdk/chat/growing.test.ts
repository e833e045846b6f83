import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { growingContent } from '../../../src/sdk/chat/stream/stream-view.js';
import { GrowingSource, sourceWindow } from '../../../src/sdk/chat/text/growing-source.js';
import { inline } from '../../../src/sdk/chat/text/inline.js';
import { fromMarkdown } from '../../../src/sdk/chat/text/markdown.js';
import { fromMarkdown as fromMarkdownBefore } from './markdown-before.js';
import { readsOf } from './reads-of.js';

/** Pieces of which markup is made, and what gets into its way. */
const piece = fc.constantFrom(
  ...['a', 'b ', '1', '.', ' ', '\n', '漢', '𝐀', '😂', '\r', '\u2028', '\ud835', '\udc00'],
  ...[
    '*',
    '**',
    '***',
    '*a',
    'x*',
    '* ',
    '_',
    '__',
    '____',
    '_a',
    'a_',
    '~',
    '~~',
    '~~~',
    '|',
    '||',
  ],
  ...[
    '`',
    '``',
    '```',
    '```js',
    '#',
    '# ',
    '> ',
    '- ',
    '\\',
    '[',
    '[a](',
    '](https://x.y)',
    '(',
    ')',
  ],
);

/** Parts that make the Markdown of an agent hard to read. */
const hard = ['*', '_', '`', '~', '|', '[', '**a', '*a', '_a ', '__a ', '*_', '`a``', '[a](', '\\'];

describe('L1: Markdown that is hard to read', () => {
  it('L1: is read as it was before it was read in linear time (P)', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const source = pieces.join('');
        expect(fromMarkdown(source)).toEqual(fromMarkdownBefore(source));
      }),
      { numRuns: 5_000 },
    );
  });

  it.each(['**', '*', '__', '_', '~~', '||', '`'])(
    'L1: %s closes over 4,000 units and not over 4,002, as before',
    (sign) => {
      for (const length of [3_999, 4_000, 4_002]) {
        const source = `${sign}${'x'.repeat(length)}${sign} and ${sign}y${sign}`;
        expect(fromMarkdown(source)).toEqual(fromMarkdownBefore(source));
      }
    },
  );

  it.each(hard)(
    'L1: each character of a line of %s is looked at a few times, however long it is',
    (one) => {
      for (const length of [1_000, 4_000, 16_000, 64_000]) {
        const line = one.repeat(length / one.length);
        const reads = readsOf(() => inline(line));
        expect(reads).toBeGreaterThan(line.length * 0.9);
        expect(reads).toBeLessThan(line.length * 20);
      }
    },
  );

  // whoever goes back in half a million characters is not done within the hour
  it.each([
    ...hard.map((one) => one.repeat(500_000 / one.length)),
    `# ${'#'.repeat(500_000)}a`,
    `# ${' #'.repeat(250_000)} a`,
    `\`\`\`${' '.repeat(500_000)}\``,
    `${'~'.repeat(500_000)}\``,
    `-${' '.repeat(500_000)}a\rb`,
    `\` ${'a'.repeat(3_990)}\``.repeat(125),
    '```\n'.repeat(125_000),
    '> a\n'.repeat(125_000),
  ])(
    'L1: half a million characters are read without going back (%#)',
    (source) => {
      expect(fromMarkdown(source).text.length).toBeGreaterThan(0);
    },
    300_000,
  );
});

describe('L1: a step of a preview', () => {
  it('L1: reads no more than twice its window, however much was said', () => {
    const growing = new GrowingSource();
    const opening = '```js\n';
    let content = opening;
    for (let step = 0; step < 2_000; step++) {
      content += `line ${step} ${'x'.repeat(step % 100)}\n`;
      const { source } = growing.tail(content);
      expect(source.length).toBeLessThanOrEqual(2 * sourceWindow + opening.length);
      expect(content.endsWith(source.slice(opening.length))).toBe(true);
    }
    expect(content.length).toBeGreaterThan(10 * sourceWindow);
  });

  it('L1: shows what it would show of the whole (P)', () => {
    const line = fc.constantFrom('a **b** c', '```', '```js', '~~~', '- x', '', '# Title', '`x`');
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 12 }), (block) => {
        const growing = new GrowingSource();
        let content = '';
        for (let at = 0; content.length < 5 * sourceWindow; at++) {
          // each line is long enough for its markup to be out of sight when it is cut off
          content += `${block.map((one) => `${one}\n${'word '.repeat(40)}`).join('\n')}\n`;
          if (at % 3 === 0) growing.tail(content);
        }
        const { source, isCut } = growing.tail(content);
        expect(isCut).toBe(true);
        const all = growingContent(fromMarkdown(content));
        const shown = growingContent(fromMarkdown(source), isCut);
        expect(shown.text).toBe(all.text);
        expect(shown).toEqual(all);
      }),
      { numRuns: 100 },
    );
  });

  it('L1: begins with a whole character where one line is longer than the window', () => {
    const { source } = new GrowingSource().tail(`${'😂'.repeat(2 * sourceWindow)}x`);
    expect(Buffer.from(source).toString() === source).toBe(true);
    expect(source.length).toBeLessThanOrEqual(2 * sourceWindow);
  });

  it('L1: another text is shown from its own beginning', () => {
    const growing = new GrowingSource();
    growing.tail('a line\n'.repeat(sourceWindow));
    expect(growing.tail('another').source).toBe('another');
    expect(growing.tail('b line\n'.repeat(sourceWindow)).isCut).toBe(true);
  });
});
