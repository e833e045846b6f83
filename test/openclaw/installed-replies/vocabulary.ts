import fc from 'fast-check';

/** What models write, by kind: what is common comes more often. */
const plain = [
  'Lima',
  'is',
  'a',
  'city.',
  'Why?',
  'Yes!',
  'e.g.',
  '日本',
  '👋',
  'x<y',
  'a_b',
  '- ',
  '> ',
];
const space = ['\r\n', '\u00a0', ' ', ' ', ' ', '  ', '\n', '\n\n', '\n\n\n', '\t', '\n  '];
const code = [
  '`code`',
  '`',
  '``',
  '\n```ts\nconst a = 1;\nconst b = 2;\n```\n',
  '\n```\n',
  '~~~\n',
];
const thoughts = [
  '<think>',
  '</think>',
  '<think>Hm. So</think>',
  '<thinking>',
  '<think about="it">',
  '< / think >',
  '<thought>',
  '</antthinking >',
  '</thinking>',
  '<b>',
  '<',
];
/** The last one is a tag only once the tag within it is gone. */
const finals = ['<final>', '</final>', '<fin</think>al>', '<final a>', '< final >'];
const directives = ['[[reply_to_current]]', '[[reply_to: 42]]', '[[audio_as_voice]]'];
const brackets = ['[[x]]', '[[', '[', ']]'];
const media = [
  '\nMEDIA: https://example.org/a.png\n',
  '\nMEDIA: /tmp/a.ogg\n',
  '\nMEDIA: https://example.org/a.png https://example.org/b.png\n',
];
const known = ['NO_REPLY', 'Hello there my friend', 'hello  THERE my friend'];

type Weighted = readonly [weight: number, words: readonly string[]];

function textOf(...kinds: readonly Weighted[]): fc.Arbitrary<string> {
  const words = kinds.map(([weight, list]) => ({ weight, arbitrary: fc.constantFrom(...list) }));
  return fc.array(fc.oneof(...words), { minLength: 1, maxLength: 14 }).map((all) => all.join(''));
}

const prose: readonly Weighted[] = [
  [12, plain],
  [10, space],
  [1, known],
];

/** The text of a block. A text that names media has no bracket that nothing closes: see spec/callback-order.md. */
export const blockText: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 5,
    arbitrary: textOf(
      ...prose,
      [2, code],
      [2, thoughts],
      [1, finals],
      [2, directives],
      [1, brackets],
    ),
  },
  {
    weight: 3,
    arbitrary: textOf(...prose, [2, code], [2, thoughts], [1, finals], [2, directives], [2, media]),
  },
  { weight: 1, arbitrary: fc.constantFrom('NO_REPLY', 'Hello there my friend', 'Done.', '') },
);

/** The text of a block where only what stands between final tags is shown. Without code: see spec/callback-order.md. */
export const finalText: fc.Arbitrary<string> = textOf(
  ...prose,
  [2, thoughts],
  [4, finals],
  [1, directives],
);

/** The text of a block in a run that is out of order. Pieces that come twice make other directives: it has none. */
export const calmText: fc.Arbitrary<string> = textOf(
  ...prose,
  [1, code],
  [2, thoughts],
  [1, finals],
);

/** What a model thinks. */
export const thought: fc.Arbitrary<string> = fc
  .array(fc.constantFrom('hm', ' ', 'so', '\n', '\n\n', '_x_', '.'), { maxLength: 8 })
  .map((all) => all.join(''));
