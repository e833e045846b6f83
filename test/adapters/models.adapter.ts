import fc from 'fast-check';
import { allow, cancel, createKernel, type Kernel, type PayloadOf } from 'sluice-kernel';
import { describe, expect, it } from 'vitest';
import { aiSdk } from './agents/ai-sdk.js';
import { host } from './agents/host.js';
import { langChain } from './agents/langchain.js';
import { openAiAgents } from './agents/openai-agents.js';
import { type LabAgent, type LabCall, type LabEnd, type LabRun, labTools } from './lab.js';
import { hastyClock, judgeOptions } from './policies.js';

type Answer = PayloadOf<'agent.llm.returning'>;
const secret = 'sk-HUSH';
type Rule = (answer: Answer) => unknown;

const acme = { extensionId: 'acme', failClosed: true } as const;
const failing = (): never => {
  throw new Error(`out of order, ${secret}`);
};
const clean = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll(secret, '[hidden]'));

/** Words that a generated answer has: the policies below heed them. */
const words = [
  ...['rm -rf /', 'ls', secret, 'DROP', 'ADD', 'TWICE', 'RENAME', 'EMPTY', 'OPEN'],
  ...['POISON', 'CODE', 'THROW', 'NOTHING', 'EXPLODE', 'WOBBLE', 'HANG', 'NONSENSE'],
];

const mutators: Readonly<Record<string, Rule>> = {
  hide: ({ text, calls }) => clean({ text, calls }),
  DROP: () => ({ calls: [] }),
  ADD: ({ calls }) => ({
    calls: [...calls, { toolCallId: 'mine', toolName: 'shell', params: { command: 'added' } }],
  }),
  TWICE: ({ calls }) => ({ calls: [...calls, ...calls] }),
  RENAME: ({ calls }) => ({
    calls: calls.map((one) => ({ ...one, toolName: 'env', params: { name: 'renamed' } })),
  }),
  EMPTY: () => ({ text: '' }),
  EXPLODE: failing,
  HANG: () => new Promise(() => undefined),
  NONSENSE: () => ({ text: 7 }),
};
const vetoes: Readonly<Record<string, Rule>> = {
  POISON: () => cancel('unsafe', { reply: 'It was unsafe.' }),
  CODE: () => cancel('policy', { text: 'for people alone' }),
  THROW: failing,
  NOTHING: () => undefined,
};

/** A kernel with one set of policies about models, for every agent. */
function policies(): Kernel {
  const kernel = createKernel({ clock: hastyClock });
  const family = 'agent.llm.returning';
  const contribute = (id: string, how: object, rule: Rule, otherwise?: unknown) =>
    kernel.contribute({
      ...{ ...acme, family, id, timeoutMs: 5, ...how },
      handler: ({ payload }: { payload: Answer }) =>
        id === 'hide' || JSON.stringify(payload).includes(id) ? rule(payload) : otherwise,
    } as never); // rules are rows
  for (const [id, rule] of Object.entries(mutators)) contribute(id, { class: 'mutator' }, rule);
  for (const [id, rule] of Object.entries(vetoes)) contribute(id, { class: 'veto' }, rule, allow());
  contribute('WOBBLE', { class: 'mutator', failClosed: false }, failing);
  contribute('OPEN', { class: 'veto', failClosed: false }, failing);
  kernel.contribute({
    ...{ ...acme, family: 'agent.llm.calling', class: 'veto', id: 'asked' },
    handler({ payload: { prompt } }) {
      if (prompt === 'REFUSE') return cancel('policy', { reply: 'Not asked.' });
      if (prompt === 'REFUSE-code') return cancel('budget-exceeded');
      return prompt === 'REFUSE-throw' ? failing() : allow();
    },
  });
  kernel.contribute({
    ...{ ...acme, family: 'agent.tool.calling', class: 'veto', id: 'rm' },
    handler: ({ payload: { params } }) =>
      String(params['command']).includes('rm ') ? cancel('policy', { text: 'No.' }) : allow(),
  });
  return kernel;
}

const said = fc
  .array(fc.constantFrom(...words), { minLength: 1, maxLength: 2 })
  .map((all) => all.join(' '));
const asked = fc.record({
  prompt: fc.oneof(
    { weight: 9, arbitrary: fc.constant('go') },
    { weight: 1, arbitrary: fc.constantFrom('REFUSE', 'REFUSE-code', 'REFUSE-throw') },
  ),
  text: said,
  commands: fc.array(said, { maxLength: 2 }),
});
const runs = fc.sample(asked, { numRuns: 200, seed: 36 });

/** A run of one answer: what ran, the results that the model has read, and what was said and shown. */
async function runOf(agent: LabAgent, run: Partial<LabRun> & { readonly kernel: Kernel }) {
  const { tools, ran } = labTools();
  let end: LabEnd = { said: [], shown: '', asked: '' };
  const results = await agent({
    ...{ options: judgeOptions, tools, answers: [[]], ...run },
    end(one) {
      end = one;
    },
  });
  return {
    ...end,
    said: end.said.filter((text) => text !== ''),
    results: Object.values(results),
    ran,
  };
}

const shell = (command: string, id = 'c0'): LabCall => ({ id, name: 'shell', args: { command } });

async function verdicts(agent: LabAgent, how: Partial<LabRun> = {}) {
  const all = [];
  for (const { prompt, text, commands } of runs) {
    const answers = [commands.map((command, at) => shell(command, `c${at}`))];
    const run = await runOf(agent, { kernel: policies(), prompt, answers, says: [text], ...how });
    if (how.isUnjudged !== true && agent !== host)
      expect([text, commands, `${run.shown}${run.asked}`.includes(secret)]).toEqual([
        text,
        commands,
        false,
      ]);
    all.push({ said: run.said, results: run.results, ran: run.ran });
  }
  return all;
}

const frameworks = [
  ['the AI SDK', aiSdk],
  ['the OpenAI Agents SDK', openAiAgents],
  ['LangChain', langChain],
] as const;
const expected = verdicts(host);

describe('two hundred generated answers of models under one set of policies (§16.32, §16.33)', () => {
  it('have each kind of end in the host', async () => {
    const ends = (await expected).map((one) => JSON.stringify(one));
    for (const end of [
      ...[
        '"Not asked."',
        '"[withheld: budget-exceeded]"',
        '"It was unsafe."',
        '"[withheld: policy]"',
      ],
      ...['"[withheld: a handler that guards answers failed]"', '[hidden]', '"No."', '"ran added"'],
      ...['"name":"renamed"', 'WOBBLE', 'OPEN', '"Done."'],
    ])
      expect(
        ends.some((one) => one.includes(end)),
        end,
      ).toBe(true);
  });

  describe.each(frameworks)('%s', (_, agent) => {
    it.each([false, true])(
      'shows, runs and reads what the host does (streamed: %s)',
      async (isStreamed) => {
        expect(await verdicts(agent, { isStreamed })).toEqual(await expected);
      },
      60_000,
    );

    it('does something else without its judge', async () => {
      const judged = await expected;
      const other = (await verdicts(agent, { isUnjudged: true })).filter(
        (one, at) => JSON.stringify(one) !== JSON.stringify(judged[at]),
      );
      expect(other.length).toBeGreaterThan(100);
    });
  });
});
