import fc from 'fast-check';
import { defineExtension } from 'sluice';
import { virtualClock } from 'sluice/testing';
import { describe, expect, it } from 'vitest';
import type { ChatMessage } from '../src/chat-messages.js';
import { agentLab, providerOf, requestOf, weather } from './agent-lab.js';
import {
  type Answer,
  calls,
  fails,
  modelServer,
  open,
  part,
  parts,
  says,
  write,
} from './model-server.js';
import { strict } from './strict-roles.js';

const rome = calls(['weather', { city: 'Rome' }]);

/** The ways in which a turn may go, each with the answers of the model. */
const ways: Readonly<Record<string, readonly Answer[]>> = {
  good: [says('Fine.')],
  down: [fails(503, { message: 'Loading model' })],
  cut: [parts({ content: 'The first half' }, 'data: {"error": {"message": "gone"}}\n\n')],
  thinking: [parts({ reasoning_content: 'Hm.' }, part({}, 'stop'))],
  silent: [parts({ content: '' }, part({}, 'stop'))],
  blank: [says(' ')],
  called: [rome, says('Sunny.')],
  'called, then down': [rome, fails(500)],
  'called, then silent': [rome, parts(part({}, 'stop'))],
  'called without a word, then cut': [parts({ content: 'I look' }, ...weatherCall()), fails(500)],
  filtered: [parts({ content: 'The b' }, part({}, 'content_filter'))],
};

/** A text and a call in one answer. */
function weatherCall(): readonly object[] {
  const called = { name: 'weather', arguments: '{"city":"Oslo"}' };
  return [part({ tool_calls: [{ index: 0, id: 'c', function: called }] }), part({}, 'tool_calls')];
}

/** A question that begins a turn: it ends with the words of the person. */
function isBegin(messages: readonly ChatMessage[]): boolean {
  return /^(?:a turn that is|are you there)/.test(String(messages.at(-1)?.content));
}

const giving = defineExtension({ id: 'giving', setup: (api) => api.provide('tool', weather) });

describe('a conversation with a server that wants roles to alternate (event-pipeline §16.29)', () => {
  it('goes on, whatever became of its turns', async () => {
    const way = fc.constantFrom(...Object.keys(ways));
    await fc.assert(
      fc.asyncProperty(fc.array(way, { minLength: 1, maxLength: 5 }), async (turns) => {
        const answers = [...turns.flatMap((turn) => ways[turn] ?? []), says('Still here.')];
        const once = { agent: { attempts: 1 } };
        await using lab = await agentLab(answers.map(strict), once, { extensions: [giving] });
        for (const turn of turns) await lab.test.say(`a turn that is ${turn}`);
        expect(await lab.test.say('are you there?')).toMatchObject({ status: 'answered' });
        expect(lab.test.replies().at(-1)).toBe('Still here.');
        // each request begins with the one before, so that what a server has kept of it holds
        const begins = lab.asked.map(({ body }) => body.messages).filter(isBegin);
        expect(begins).toHaveLength(turns.length + 1);
        for (const [at, messages] of begins.entries())
          expect(begins[at + 1]?.slice(0, messages.length) ?? messages).toEqual(messages);
      }),
      { numRuns: 25 },
    );
  });

  it('goes on after a turn that was stopped in its middle', async () => {
    const endless: Answer = (response) => {
      open(response);
      write(response, { content: 'on and on' });
    };
    const clock = virtualClock();
    const answers = [endless, says('Fine.')].map(strict);
    await using lab = await agentLab(answers, { agent: { timeoutMs: 5_000 } }, { clock });
    const said = lab.test.say('hello');
    while (lab.test.of('agent.output.delta').length === 0) await new Promise(setImmediate);
    await clock.advance(5_000);
    await said;
    expect(await lab.test.say('and now?')).toMatchObject({ status: 'answered' });
  });

  it('goes on after a message without words', async () => {
    await using lab = await agentLab([says('Fine.')].map(strict));
    await lab.test.say('');
    expect(await lab.test.say('hello')).toMatchObject({ status: 'answered' });
  });

  it.each([
    ['a call that has no result', [{ type: 'toolCall', id: 'c', name: 'weather', arguments: {} }]],
    ['a text that was not sent', [{ type: 'text', text: 'It is' }]],
    ['a thought', [{ type: 'thinking', thinking: 'Hm.' }]],
  ] as const)('goes on after a kill that left %s', async (_, content) => {
    await using server = await modelServer(strict(says('Fine.')));
    const begun = [{ role: 'assistant' as const, content }];
    const told: string[] = [];
    const request = requestOf({ begun });
    for await (const event of providerOf({ url: server.url }).run(request)) told.push(event.type);
    expect(told.at(-1)).toBe('agent_end');
    expect(server.asked[0]?.body.messages.at(-1)?.role).not.toBe('assistant');
  });
});
