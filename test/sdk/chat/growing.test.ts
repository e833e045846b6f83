import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { growingContent } from '../../../src/sdk/chat/stream/stream-view.js';
import { GrowingMarkdown, sourceWindow } from '../../../src/sdk/chat/text/growing-markdown.js';
import { fromMarkdown } from '../../../src/sdk/chat/text/markdown.js';
import { parseMarkdown } from '../../../src/sdk/chat/text/parse-markdown.js';

/** A reader of a text that grows, and the lengths of what it has parsed. */
function counted() {
  const parsed: number[] = [];
  const growing = new GrowingMarkdown((source, env) => {
    parsed.push(source.length);
    return parseMarkdown(source, env);
  });
  return { growing, parsed };
}

/** Shows a text as it grows by `step` units, and counts the characters that were parsed. */
function parsedOf(content: string, step: number): number {
  const { growing, parsed } = counted();
  for (let end = step; end < content.length + step; end += step)
    growing.read(content.slice(0, end));
  return parsed.reduce((sum, length) => sum + length, 0);
}

const blocks = [
  'word '.repeat(60),
  '- one\n- two',
  '```js\nlet a;\n```',
  '> said',
  'a | b\n--|--\nc | d',
];

describe('L1: a step of a preview', () => {
  it('L1: parses what follows the last block that has ended, so the work is linear in the length', () => {
    const text = `${blocks.join('\n\n')}\n\n`;
    const short = parsedOf(text.repeat(20), 40);
    expect(short).toBeLessThan(12 * 20 * text.length);
    expect(parsedOf(text.repeat(80), 40)).toBeLessThan(4.2 * short);
    expect(parsedOf(text.repeat(80), 160)).toBeLessThan(4 * 80 * text.length);
  });

  it.each(['```js\n', '', '- '])(
    'L1: reads no more than twice its window of a block that does not end (%j)',
    (opening) => {
      const { growing, parsed } = counted();
      let content = opening;
      for (let step = 0; step < 2_000; step++) {
        const line = `line ${step} ${'x'.repeat(step % 100)}\n`;
        content += line;
        parsed.length = 0;
        const { rich } = growing.read(content);
        const most = 2 * sourceWindow + opening.length + line.length;
        expect(Math.max(...parsed)).toBeLessThanOrEqual(most);
        expect(rich.text.trimEnd().endsWith(line.trim())).toBe(true);
      }
      expect(content.length).toBeGreaterThan(10 * sourceWindow);
    },
  );

  it('L1: shows what it would show of the whole (P)', () => {
    const line = fc.constantFrom('a **b** c', '```', '```js', '~~~', '- x', '', '# Title', '`x`');
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 12 }), (block) => {
        const growing = new GrowingMarkdown();
        let content = '';
        for (let at = 0; content.length < 5 * sourceWindow; at++) {
          // each line is long enough for its markup to be out of sight when it is cut off
          content += `${block.map((one) => `${one}\n${'word '.repeat(40)}`).join('\n')}\n`;
          if (at % 3 === 0) growing.read(content);
        }
        const { rich, isCut } = growing.read(content);
        expect(isCut).toBe(true);
        const all = growingContent(fromMarkdown(content));
        const shown = growingContent(rich, isCut);
        expect(shown.text).toBe(all.text);
        expect(shown).toEqual(all);
      }),
      { numRuns: 100 },
    );
  });

  it('L1: shows a short text at each step as it would show the whole (P)', () => {
    const piece = fc.constantFrom(
      ...['a', ' ', '\n', '\n\n', '**b** ', '- x', '1. ', '  ', '> ', '# ', '```\n', '---\n', '|'],
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const growing = new GrowingMarkdown();
        let content = '';
        for (const one of pieces) {
          content += one;
          if (!/[abx]/.test(content)) continue; // it is shown as it is written
          expect(growingContent(growing.read(content).rich)).toEqual(
            growingContent(fromMarkdown(content)),
          );
        }
      }),
      { numRuns: 1_000, examples: [[['# ', '> ', '\n\n', '# ', '\n\n', '# ', '\n', 'a']]] },
    );
  });

  it('L1: knows the links that were defined before, and none that is half written', () => {
    const growing = new GrowingMarkdown();
    growing.read('[a]: https://x.y/lo');
    growing.read('[a]: https://x.y/long\n\nSee');
    const { rich } = growing.read('[a]: https://x.y/long\n\nSee\n\nand then [a].');
    expect(rich.marks.map(({ href }) => href)).toEqual(['https://x.y/long']);
  });

  it('L1: begins with a whole character where one line is longer than the window', () => {
    const { rich } = new GrowingMarkdown().read(`${'😂'.repeat(2 * sourceWindow)}x`);
    expect(Buffer.from(rich.text).toString() === rich.text).toBe(true);
    expect(rich.text.length).toBeLessThanOrEqual(2 * sourceWindow);
  });

  it('L1: another text is shown from its own beginning', () => {
    const growing = new GrowingMarkdown();
    growing.read('a line\n'.repeat(sourceWindow));
    expect(growing.read('another').rich.text).toBe('another');
    expect(growing.read('b line\n'.repeat(sourceWindow)).isCut).toBe(true);
  });
});
