import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Said, TaggedThoughts } from '../src/answer/thoughts.js';
import { agentLab, providerOf, turnAt, turnOf } from './agent-lab.js';
import { done, modelServer, part, says, scripted } from './model-server.js';

/** Random runs; .ci/run --long tries 1,000. */
const runs = Math.min(1_000, Number(process.env['LAW_RUNS'] ?? 500));

/** The messages that pieces of a text make: each its thoughts and its answer. */
function read(pieces: readonly string[], beginsInThought = false, isWhole = true) {
  const tagged = new TaggedThoughts(beginsInThought);
  const messages = [{ thinking: '', text: '' }];
  const take = (all: readonly Said[]): void => {
    for (const [type, words = ''] of all) {
      const last = messages.at(-1) ?? { thinking: '', text: '' };
      if (type === 'end') messages.push({ thinking: '', text: '' });
      else if (type === 'rethink')
        Object.assign(last, { thinking: last.thinking + last.text, text: '' });
      else last[type] += words;
    }
  };
  for (const piece of pieces) take(tagged.push(piece));
  take(tagged.finish(isWhole));
  return messages;
}

const answerOf = (...pieces: readonly string[]) =>
  read(pieces)
    .map(({ text }) => text)
    .join('');

/** The ways in which models write what they think, before the answer. */
const spellings: readonly (readonly [before: string, after: string])[] = [
  ['<think>', '</think>'],
  ['<thinking>', '</thinking>\n\n'],
  ['\n<thought>\n', '\n</thought>'],
  ['<reasoning>', '</reasoning>'],
  ['<antThinking>', '</antThinking>'],
  ['<seed:think>', '</seed:think>'],
  ['< THINK kind="deep">', '< / think >'],
  ['[THINK]', '[/THINK]'],
  ['◁think▷', '◁/think▷'],
  ['<|START_THINKING|>', '<|END_THINKING|>'],
  ['<|START_THINKING|>', '<|END_THINKING|><|START_RESPONSE|>'],
  ['<|begin_of_thought|>', '<|end_of_thought|>\n<|begin_of_solution|>'],
  ['<longcat_think>', '</longcat_think>'],
  ['<|channel|>analysis<|message|>', '<|end|><|start|>assistant<|channel|>final<|message|>'],
  [
    '<|start|>assistant<|channel|>analysis<|message|>',
    '<|start|>assistant<|channel|>final <|constrain|>json<|message|>',
  ],
  ['<|channel|>commentary to=functions.f <|constrain|>json<|message|>', '<|call|>'],
  ['', '\n</think>\n\n'],
  ['', '</thinking>'],
  ['', '[/THINK]'],
  ['', '<|end|><|start|>assistant<|channel|>final<|message|>'],
];

/** Words with signs of code and of tags in them, and with none of the tags. */
const words = fc
  .array(
    fc.constantFrom(
      'a',
      ' ',
      '\n',
      '<',
      '`',
      '```\n',
      '~~~',
      '[',
      '/',
      '|',
      '>',
      'thin',
      '<b>',
      'Well.',
    ),
    { maxLength: 12 },
  )
  .map((all) => all.join(''));
/** The same without marks of code that stay open. */
const plain = words.map((text) => `Well${text.replace(/[`~]/g, '')}`);

describe('the thoughts of a model are no part of its answer', () => {
  it.each(spellings)('between "%s" and "%s"', (before, after) => {
    fc.assert(
      fc.property(plain, plain, (thought, answer) => {
        const messages = read([before + thought + after + answer]);
        expect(messages.map(({ text }) => text).join('')).toBe(answer);
        expect(
          messages
            .map(({ thinking }) => thinking)
            .join('')
            .trim(),
        ).toBe(thought.trim());
      }),
      { numRuns: runs },
    );
  });

  it('however the text is cut into pieces, they are the same', () => {
    const fragment = fc.oneof(
      fc.constantFrom(
        ...spellings.flat(),
        '`<think>`',
        '`</think>`',
        '```\n<think>\n```\n',
        '`',
        '\n\n',
      ),
      words,
    );
    const text = fc.array(fragment, { maxLength: 8 }).map((all) => all.join(''));
    fc.assert(
      fc.property(
        text,
        fc.array(fc.nat(300)),
        fc.boolean(),
        fc.boolean(),
        (whole, cuts, begins, isWhole) => {
          const places = [...cuts.map((at) => at % (whole.length + 1)), whole.length].sort(
            (a, b) => a - b,
          );
          const pieces = places.map((to, at) => whole.slice(places[at - 1] ?? 0, to));
          const all = read([whole], begins, isWhole);
          expect(read(pieces, begins, isWhole)).toEqual(all);
          expect(read([...whole], begins, isWhole)).toEqual(all);
        },
      ),
      { numRuns: runs },
    );
  });

  it.each([
    ['in inline code', 'Write `<think>` first and `</think>` last.'],
    ['in inline code of two ticks', 'Write ``<think>`` first.'],
    ['in a block', 'So:\n```xml\n<think>\nHm.\n</think>\n```\nDone.'],
    ['in a block with CRLF', 'So:\r\n```xml\r\n</think>\r\n```\r\nDone.'],
    ['in a block of tildes', '~~~\n</think>\n~~~\nDone.'],
    ['in a block within a longer one', '````\n```\n</think>\n```\n</think>\n````\nDone.'],
    ['as another word', 'A <thinker> [THINKS] <b>loud</b> < think, [think](https://x.example).'],
  ])('a tag %s is text', (_, text) => {
    expect(read([text])).toEqual([{ thinking: '', text }]);
    expect(read([`<think>Hm.</think>${text}`])).toEqual([{ thinking: 'Hm.', text }]);
  });

  it.each([
    ['a back-tick that stays open', 'He wrote `foo.', '\n</think>\n\n'],
    ['a block that stays open in a thought', '<think>So:\n```\nfoo', '\n</think>\n\n'],
    ['its own tags in code', '<think>He means `</think>`.', '</think>'],
    ['the tag that it began with', '<think>A <think> tag', '</think>'],
  ])('a thought with %s ends all the same', (_, thought, end) => {
    expect(answerOf(thought, end, 'Hi!')).toBe('Hi!');
  });

  it('a closing tag at the very end, behind an answer whose thought is known, is left out', () => {
    expect(answerOf('<think>Hm.</think>Hi!</think>')).toBe('Hi!');
  });
});

describe('an answer behind a closing tag alone', () => {
  const alone = scripted([
    { content: 'She greets me.' },
    { content: '\n</think>\n\n' },
    { content: 'Hi ' },
    { content: 'you!' },
    part({}, 'stop'),
    done,
  ]);

  it('is a message of its own, and what was shown before it is taken back', async () => {
    await using lab = await agentLab([alone]);
    await lab.test.say('hello');
    expect(lab.test.replies()).toEqual(['Hi you!']);
    expect((await lab.test.transcript()).slice(1)).toMatchObject([
      { content: [{ type: 'thinking', thinking: 'She greets me.\n' }] },
      { content: [{ type: 'text', text: 'Hi you!' }] },
    ]);
  });

  it('is held back from then on until the tag comes, so that no thought is shown', async () => {
    await using server = await modelServer(
      alone,
      alone,
      says('No thought now.'),
      says('Grows again.'),
    );
    const provider = providerOf({ url: server.url });
    const shown = async () => {
      const { events, text } = await turnAt(provider);
      const deltas = events.flatMap((one) =>
        one.type === 'message_update' && one.assistantMessageEvent.type === 'text_delta'
          ? one.assistantMessageEvent.delta
          : [],
      );
      return { text, deltas };
    };
    expect((await shown()).deltas.join('')).toContain('She greets me.');
    expect(await shown()).toEqual({ text: 'Hi you!', deltas: ['Hi ', 'you!'] });
    expect(await shown()).toEqual({ text: 'No thought now.', deltas: ['No thought now.'] });
    expect(await shown()).toEqual({ text: 'Grows again.', deltas: ['Grows ', 'again.'] });
  });

  it('that never came, because the stream was cut, leaves a thought', async () => {
    await using server = await modelServer(alone, scripted([{ content: 'She greets' }, 'CUT']));
    const provider = providerOf({ url: server.url });
    await turnAt(provider);
    expect(await turnAt(provider)).toMatchObject({ text: '', thinking: 'She greets' });
  });

  it('has the usage of all', async () => {
    const usage = { choices: [], usage: { prompt_tokens: 5, completion_tokens: 6 } };
    const { messages } = await turnOf([
      scripted([{ content: 'Hm.</think>Hi.' }, part({}, 'stop'), usage, done]),
    ]);
    expect(messages.map((one) => one.usage?.output)).toEqual([undefined, 6]);
  });
});

describe('thoughts beside the text are read in all their fields', () => {
  it.each<[string, object]>([
    ['an empty one beside "reasoning"', { reasoning_content: '', reasoning: 'Hm.' }],
    ['null beside "reasoning"', { reasoning_content: null, reasoning: 'Hm.' }],
    ['details', { reasoning_details: [{ type: 'reasoning.text', text: 'Hm.' }] }],
    [
      'a summary',
      { reasoning: '', reasoning_details: [{ type: 'reasoning.summary', summary: 'Hm.' }] },
    ],
    [
      'one text in two fields',
      { reasoning: 'Hm.', reasoning_details: [{ type: 'reasoning.text', text: 'Hm.' }] },
    ],
    ['a block', { content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }] }],
    ['a block of another name', { content: [{ type: 'reasoning', text: 'Hm.' }] }],
  ])('%s', async (_, delta) => {
    const streamed = [delta, { content: [{ type: 'text', text: 'Sunny.' }] }, part({}, 'stop')];
    expect(await turnOf([scripted(streamed)])).toMatchObject({ thinking: 'Hm.', text: 'Sunny.' });
    const { content = [], ...rest } = delta as { content?: readonly object[] };
    const message = { ...rest, content: [...content, { type: 'text', text: 'Sunny.' }] };
    const whole = JSON.stringify({ choices: [{ message, finish_reason: 'stop' }] });
    expect(await turnOf([scripted([whole])])).toMatchObject({ thinking: 'Hm.', text: 'Sunny.' });
  });
});
