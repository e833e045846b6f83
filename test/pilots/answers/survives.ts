import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  calls,
  modelServer,
  type Answer as Reply,
  says,
} from '../../../extensions/openai/test/model-server.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import {
  type Answer,
  answers,
  type Cut,
  endsOf,
  idOf,
  placeOf,
  press,
  stopOf,
  textsOf,
  until,
} from './cuts.js';
import { type AgentName, agentNames } from './fixtures/agents.js';

/** The words of a stop, of each agent: nobody reads them. */
const wordsOfStop =
  /nobody waits|no result of|was stopped|interrupted|turn ended|not used|not come again|host stops|journal|away|cut off here/i;

/** What comes of the question, in the words of each agent. */
const told: Readonly<Record<Answer, RegExp>> = {
  open: /I have deployed v2\./,
  allowed: /I have deployed v2\./,
  denied: /a human denied it|It was refused/,
  expired: /no human allowed it in time|It was refused/,
};

/** A model that takes each result of a tool as final. If it has none, it makes a call, each time with other arguments. */
const model: Reply = (response, asked) => {
  const { messages, tools = [] } = asked.body;
  const names = tools.map((tool) => tool.function.name);
  const tool = names.find((one) => one.startsWith('mcp__')) ?? 'deploy';
  const [result] = messages.flatMap(({ role, content }) => (role === 'tool' ? [content] : []));
  const what = messages.findLast(({ role }) => role === 'user')?.content;
  const reply =
    result === undefined ? calls([tool, { what, nonce: randomUUID() }]) : says(String(result));
  return reply(response, asked);
};

const linesOf = (file: string): readonly string[] =>
  existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];

/** The row of the matrix for a way in which a turn is cut off: with each agent, and each thing that becomes of the question. */
export function answersSurvive(
  name: string,
  cut: Cut,
  agents: readonly AgentName[] = agentNames,
): void {
  const whole = process.env['ANSWERS'] === 'whole'; // else two of the four answers for each agent, in turns
  describe.each(agents)(`the answer of a human to the agent %s survives ${name}`, (agent) => {
    const turn = agents.indexOf(agent) + name.length;
    it.each(answers.filter((_, at) => whole || (at + turn) % 2 === 0))(
      'if the question is %s meanwhile: the call is made again, and the person hears what came of it (judgement §4.33, judgement §4.34)',
      async (answer) => {
        using folder = temporaryFolder();
        await using server = await modelServer(model);
        const place = placeOf(folder.path, server.url);
        const { host, clock, before, id } = await cut({ agent, answer, place });
        const ran = () => linesOf(join(folder.path, 'ran.txt'));
        if (answer === 'open') {
          expect(ran()).toEqual([]);
          press(host, id, 'allowed');
        }
        await until(() => endsOf(host).length > 0, clock, 'it never ended');
        expect(endsOf(host)).toEqual(['answered']);
        expect(host.questions().filter((one) => idOf(one) !== id)).toEqual([]); // another call would be another question
        expect(ran()).toEqual(answer === 'open' || answer === 'allowed' ? ['v2'] : []);
        if (before !== undefined) await stopOf(before, clock);
        const texts = [...(before === undefined ? [] : textsOf(before)), ...textsOf(host)];
        expect(texts.filter((text) => told[answer].test(text))).toHaveLength(1);
        const asked = server.asked.map(({ body }) => JSON.stringify(body.messages));
        const read = [...texts, ...linesOf(join(folder.path, 'read.txt')), ...asked];
        expect(read.filter((text) => wordsOfStop.test(text))).toEqual([]);
        await stopOf(host, clock);
      },
    );
  });
}
