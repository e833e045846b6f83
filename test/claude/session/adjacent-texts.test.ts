import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  type CsdkFrame,
  checkOrdering,
  coderStream,
  normalizeSession,
} from '../../../src/claude/index.js';
import { type SessionEvent, textOf } from '../../../src/sdk/stream/index.js';
import { frames } from '../../support/bridge-lab.js';

const { result, says } = frames;
const seed = Number(process.env.SLUICE_SEED ?? Date.now() % 2 ** 31);

type Block = Readonly<Record<string, unknown>> & { readonly type: string };

/** How the SDK gives a message: in one frame, in a frame for each block, or streamed with either. */
type Manner = 'whole' | 'blocks' | 'streamed' | 'streamed, then whole' | 'streamed alone';

const event = (raw: Readonly<Record<string, unknown>>): CsdkFrame => ({
  type: 'stream_event',
  event: raw,
});

function* given(blocks: readonly Block[], manner: Manner): Generator<CsdkFrame> {
  if (manner === 'whole') yield says('m', blocks);
  if (manner === 'blocks') for (const block of blocks) yield says('m', [block]);
  if (!manner.startsWith('streamed')) return;
  yield event({ type: 'message_start', message: { id: 'm', content: [] } });
  for (const [index, block] of blocks.entries()) {
    const { text = '' } = block;
    const start = block.type === 'text' ? { type: 'text', text: '' } : block;
    yield event({ type: 'content_block_start', index, content_block: start });
    for (const piece of block.type === 'text' ? String(text) : '')
      yield event({
        type: 'content_block_delta',
        index,
        delta: { type: 'text_delta', text: piece },
      });
    if (manner === 'streamed') yield says('m', [block]);
    yield event({ type: 'content_block_stop', index });
  }
  yield event({ type: 'message_stop' });
  if (manner === 'streamed, then whole') yield says('m', blocks);
}

const block: fc.Arbitrary<Block> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('text'),
      text: fc.string({ minLength: 1, maxLength: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ type: 'tool_use' }) },
);

/** The texts of a message, of which each call ends one. */
function textsIn(blocks: readonly Block[]): readonly string[] {
  const texts = [''];
  for (const { type, text } of blocks)
    if (type === 'text') texts.push(`${texts.pop()}${String(text)}`);
    else texts.push('');
  return texts.filter((text) => text !== '');
}

it(`blocks of text that nothing stands between are one text, however they come (csdk §3.13, C6, SLUICE_SEED=${seed})`, async () => {
  const manner = fc.constantFrom<Manner>(
    'whole',
    'blocks',
    'streamed',
    'streamed, then whole',
    'streamed alone',
  );
  await fc.assert(
    fc.asyncProperty(fc.array(block, { maxLength: 7 }), manner, async (made, how) => {
      const blocks = made.map((one, at) =>
        one.type === 'text' ? one : { ...one, id: `t${at}`, name: 'Bash', input: {} },
      );
      const wanted = textsIn(blocks);
      const stream = [...given(blocks, how), result()];
      const events: SessionEvent[] = [];
      for await (const one of normalizeSession(stream)) events.push(one);
      expect(checkOrdering(events)).toEqual([]);
      const ends = events.flatMap((one) =>
        one.type === 'message_update' && one.assistantMessageEvent.type === 'text_end'
          ? [one.assistantMessageEvent.content]
          : [],
      );
      expect(ends).toEqual(wanted);
      const messages = events.flatMap((one) => (one.type === 'message_end' ? [one.message] : []));
      expect(messages.map(textOf).join('')).toBe(wanted.join(''));
      expect(
        messages.flatMap(({ content }) => content.filter(({ type }) => type === 'text')),
      ).toEqual(wanted.map((text) => ({ type: 'text', text })));
      const wholes: string[] = [];
      for await (const one of coderStream(stream))
        if (one.type === 'message' && one.delta !== true) wholes.push(one.text ?? '');
      expect(wholes).toEqual(wanted);
    }),
    { seed, numRuns: 500 },
  );
});
