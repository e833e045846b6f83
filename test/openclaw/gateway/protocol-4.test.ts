import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { all, leftOf, nothingLeft, providerLab, triggerOf } from '../../support/provider-lab.js';

const server = { protocol: 4 } as const;

/** A text before a tool call, as protocol 4 tells it: on one line. */
const preamble = (text: string, phase: 'update' | 'end') => ({
  ...{ kind: 'preamble', title: 'Preamble', phase, itemId: 'commentary-0-a' },
  progressText: text.replace(/\s+/g, ' ').trim(),
});

/** One message before a tool call, and how much of it streams before the gateway knows that a call follows. */
interface Told {
  readonly text: string;
  readonly streamed: number;
}

const word = fc.stringMatching(/^[a-z]{1,6}$/);
const message = fc
  .array(fc.tuple(word, fc.constantFrom(' ', '\n', '\n\n', '  ')), { minLength: 1, maxLength: 6 })
  .map((words) => words.flat().join('').trim());
const told = fc.record({ text: message, streamed: fc.nat() });

/** Tells a run of several messages, each but the last before a call. */
function tell(
  lab: Awaited<ReturnType<typeof providerLab>>,
  runId: string,
  before: readonly Told[],
  last: string,
): void {
  lab.server.agent(runId, 'run_status', { phase: 'starting_model' });
  lab.server.event('chat', { runId, state: 'status', phase: 'starting_model', seq: 1 });
  for (const [at, { text, streamed }] of before.entries()) {
    const shown = text.slice(0, streamed % (text.length + 1));
    if (shown !== '') lab.server.agent(runId, 'assistant', { text: shown, delta: shown });
    lab.server.agent(runId, 'item', preamble(text, 'update'));
    lab.server.agent(runId, 'item', preamble(text, 'end'));
    const call = { name: 'read', toolCallId: `toolu_${at}` };
    lab.server.agent(runId, 'tool', { phase: 'start', args: {}, ...call });
    lab.server.agent(runId, 'tool', { phase: 'result', isError: false, ...call });
  }
  lab.server.agent(runId, 'assistant', { text: last, delta: last });
  lab.server.agent(runId, 'lifecycle', { phase: 'end' });
  lab.server.chat(runId, 'final', last); // of the last message alone
}

const words = (text = ''): string => text.replace(/\s+/g, ' ').trim();

describe('a run of protocol 4 (stream §4.3, stream §4.8)', () => {
  it('has the whole last message if its last snapshots were lost and its end tells it', async () => {
    await using lab = await providerLab({ server });
    const { deltas } = await lab.asked();
    const cut = (runId: string): void => {
      lab.server.agent(runId, 'assistant', { text: 'The answer', delta: 'The answer' });
      lab.server.chat(runId, 'final', 'The answer is 42.');
    };
    cut('r-1');
    const answer = lab.agent.trigger(triggerOf('again'));
    await lab.acknowledged(2);
    cut('r-2');
    expect((await deltas).at(-1)).toMatchObject({ content: 'The answer is 42.' });
    expect(await answer).toEqual({ status: 'answered', parts: ['The answer is 42.'] });
  });

  it('loses no word before a tool call, however much of it has streamed: deltas and whole answers have each message once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(told, { maxLength: 3 }), message, async (before, last) => {
        await using lab = await providerLab({ server, agent: { messages: 'all' } });
        const { deltas } = await lab.asked();
        tell(lab, 'r-1', before, last);
        const answer = lab.agent.trigger(triggerOf('again'));
        await lab.acknowledged(2);
        tell(lab, 'r-2', before, last);
        const texts = [...before.map(({ text }) => text), last].map((text) => words(text));
        // two messages of the same words, or one that the next begins with, are told apart by nobody
        const whole = texts.filter((text, at) => text !== texts[at - 1]).join(' ');
        const final = (await deltas).at(-1);
        expect(words(final?.phase === 'final' ? final.content : '')).toBe(whole);
        expect(await answer).toMatchObject({ status: 'answered', parts: [expect.anything()] });
        const { parts } = Object(await answer);
        expect(words(parts[0])).toBe(whole);
        await lab.clock.advance(1_000);
        expect(leftOf(lab)).toEqual(nothingLeft);
        expect(lab.client.stats()).toMatchObject({ malformedFrames: 0, seqGaps: 0 });
      }),
      { numRuns: 40 },
    );
  });

  it('keeps the line breaks of a text that has streamed, and has those that have not as blanks', async () => {
    await using lab = await providerLab({ server });
    const answer = lab.agent.trigger(triggerOf('hello'));
    await lab.acknowledged();
    tell(lab, 'r-1', [{ text: 'Let me\nlook.\n- first', streamed: 12 }], 'Done.');
    expect(await answer).toEqual({
      status: 'answered',
      parts: ['Let me\nlook. - first\n\nDone.'],
    });
  });

  it('answers a command, which has no agent run, by its chat (facts 4.4)', async () => {
    await using lab = await providerLab({ server });
    const answer = lab.agent.trigger(triggerOf('/status'));
    await lab.acknowledged();
    lab.server.chat('r-1', 'final', 'All is well.');
    expect(await answer).toEqual({ status: 'answered', parts: ['All is well.'] });
  });

  it('takes holes in the numbers for merged texts, and logs none (stream §3.4)', async () => {
    await using lab = await providerLab({ server });
    const deltas = all(lab.agent.triggerStream(triggerOf('hello')));
    await lab.acknowledged();
    lab.server.agent('r-1', 'assistant', { text: 'One', delta: 'One' });
    lab.server.skip('r-1', 7);
    lab.server.agent('r-1', 'assistant', { text: 'One, two', delta: ', two' });
    lab.server.agent('r-1', 'lifecycle', { phase: 'end' });
    expect((await deltas).at(-1)).toMatchObject({ phase: 'final', content: 'One, two' });
    expect(lab.client.stats().seqGaps).toBe(0);
    expect(lab.log.messages('warn')).toEqual([]);
  });
});
