import fc from 'fast-check';
import { fromMarkdown, plainText, type RichText, split } from 'sluice/chat';
import { describe, expect, it } from 'vitest';
import { messageLimit } from '../src/egress/surface.js';
import { mentions, readableText } from '../src/ingress/decode.js';
import { type Block, richTextBlock, toMrkdwn } from '../src/text/blocks.js';

const elementsOf = (block: Block): readonly Block[] => block['elements'] as readonly Block[];

/** The letters of a block, in order. */
const lettersOf = (block: Block): string =>
  elementsOf(block)
    .flatMap((element) => elementsOf(element).map(({ text }) => text))
    .join('');

const block = (markdown: string): readonly Block[] =>
  elementsOf(richTextBlock(fromMarkdown(markdown)));

describe('Markdown as blocks of Slack', () => {
  it.each<[string, readonly object[]]>([
    [
      'a **b** _c_',
      [
        { text: 'a ' },
        { text: 'b', style: { bold: true } },
        { text: ' ' },
        { text: 'c', style: { italic: true } },
      ],
    ],
    [
      '**a _b_**',
      [
        { text: 'a ', style: { bold: true } },
        { text: 'b', style: { bold: true, italic: true } },
      ],
    ],
    [
      '~~a~~ `b*c*`',
      [
        { text: 'a', style: { strike: true } },
        { text: ' ' },
        { text: 'b*c*', style: { code: true } },
      ],
    ],
    ['[me](https://x.y)', [{ type: 'link', url: 'https://x.y', text: 'me' }]],
    ['2 * 3 * 4 <b> & _x', [{ text: '2 * 3 * 4 <b> & _x' }]],
  ])('%s', (markdown, runs) => {
    expect(block(markdown)).toMatchObject([{ type: 'rich_text_section', elements: runs }]);
  });

  it('has code and quotes in elements of their own, without the line ends between', () => {
    expect(block('one\n```js\nlet a;\n```\ntwo\n> said\n> so')).toEqual([
      { type: 'rich_text_section', elements: [{ type: 'text', text: 'one' }] },
      { type: 'rich_text_preformatted', elements: [{ type: 'text', text: 'let a;' }] },
      { type: 'rich_text_section', elements: [{ type: 'text', text: 'two' }] },
      { type: 'rich_text_quote', elements: [{ type: 'text', text: 'said\nso' }] },
    ]);
  });

  it('keeps every letter, and is a block that Slack takes, also when it is cut (P)', () => {
    const word = fc.constantFrom(
      ...[
        'one',
        '**',
        '*',
        '_',
        '`',
        '~~',
        '||',
        '\n',
        ' ',
        '漢字',
        '👩‍👩‍👧',
        '#',
        '> ',
        '- ',
        '```',
        '<',
        '&',
        '[a](https://x.y)',
        '[b](<https://x y>)',
        '[c](/page)',
        '| a |\n|-|\n',
      ],
    );
    const bare = (text: string): string => text.replaceAll(/\s/g, '');
    fc.assert(
      fc.property(
        fc.array(word, { maxLength: 60 }),
        fc.integer({ min: 2, max: 60 }),
        (words, limit) => {
          const rich = fromMarkdown(words.join(''));
          const pieces: RichText[] = split(rich, limit);
          const blocks = pieces.map(richTextBlock);
          expect(bare(blocks.map(lettersOf).join(''))).toBe(bare(rich.text));
          for (const one of blocks) {
            expect(elementsOf(one).length).toBeGreaterThan(0);
            const runs = elementsOf(one).flatMap(elementsOf);
            expect(runs.every(({ text }) => text !== '')).toBe(true);
            const urls = runs.flatMap(({ url }) => url ?? []);
            expect(urls.every((url) => /^https:\S+$/.test(String(url)))).toBe(true);
          }
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it('is mrkdwn for notifications, escaped once and not longer than they show', () => {
    expect(toMrkdwn(fromMarkdown('**a** < [b](https://x.y?a=1&b=2) & `c`'))).toBe(
      '*a* &lt; <https://x.y?a=1&amp;b=2|b> &amp; `c`',
    );
    expect(toMrkdwn(plainText('😂'.repeat(messageLimit))).length).toBeLessThanOrEqual(3_000);
  });
});

describe('the text of a message of Slack', () => {
  it.each([
    ['a &amp; b &lt; c &amp;lt;', 'a & b < c &lt;'],
    ['<https://x.y|me> and <https://x.y>', '[me](https://x.y) and https://x.y'],
    ['<mailto:a@x.y|a@x.y>', '[a@x.y](mailto:a@x.y)'],
    ['<#C1|general> and <#C2>', '#general and #C2'],
    ['<!here> <!subteam^S1|@team> <!date^1^x|today>', '@here @team today'],
    ['<@U1> and <@U2|ada>', '<@U1> and <@U2|ada>'],
    ['1 < 2 > 0', '1 < 2 > 0'],
  ])('%s', (text, expected) => {
    expect(readableText(text)).toBe(expected);
  });

  it('mentions a member by his whole id alone', () => {
    expect(mentions('hi <@U1>', 'U1')).toBe(true);
    expect(mentions('hi <@U1|ada>', 'U1')).toBe(true);
    expect(mentions('hi <@U12>', 'U1')).toBe(false);
    expect(mentions('hi &lt;@U1&gt;', 'U1')).toBe(false);
  });
});
