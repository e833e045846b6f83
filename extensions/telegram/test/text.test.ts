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
    ['~~~~one', 'one'],
    ['```js\n```\nthen', 'js\nthen'],
    ['```js a.js\nlet a;\n```', '<pre><code class="language-js">a.js\nlet a;</code></pre>'],
    ['[text](https://x.y/?a=1&b="2")', '<a href="https://x.y/?a=1&amp;b=%222%22">text</a>'],
    ['[no](javascript:alert)', '[no](javascript:alert)'],
    [
      '[a page](/docs) and ![a bird](https://x.y/b.png)',
      'a page (/docs) and <a href="https://x.y/b.png">a bird</a>',
    ],
    [
      '<https://x.y/a_b_c>, https://x.y/d_e_f.',
      '<a href="https://x.y/a_b_c">https://x.y/a_b_c</a>, <a href="https://x.y/d_e_f">https://x.y/d_e_f</a>.',
    ],
    [
      'see [one] and [it][one]\n\n[one]: https://x.y',
      'see <a href="https://x.y">one</a> and <a href="https://x.y">it</a>',
    ],
    ['# Title', '<b>Title</b>'],
    ['Title\n===\n---', '<b>Title</b>\n———'],
    ['- one\n- two', '• one\n• two'],
    ['1. one\n1. two\n   - in\n     it', '1. one\n2. two\n   • in\n     it'],
    ['- [x] done\n- [ ] open', '☑ done\n☐ open'],
    ['| a | b |\n|---|--:|\n| 漢字 | **2** |', '<pre>a    | b\n-----|--\n漢字 | 2</pre>'],
    ['a|b\n-|-\n1|[l](https://x.y)', '<b>a</b> | <b>b</b>\n1 | <a href="https://x.y">l</a>'],
    ['> a\n> > b\n> > c', '<blockquote>a\n│ b\n│ c</blockquote>'],
    ['**注意：**请', '<b>注意：</b>请'],
    ['one\ntwo\n\n\nthree', 'one\ntwo\n\nthree'],
    ['> said\n> so', '<blockquote>said\nso</blockquote>'],
    ['snake_case_name and 2 * 3 * 4', 'snake_case_name and 2 * 3 * 4'],
    ['**open and `open', '**open and `open'],
    ['\\*not\\* \\||not|| a || b || c', '*not* ||not|| a || b || c'],
    ['a & b < c', 'a &amp; b &lt; c'],
  ])('%s', (markdown, expected) => {
    expect(html(markdown)).toBe(expected);
  });

  // whoever goes back in half a million characters is not done within the hour
  it.each([
    '**',
    '*a',
    'a* ',
    '_a ',
    '[',
    '[a](',
    '![',
    '```\na',
    '> a\n',
    '>',
    'a`',
    '||',
    '||a',
    '\\',
    '*_',
    '|a',
    '<a ',
    '&',
  ])(
    'is read without going back, whatever it is: %j',
    (piece) => {
      const source = piece.repeat(500_000 / piece.length);
      expect(fromMarkdown(source).text.length).toBeGreaterThan(0);
    },
    300_000,
  );

  it('that nests deeper than anybody can see is shown as it is written', () => {
    expect(html(`${'> '.repeat(200)}deep`)).toContain('&gt; deep');
    expect(html(`${'- '.repeat(200)}deep`)).toContain('- deep');
    expect(html(`${'*'.repeat(200)}deep${'*'.repeat(200)}`)).toContain('deep');
  });

  it('is HTML that Telegram takes, with the text that people see, whatever is in it (P)', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 5 }),
      fc.constantFrom(
        ...[
          '**',
          '_',
          '`',
          '~~',
          '||',
          '[',
          '](',
          ')',
          '![',
          '<',
          '>',
          '"',
          '&amp;',
          '\n',
          '\n\n',
          '> ',
          '- ',
        ],
        ...[
          '1. ',
          '| a ',
          '\n|-|-|\n',
          'https://x.y/?"<',
          'javascript:',
          '```',
          '    ',
          '[a]: ',
          '<b>',
          '</a>',
        ],
      ),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const rich = fromMarkdown(pieces.join(''));
        const read = fromHtml(toHtml(rich));
        expect(read?.text).toBe(rich.text);
        for (const { href } of read?.marks ?? [])
          if (href !== undefined) expect(new URL(href).protocol).toMatch(/^(https?|tg|mailto):$/);
      }),
      { numRuns: 2_000 },
    );
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
