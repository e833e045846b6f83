import fc from 'fast-check';
import {
  fromMarkdown,
  type Mark,
  plainText,
  type RichText,
  split as splitAt,
  type Tag,
} from 'sluice/chat';
import { describe, expect, it } from 'vitest';
import { messageLimit } from '../src/egress/parts.js';
import { fromHtml, toHtml } from '../src/text/html.js';

const split = (rich: RichText, limit = messageLimit): RichText[] => splitAt(rich, limit);

const html = (markdown: string): string => toHtml(fromMarkdown(markdown));

/** Whether no character of two units is cut in half. */
const isWhole = (text: string): boolean => Buffer.from(text).toString() === text;

describe('Markdown', () => {
  it.each([
    ['**bold** and __bold__', '<b>bold</b> and <b>bold</b>'],
    ['*it* and _it_', '<i>it</i> and <i>it</i>'],
    ['~~gone~~ ||hidden||', '<s>gone</s> <tg-spoiler>hidden</tg-spoiler>'],
    ['**a _b_ c**', '<b>a <i>b</i> c</b>'],
    ['`a < b`', '<code>a &lt; b</code>'],
    ['```js\nlet a = 1 < 2;\n```', '<pre><code class="language-js">let a = 1 &lt; 2;</code></pre>'],
    ['```\nopen', '<pre>open</pre>'],
    ['~~~~one', '~~~~one'],
    ['```js\n```\nthen', '```js\n```\nthen'],
    ['```js a.js\nlet a;\n```', '<pre><code class="language-js">a.js\nlet a;</code></pre>'],
    ['[text](https://x.y/?a=1&b="2")', '<a href="https://x.y/?a=1&amp;b=&quot;2&quot;">text</a>'],
    ['[no](javascript:alert)', '[no](javascript:alert)'],
    ['# Title', '<b>Title</b>'],
    ['- one\n- two', '• one\n• two'],
    ['> said\n> so', '<blockquote>said\nso</blockquote>'],
    ['snake_case_name and 2 * 3 * 4', 'snake_case_name and 2 * 3 * 4'],
    ['**open and `open', '**open and `open'],
    ['\\*not\\*', '*not*'],
    ['a & b < c', 'a &amp; b &lt; c'],
  ])('%s', (markdown, expected) => {
    expect(html(markdown)).toBe(expected);
  });

  it('is read in linear time, whatever it is', () => {
    for (const piece of ['**', '_a ', '[a](', '```\na', '> a', 'a`', '||', '\\', '*_'])
      expect(fromMarkdown(piece.repeat(20_000)).text.length).toBeGreaterThan(0);
  });

  it('never loses a letter (P)', () => {
    const letters = (text: string): string => text.replaceAll(/[^\p{L}\p{N}]/gu, '');
    const word = fc.constantFrom(
      'one',
      '**',
      '*',
      '_',
      '`',
      '~~',
      '\n',
      ' ',
      '漢字',
      '👩‍👩‍👧',
      '#',
      '>',
      '- ',
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 40 }), (words) => {
        const source = words.join('');
        const { text, marks } = fromMarkdown(source);
        let whole = ''; // with the languages of code where they stood
        let at = 0;
        for (const { from, language = '' } of marks.toSorted((a, b) => a.from - b.from)) {
          whole += text.slice(at, from) + language;
          at = from;
        }
        expect(letters(whole + text.slice(at))).toBe(letters(source));
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('HTML that a message is written in', () => {
  it.each([
    '<b>a <i>b</i></b> c',
    '<a href="https://x.y/?a=1&amp;b=2">l</a>',
    '<blockquote expandable>q</blockquote>',
    'a &lt; b &amp; c',
  ])('is read and written again: %s', (source) => {
    const rich = fromHtml(source);
    expect(rich === undefined ? undefined : toHtml(rich)).toBe(source);
  });

  it.each(['<b>open', '</b>', '<b><i></b></i>', '<script>x</script>', 'a < b'])(
    'that Telegram would refuse is none: %s',
    (source) => {
      expect(fromHtml(source)).toBeUndefined();
    },
  );
});

describe('a text that is too long', () => {
  it('of exactly 4,096 units is one piece, and of one more two', () => {
    expect(split(plainText('a'.repeat(4_096)))).toHaveLength(1);
    expect(split(plainText('a'.repeat(4_097))).map(({ text }) => text.length)).toEqual([4_096, 1]);
  });

  it('is cut at the last line end, else at the last space, if past the half, else hard', () => {
    const texts = (text: string): string[] => split(plainText(text), 10).map((piece) => piece.text);
    expect(texts('aaaaaaa\nb c')).toEqual(['aaaaaaa', 'b c']);
    expect(texts('aaaaaaa b c d e')).toEqual(['aaaaaaa b', 'c d e']);
    expect(texts('a bbbbbbbbbbbbbb')).toEqual(['a bbbbbbbb', 'bbbbbb']);
  });

  it('is never cut within an emoji, however many code points it has', () => {
    for (const emoji of ['😂', '👩‍👩‍👧', '🇵🇪', '👍🏽', 'é'])
      for (let before = 4_090; before <= 4_096; before++) {
        const pieces = split(plainText('a'.repeat(before) + emoji.repeat(3))).map(
          ({ text }) => text,
        );
        expect(pieces.every(isWhole)).toBe(true);
        expect(pieces.join('')).toBe('a'.repeat(before) + emoji.repeat(3));
        expect(pieces.slice(1).every((piece) => piece.startsWith(emoji))).toBe(true);
      }
  });

  it('keeps its markup in each piece, and loses nothing but white space at the cuts (P)', () => {
    const tags: Tag[] = ['b', 'i', 'u', 's', 'code', 'expandable'];
    const text = fc.stringMatching(/^[ \n]?([a-z<&>]|😂|👩‍👧| |\n){0,60}$/);
    const rich: fc.Arbitrary<RichText> = fc
      .tuple(
        text,
        fc.array(fc.tuple(fc.nat(60), fc.nat(60), fc.constantFrom(...tags)), { maxLength: 5 }),
      )
      .map(([said, spans]) => ({
        text: said,
        marks: spans.map(
          ([a, b, tag]): Mark => ({
            from: Math.min(a, b, said.length),
            to: Math.min(Math.max(a, b), said.length),
            tag,
          }),
        ),
      }));
    fc.assert(
      fc.property(rich, fc.integer({ min: 2, max: 30 }), (whole, limit) => {
        const pieces = split(whole, limit);
        const bare = (said: string): string => said.replaceAll(/\s/g, '');
        expect(bare(pieces.map((piece) => piece.text).join(''))).toBe(bare(whole.text));
        for (const piece of pieces) {
          expect(piece.text.length).toBeLessThanOrEqual(Math.max(limit, 5));
          const again = fromHtml(toHtml(piece));
          expect(again?.text).toBe(piece.text); // well-formed, and escaped once
        }
      }),
    );
    expect(messageLimit).toBe(4_096);
  });

  it('closes and opens again a mark that reaches over a cut', () => {
    const rich = fromMarkdown('a **bold <text>**');
    expect(split(rich, 8).map(toHtml)).toEqual(['a <b>bold</b>', '<b>&lt;text&gt;</b>']);
  });
});
