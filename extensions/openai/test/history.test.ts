import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineExtension } from 'sluice';
import { memoryJournal, memoryStore } from 'sluice/host';
import type { PromptAttachment } from 'sluice/stream';
import { virtualClock } from 'sluice/testing';
import { describe, expect, it } from 'vitest';
import { chatMessages, tokensOf } from '../src/chat-messages.js';
import { type AgentLab, agentLab, providerOf, requestOf, weather } from './agent-lab.js';
import { type Answer, calls, fails, modelServer, open, says, write } from './model-server.js';

const long = (word: string): string => `${word} `.repeat(400).trim();

/** The roles and the beginnings of the texts that the model was sent with a request. */
function sent({ asked }: AgentLab, at = -1): string[] {
  return (asked.at(at)?.body.messages ?? []).map(
    ({ role, content }) =>
      `${role}: ${typeof content === 'string' ? content.slice(0, 12).trim() : JSON.stringify(content)}`,
  );
}

/** Says a sum of what it is told, and a long text otherwise. */
const summing: Answer = (response, asked) => {
  const isSum = JSON.stringify(asked.body.messages).includes('Summarize');
  return says(isSum ? 'They spoke of tea.' : long('well'))(response, asked);
};

const small = { contextTokens: 2_000 };

describe('the history of a conversation', () => {
  it('goes to the model with the calls of tools and their results', async () => {
    await using lab = await agentLab([calls(['none', {}]), says('There is none.'), says('Yes.')]);
    await lab.test.say('call it');
    await lab.test.say('sure?');
    expect(sent(lab)).toEqual([
      ...['user: call it', 'assistant: null', 'tool: there is no', 'assistant: There is non'],
      'user: sure?',
    ]);
  });

  it('is kept to the budget: the oldest turns go, and the model sums them up, with a compaction', async () => {
    await using lab = await agentLab([summing], small);
    for (const word of ['one', 'two', 'three', 'four']) await lab.test.say(long(word));
    const before = lab.test.of('compaction.before').map(({ payload }) => payload);
    const after = lab.test.of('compaction.after').map(({ payload }) => payload);
    expect(before).toMatchObject([{ cause: 'auto' }]);
    expect(after).toMatchObject([{ compactionCount: 1, willRetry: false, summaryLengthChars: 18 }]);
    expect(after[0]?.tokensAfter).toBeLessThan(after[0]?.tokensBefore ?? 0);
    expect(sent(lab)[0]).toBe('system: Of the conve');
    expect(lab.asked.at(-1)?.body.messages[0]?.content).toContain('They spoke of tea.');
    expect(sent(lab)).not.toContain('user: one one one');
    for (const { body } of lab.asked)
      if (body.tools !== undefined) expect(tokensOf(body.messages)).toBeLessThanOrEqual(2_000);
  });

  it('keeps the summary with the session, over a restart', async () => {
    const kept = { journal: memoryJournal({ clock: virtualClock() }), store: memoryStore() };
    await using first = await agentLab([summing], small, kept);
    for (const word of ['one', 'two', 'three']) await first.test.say(long(word));
    expect(first.test.of('compaction.after')).toHaveLength(1);
    await first.test[Symbol.asyncDispose]();
    await using lab = await agentLab([summing], small, kept);
    await lab.test.say('and?');
    expect(lab.asked).toHaveLength(1); // it is not summed up again
    expect(lab.asked[0]?.body.messages[0]?.content).toContain('They spoke of tea.');
    expect(sent(lab).slice(1)).toEqual([
      'user: three three',
      'assistant: well well we',
      'user: and?',
    ]);
  });

  it('is dropped without a summary if the settings say so', async () => {
    await using lab = await agentLab([summing], { ...small, compaction: 'drop' });
    for (const word of ['one', 'two', 'three', 'four']) await lab.test.say(long(word));
    expect(lab.asked).toHaveLength(4);
    expect(sent(lab)[0]).toMatch(/^user: (two|three)/);
    expect(lab.test.of('compaction.after')).not.toEqual([]);
  });

  it('goes on without a summary that has failed, and tries again in the next turn', async () => {
    const failing: Answer = (response, asked) =>
      JSON.stringify(asked.body.messages).includes('Summarize')
        ? fails(500)(response, asked)
        : summing(response, asked);
    await using lab = await agentLab([failing], small);
    for (const word of ['one', 'two', 'three', 'four', 'five']) {
      const end = await lab.test.say(long(word));
      expect(end.status).toBe('answered');
    }
    expect(lab.test.of('compaction.after').length).toBeGreaterThan(1);
    const told = lab.test.log.entries.filter(({ message }) => message.includes('not summed up'));
    expect(told.length).toBeGreaterThan(1);
  });

  it('is halved if the server says that its context is too small, and the server is asked again', async () => {
    const tight: Answer = (response, asked) =>
      asked.body.messages.length > 4
        ? fails(400, { code: 'context_length_exceeded', message: 'too many tokens' })(
            response,
            asked,
          )
        : says('Fine.')(response, asked);
    await using lab = await agentLab([tight], { compaction: 'drop' });
    for (const word of ['one', 'two', 'three', 'four']) await lab.test.say(word);
    expect(lab.test.replies()).toEqual(['Fine.', 'Fine.', 'Fine.', 'Fine.']);
    const after = lab.test.of('compaction.after').map(({ payload }) => payload);
    expect(after[0]).toMatchObject({ cause: 'overflow', willRetry: true });
    await using alone = await agentLab([fails(400, { code: 'context_length_exceeded' })]);
    expect(await alone.test.say('one')).toMatchObject({ status: 'failed' });
  });

  it('has one result for each call, whatever the transcript holds', () => {
    const call = (id: string) => ({ type: 'toolCall' as const, id, name: 'a', arguments: {} });
    const result = (toolCallId: string) => ({
      ...{ role: 'toolResult' as const, toolCallId, toolName: 'a', isError: false },
      content: [{ type: 'text' as const, text: `of ${toolCallId}` }],
    });
    const made = chatMessages(
      [
        result('lost'),
        { role: 'assistant', content: [call('1'), call('2')] },
        result('2'),
        {
          role: 'assistant',
          content: [{ type: 'text', text: 'out of order' }],
          providerError: { code: 'x' },
        },
        { role: 'user', content: 'and?' },
        result('1'),
      ],
      { maxResultChars: 100 },
    );
    expect(made.map(({ role, content }) => [role, content])).toEqual([
      ['assistant', null],
      ['tool', '[no result of this call is known: it may have run]'],
      ['tool', 'of 2'],
      ['assistant', '(No answer is known.)'],
      ['user', 'and?'],
    ]);
  });
});

describe('a turn that outgrows the budget by itself', () => {
  it('has the results of its tools cut shorter, and goes on', async () => {
    const long = { ...weather, execute: () => 'sunny '.repeat(800) };
    const giving = defineExtension({ id: 'giving', setup: (api) => api.provide('tool', long) });
    const rome: Answer = calls(['weather', { city: 'Rome' }]);
    await using lab = await agentLab([rome, rome, rome, says('Sunny.')], small, {
      extensions: [giving],
    });
    await lab.test.say('weather?');
    expect(lab.test.replies()).toEqual(['Sunny.']);
    const { messages = [] } = lab.asked.at(-1)?.body ?? {};
    expect(tokensOf(messages)).toBeLessThanOrEqual(2_000);
    expect(messages.at(-1)?.content).toMatch(/^sunny [\s\S]*\[cut: these are \d+ of 4800/);
  });
});

describe('a request', () => {
  it('has no half of a letter', async () => {
    await using lab = await agentLab([says('Hi.')]);
    await lab.test.say(`half ${'😀'.slice(0, 1)} whole 😀`);
    expect(lab.asked[0]?.body.messages.at(-1)?.content).toBe('half \ufffd whole 😀');
  });

  it('has the pictures of the prompt, and names what the model cannot see', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-pictures-'));
    const path = join(folder, 'cat.png');
    writeFileSync(path, 'cat');
    await using server = await modelServer(says('A cat.'));
    const attachments: PromptAttachment[] = [
      { kind: 'image', path, mimeType: 'image/png' },
      { kind: 'image', url: 'https://example.com/dog.jpg', mimeType: 'image/jpeg' },
      { kind: 'document', name: 'notes.pdf', mimeType: 'application/pdf' },
      { kind: 'image', path: join(folder, 'gone.png'), mimeType: 'image/png' },
    ];
    const request = requestOf({ prompt: 'Who is it?', attachments });
    for await (const _ of providerOf({ url: server.url }).run(request));
    rmSync(folder, { recursive: true });
    const content = server.asked[0]?.body.messages.at(-1)?.content;
    expect(content).toEqual([
      {
        type: 'text',
        text: expect.stringMatching(/notes\.pdf[\s\S]*gone\.png[\s\S]*Who is it\?$/),
      },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,Y2F0' } },
      { type: 'image_url', image_url: { url: 'https://example.com/dog.jpg' } },
    ]);
  });

  it('has the key, the headers and the fields of the settings', async () => {
    await using lab = await agentLab([says('Hi.')], {
      ...{ apiKey: 'k-1', headers: { 'x-team': 'tea' } },
      body: { temperature: 0, stream_options: null },
    });
    await lab.test.say('hello');
    const [{ headers, body } = { headers: {}, body: {} }] = lab.asked;
    expect(headers).toMatchObject({ authorization: 'Bearer k-1', 'x-team': 'tea' });
    expect(body).toMatchObject({ temperature: 0, stream: true });
    expect(body).not.toHaveProperty('stream_options');
  });

  it('is let go of when its turn is stopped, and what was said is kept', async () => {
    let isGone = false;
    const endless: Answer = (response) => {
      response.on('close', () => {
        isGone = true;
      });
      open(response);
      write(response, { content: 'on and on' });
    };
    const clock = virtualClock();
    await using lab = await agentLab([endless], { agent: { timeoutMs: 5_000 } }, { clock });
    const said = lab.test.say('hello');
    while (lab.test.of('agent.output.delta').length === 0) await new Promise(setImmediate);
    await clock.advance(5_000);
    expect(await said).toMatchObject({ status: 'failed' });
    while (!isGone) await new Promise(setImmediate);
    const [, message] = await lab.test.transcript();
    expect(message).toMatchObject({ stopReason: 'aborted', content: [{ text: 'on and on' }] });
  });
});
