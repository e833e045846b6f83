import { ask, createKernel } from 'sluice-kernel';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { aiSdk } from './agents/ai-sdk.js';
import { host } from './agents/host.js';
import { langChain } from './agents/langchain.js';
import { openAiAgents } from './agents/openai-agents.js';
import { type LabAgent, labTools } from './lab.js';
import { generatedAnswers, judgeOptions, policies } from './policies.js';

const answers = generatedAnswers(200);
const calls = answers.flat();

/** What became of each call: the arguments that its tool ran with, if it ran, and the words that the model has read. */
async function verdicts(
  agent: LabAgent,
  how: { isStreamed?: boolean; isUnjudged?: boolean; unjudged?: readonly string[] } = {},
) {
  const { tools, ran } = labTools();
  const { unjudged = [], ...rest } = how;
  const options = { ...judgeOptions, unjudged };
  const read = await agent({ kernel: policies(), options, tools, answers, ...rest });
  const runs = ran.map(({ name, params }) => JSON.stringify([name, params])).sort();
  return { read: Object.fromEntries(calls.map(({ id }) => [id, plain(read[id])])), runs };
}

/** Words without those that each framework has of its own: of a schema, and before a failure. */
function plain(text: string | undefined): string | undefined {
  return text?.replace(/^the tool (did not run|failed: Received tool input).*$/, 'unfit');
}

/** A run that is aborted at a point: what ran, and which handlers were called. */
async function aborted(agent: LabAgent, point: string) {
  const stop = new AbortController();
  const kernel = createKernel();
  const called: string[] = [];
  const at = (here: string): void => {
    called.push(here);
    if (here === point) stop.abort();
  };
  const acme = { extensionId: 'acme', failClosed: true } as const;
  kernel.contribute({
    ...{ ...acme, family: 'agent.tool.calling', class: 'veto', id: 'a' },
    handler: () => {
      at('judged');
      return ask({ title: 'Run it?' });
    },
  });
  for (const id of ['b', 'c'])
    kernel.contribute({
      ...{ ...acme, family: 'agent.tool.returning', class: 'mutator', id },
      handler: async ({ payload: { result } }) => {
        at('returning');
        return { result: { ...result, content: [{ type: 'text', text: '[hidden]' }] } };
      },
    });
  const { tools, ran } = labTools([
    {
      name: 'wipe',
      parameters: z.strictObject({}),
      execute: () => {
        at('running');
        return 'sk-SECRET';
      },
    },
  ]);
  const onAsk = () => {
    at('asked');
    return true;
  };
  const answers = [[{ id: 'c', name: 'wipe', args: {} }]];
  const options = { ...judgeOptions, onAsk };
  const read = await agent({ kernel, options, tools, answers, signal: stop.signal });
  expect(JSON.stringify(read)).not.toContain('sk-SECRET');
  return { ran, called };
}

const expected = verdicts(host);

describe('two hundred generated calls under one set of policies (§16.31)', () => {
  it('have each kind of end in the host', async () => {
    const { read, runs } = await expected;
    const ends = calls.map(({ id }) => read[id] ?? '(nothing)');
    for (const end of [
      /^No removals\.$/,
      /^blocked$/,
      /threw in/,
      /timed-out in/,
      /bad-output in/,
      /^ran patched$/,
      /"limit":10\}/,
      /^a human denied it$/,
      /^a human denied it: not now$/,
      /^no human allowed it in time$/,
      /^nobody could be asked: offline$/,
      /^ran ASK-(yes|twice)/,
      /\[hidden\]/,
      /^the tool failed: /,
      /^It was unsafe\.$/,
      /^withheld: /,
      /^unfit$/,
      /WOBBLE/,
      /OPEN/,
    ])
      expect(
        ends.some((one) => end.test(one)),
        String(end),
      ).toBe(true);
    expect(ends).not.toContain('(nothing)');
    expect(JSON.stringify(ends)).not.toContain('sk-SECRET has');
    expect(runs.length).toBeGreaterThan(50);
  });

  describe.each([
    ['the AI SDK', aiSdk],
    ['the OpenAI Agents SDK', openAiAgents],
    ['LangChain', langChain],
  ] as const)('%s', (_, agent) => {
    it.each([false, true])(
      'gives the verdicts, arguments and results of the host (streamed: %s)',
      async (isStreamed) => {
        expect(await verdicts(agent, { isStreamed })).toEqual(await expected);
      },
    );

    it.each(['judged', 'asked', 'running', 'returning'])(
      'does what the host does when the run is aborted as a call is %s',
      async (point) => {
        expect(await aborted(agent, point)).toEqual(await aborted(host, point));
      },
    );

    it('gives others without its judge', async () => {
      const { read, runs } = await verdicts(agent, { isUnjudged: true });
      const judged = await expected;
      expect(runs).toHaveLength(calls.length);
      expect(calls.filter(({ id }) => read[id] !== judged.read[id]).length).toBeGreaterThan(100);
    });

    it('leaves tools that `unjudged` names as they are without its judge', async () => {
      const names = labTools().tools.map(({ name }) => name);
      const unjudged = names.filter((name) => name !== 'broken'); // its failure is LangChain's, and ends the run
      const left = calls.filter(({ name }) => unjudged.includes(name));
      const { read } = await verdicts(agent, { unjudged });
      const { read: without } = await verdicts(agent, { isUnjudged: true });
      expect(left.length).toBeGreaterThan(100);
      expect(left.map(({ id }) => read[id])).toEqual(left.map(({ id }) => without[id]));
    });
  });
});
