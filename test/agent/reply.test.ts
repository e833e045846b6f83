import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentEventReport, PartialReply } from '../../src/agent/index.js';
import { ended, message, replyLab, started, streamed, toolEnd, toolStart } from './reply-lab.js';

// The rows of seed 001.

const onlyText = { replyToTag: false, replyToCurrent: false };

describe('A message', () => {
  it('starts before its first text, comes as agent event and partial reply, and ends as one block', async () => {
    const lab = replyLab();
    await lab.run(started, ...streamed(['Li', 'ma.']), ended);
    expect(lab.names()).toEqual([
      'onAgentEvent lifecycle start',
      'onAssistantMessageStart',
      'onPartialReply',
      'onAgentEvent assistant',
      'onPartialReply',
      'onAgentEvent assistant',
      'onBlockReply',
      'onAgentEvent lifecycle end',
    ]);
    expect(lab.told('onPartialReply')).toEqual([{ text: 'Li' }, { text: 'Lima.' }]);
    expect(lab.told('onBlockReply')).toEqual([{ text: 'Lima.', ...onlyText }]);
    expect(lab.replies.assistantTexts).toEqual(['Lima.']);
  });

  it('that comes whole is told once, and is no partial reply', async () => {
    const lab = replyLab({ blockReplyBreak: 'message_end' });
    const whole = message('Lima.');
    await lab.run(
      started,
      { type: 'message_start', message: whole },
      { type: 'message_end', message: whole },
      ended,
    );
    expect(lab.names().filter((name) => /assistant$|Reply/.test(name))).toEqual([
      'onAgentEvent assistant',
      'onBlockReply',
    ]);
  });

  it('forgets the one before it: the same text is told again', async () => {
    const lab = replyLab();
    await lab.run(started, ...streamed(['Yes.']), ...streamed(['Yes.']), ended);
    expect(lab.told('onPartialReply')).toEqual([{ text: 'Yes.' }, { text: 'Yes.' }]);
    expect(lab.replies.assistantTexts).toEqual(['Yes.', 'Yes.']);
  });

  it('whose text ends repeat what came is told once, block by block', async () => {
    const lab = replyLab();
    await lab.run(started, ...streamed(['One'], ['Two']), ended);
    expect(lab.told('onPartialReply').at(-1)).toEqual({ text: 'OneTwo' });
    expect(lab.replies.assistantTexts).toEqual(['One', 'Two']);
  });

  it('leaves out a paragraph that says what the one before it said, and the empty lines it begins with', async () => {
    const lab = replyLab({ blockReplyBreak: 'message_end' });
    const whole = message('<final>\n\nYes.\n\n \n\nNo.\n\nNo.\n\n</final>');
    await lab.run(
      started,
      { type: 'message_start', message: whole },
      { type: 'message_end', message: whole },
      ended,
    );
    expect(lab.replies.assistantTexts).toEqual(['Yes.\n\n\n\nNo.']);
  });

  it('with nothing to say is not shown', async () => {
    const lab = replyLab({ blockReplyBreak: 'message_end' });
    await lab.run(started, ...streamed(['NO_REPLY']), ended);
    expect(lab.told('onBlockReply')).toEqual([]);
  });

  it('is not said again after a messaging tool has sent it, and says what was sent where it says nothing', async () => {
    const said = 'The capital is Lima.';
    const lab = replyLab();
    const sent = toolStart('1', 'message', { action: 'send', to: 'x', message: said });
    const quiet = message('NO_REPLY');
    await lab.run(
      started,
      sent,
      toolEnd('1', 'message'),
      ...streamed([said]),
      { type: 'message_start', message: quiet },
      { type: 'message_end', message: quiet },
      ended,
    );
    expect(lab.told('onBlockReply')).toEqual([]);
    expect(lab.replies.getMessagingToolSentTexts()).toEqual([said]);
    expect(lab.replies.assistantTexts).toEqual([said, said]);
  });

  it('carries its directives: the message it answers, voice, and media', async () => {
    const lab = replyLab();
    const text = '[[reply_to: 42]] Here.\nMEDIA: https://example.org/a.ogg\n[[audio_as_voice]]';
    await lab.run(started, ...streamed([text]), ended);
    expect(lab.told('onBlockReply')).toEqual([
      {
        text: 'Here.',
        mediaUrls: ['https://example.org/a.ogg'],
        audioAsVoice: true,
        replyToId: '42',
        replyToTag: true,
        replyToCurrent: false,
      },
    ]);
  });
});

/** What models write, in pieces that cut tags, code and directives. */
const word = fc.constantFrom(
  'a',
  'b c',
  '\n',
  ' ',
  '<think>',
  '</think>',
  '`',
  '```\n',
  '<fin',
  'al>',
  '<',
  '[[x]]',
  '[[x',
  '[[reply_to_cur',
  'rent]]',
  'NO_REPLY',
);

describe('A partial reply', () => {
  it('only ever grows, whatever a model writes and however it is cut, and its agent events add up to it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(word, { minLength: 1, maxLength: 20 }), async (pieces) => {
        let added = '';
        const lab = replyLab({
          onAgentEvent({ stream, data }: AgentEventReport) {
            if (stream === 'assistant') added += String(data['delta']);
          },
        });
        await lab.run(started, ...streamed(pieces), ended);
        const replies = lab.told('onPartialReply') as PartialReply[]; // as the lab writes down
        const texts = replies.map(({ text }) => text);
        for (const [at, text] of texts.entries()) {
          const before = texts[at - 1] ?? '';
          expect(text.startsWith(before) && text.length > before.length).toBe(true);
        }
        if (texts.length > 0) expect(added).toBe(texts.at(-1));
      }),
      { numRuns: 2000 },
    );
  });

  it('takes nothing back where a tag hides in another, and goes on where the text does', async () => {
    const gone = replyLab();
    await gone.run(started, ...streamed(['a', '<fin', '</think>', 'al>', 'b c']), ended);
    expect(gone.told('onPartialReply')).toEqual([{ text: 'a' }, { text: 'a<fin' }]);
    expect(gone.replies.assistantTexts).toEqual(['ab c']);
    const back = replyLab();
    await back.run(started, ...streamed(['a', '<fin', '</think>', 'al>', '<fi', 'n', '!']), ended);
    expect(back.told('onPartialReply').at(-1)).toEqual({ text: 'a<fin!' });
  });

  it('never shows half a tag, or half a line that names media', async () => {
    const lab = replyLab();
    const pieces = [
      'Yes.',
      '\nMED',
      'IA: https://exam',
      'ple.org/a.png',
      '\n<th',
      'ink>Hm.</thi',
      'nk>',
      ' Done.',
    ];
    await lab.run(started, ...streamed(pieces), ended);
    expect(lab.told('onPartialReply')).toEqual([
      { text: 'Yes.' },
      { text: 'Yes.', mediaUrls: ['https://example.org/a.png'] },
      { text: 'Yes.\n Done.' },
    ]);
  });

  it('leaves tags alone in code', async () => {
    const lab = replyLab();
    await lab.run(
      started,
      ...streamed(['`<think>`', ' and\n```\n<final>', '\n```\n<think>x</think>!']),
      ended,
    );
    expect(lab.told('onPartialReply').at(-1)).toEqual({
      text: '`<think>` and\n```\n<final>\n```\n!',
    });
  });
});

describe('A block reply', () => {
  const chunking = { minChars: 10, maxChars: 30 };

  it('is cut where a paragraph, a line or a sentence ends, and never longer than asked for', async () => {
    const lab = replyLab({ blockReplyChunking: { ...chunking, breakPreference: 'sentence' } });
    await lab.run(
      started,
      ...streamed(['First one here. Second one here. And the third one here.']),
      ended,
    );
    expect(lab.replies.assistantTexts).toEqual([
      'First one here.',
      'Second one here.',
      'And the third one here.',
    ]);
  });

  it('keeps a code block whole: closed before the cut, opened again after it', async () => {
    const lab = replyLab({ blockReplyChunking: chunking });
    await lab.run(started, ...streamed(['```ts\nconst first = 1;\nconst second = 2;\n```']), ended);
    for (const text of lab.replies.assistantTexts) expect(text.match(/```/g)).toHaveLength(2);
    expect(lab.replies.assistantTexts[1]).toMatch(/^```ts\n/);
  });

  it('comes with the message where the break says so', async () => {
    const lab = replyLab({ blockReplyBreak: 'message_end' });
    await lab.run(started, ...streamed(['One'], ['Two']), ended);
    expect(lab.replies.assistantTexts).toEqual(['One\nTwo']);
  });
});

describe('Reasoning', () => {
  const thinking = streamed(['think:', 'one\n', 'two'], ['Yes.']);
  const text = 'Reasoning:\n_one_\n_two_';

  it.each([
    ['off', []],
    ['on', [{ text, isReasoning: true }]],
    ['stream', []],
  ] as const)('in mode %s is handed over accordingly', async (reasoningMode, blocks) => {
    const lab = replyLab({ reasoningMode });
    await lab.run(started, ...thinking, ended);
    expect(
      lab.told('onBlockReply').filter((block) => JSON.stringify(block).includes('isReasoning')),
    ).toEqual(blocks);
    expect(lab.told('onReasoningStream')).toHaveLength(reasoningMode === 'stream' ? 2 : 0);
    expect(lab.names().filter((name) => name === 'onReasoningEnd')).toHaveLength(1);
  });

  it('in mode on stands before an answer that comes with its message, after one that came before', async () => {
    const first = replyLab({ reasoningMode: 'on', blockReplyBreak: 'message_end' });
    const last = replyLab({ reasoningMode: 'on', blockReplyBreak: 'text_end' });
    await first.run(started, ...thinking, ended);
    await last.run(started, ...thinking, ended);
    const order = (lab: typeof first) =>
      (lab.told('onBlockReply') as { isReasoning?: true }[]).map((one) => one.isReasoning === true);
    expect(order(first)).toEqual([true, false]);
    expect(order(last)).toEqual([false, true]);
  });

  it('between tags is streamed as it comes, and is no part of the text', async () => {
    const lab = replyLab({ reasoningMode: 'stream' });
    await lab.run(started, ...streamed(['<think>H', 'm.</think>Yes.']), ended);
    expect(lab.told('onReasoningStream')).toEqual([
      { text: 'Reasoning:\n_H_' },
      { text: 'Reasoning:\n_Hm._' },
    ]);
    expect(lab.replies.assistantTexts).toEqual(['Yes.']);
  });
});
