import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Kernel } from '../../src/kernel/internal.js';
import { registerLegacyHook } from '../../src/openclaw/index.js';
import type { AgentRequest } from '../../src/sdk/stream/index.js';
import { end, scripted, start, turnLab } from '../support/turn-lab.js';

/** What a prompt hook answers. */
interface Answer {
  readonly systemPrompt?: string | undefined;
  readonly prependContext?: string | undefined;
  readonly prependSystemContext?: string | undefined;
  readonly appendSystemContext?: string | undefined;
}
type Field = keyof Answer;

interface Composed {
  readonly prompt: string;
  readonly systemPrompt: string | undefined;
}

type Hook = 'before_prompt_build' | 'before_agent_start';

const text = fc.oneof(
  fc.string({ minLength: 1 }).map((word) => `a ${word}`),
  fc.constantFrom('one\n', '  two  ', '', ' ', '\n'),
);
const answer: fc.Arbitrary<Answer> = fc.record(
  {
    systemPrompt: text,
    prependContext: text,
    prependSystemContext: text,
    appendSystemContext: text,
  },
  { requiredKeys: [] },
);
const hooks = fc.record({
  before_prompt_build: fc.array(answer, { maxLength: 3 }),
  before_agent_start: fc.array(answer, { maxLength: 3 }),
});
const base = fc.option(
  fc.string({ minLength: 1 }).map((word) => `Base ${word}\n`),
  { nil: undefined },
);

function register(kernel: Kernel, hookName: Hook, answers: readonly Answer[]): void {
  answers.forEach((given, at) => {
    const registration = { pluginId: `plugin-${at}`, hookName, handler: () => ({ ...given }) };
    registerLegacyHook(kernel, registration as never, { trusted: true }); // the types know no `undefined`
  });
}

/** Runs a turn, and gives what its provider was asked. */
async function asked(
  systemPrompt: string | undefined,
  given: Readonly<Record<Hook, readonly Answer[]>>,
): Promise<Composed> {
  let request: AgentRequest | undefined;
  const provider = scripted(async function* (one) {
    request = one;
    yield start;
    yield end();
  });
  const { result } = turnLab({
    provider,
    ...(systemPrompt !== undefined && { systemPrompt }),
    message: { text: 'Ask.' },
    contribute: (kernel) => {
      register(kernel, 'before_agent_start', given.before_agent_start);
      register(kernel, 'before_prompt_build', given.before_prompt_build);
    },
  });
  await result;
  if (request === undefined) throw new Error('it was not asked');
  return { prompt: request.prompt, systemPrompt: request.systemPrompt };
}

/** The composition of the live system, written down from its facts (1.7); blank pieces say nothing. */
function composed(
  systemPrompt: string | undefined,
  given: Readonly<Record<Hook, readonly Answer[]>>,
): Composed {
  const inOrder = [...given.before_prompt_build, ...given.before_agent_start];
  const all = (field: Field): readonly string[] =>
    inOrder.flatMap((one) => one[field] ?? []).filter((piece) => piece.trim() !== '');
  const last = (hook: Hook): string | undefined =>
    given[hook].flatMap((one) => one.systemPrompt ?? []).at(-1);
  const replaced = (last('before_prompt_build') ?? last('before_agent_start') ?? '').trim();
  const system = replaced === '' ? systemPrompt : replaced;
  const around = [...all('prependSystemContext'), system ?? '', ...all('appendSystemContext')];
  const pieces = around.filter((piece) => piece.trim() !== '');
  const isAlone = pieces.every((piece) => piece === system);
  return {
    prompt: [...all('prependContext'), 'Ask.'].join('\n\n'),
    systemPrompt:
      pieces.length === 0
        ? undefined
        : isAlone
          ? system
          : pieces.map((piece) => piece.trim()).join('\n\n'),
  };
}

it('is composed as the live system does, whatever its prompt hooks answer (§16.9)', async () => {
  await fc.assert(
    fc.asyncProperty(base, hooks, async (systemPrompt, given) => {
      expect(await asked(systemPrompt, given)).toEqual(composed(systemPrompt, given));
    }),
    { numRuns: 300 },
  );
});

it('keeps what before_prompt_build said of the system prompt, whatever before_agent_start says later', async () => {
  const given = {
    before_prompt_build: [{ systemPrompt: 'From the newer hook.' }],
    before_agent_start: [{ systemPrompt: 'From the older hook.' }],
  };
  expect((await asked('Base.', given)).systemPrompt).toBe('From the newer hook.');
});

it('is not replaced by a blank system prompt', async () => {
  const given = { before_prompt_build: [{ systemPrompt: ' \n' }], before_agent_start: [] };
  expect((await asked('Base.', given)).systemPrompt).toBe('Base.');
});
