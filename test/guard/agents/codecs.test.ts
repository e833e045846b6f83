import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Heard,
  HookInputError,
  type JsonObject,
  type PointCodec,
  points,
} from '../../../extensions/guard/src/agents/codec.js';
import { agents, codecOf } from '../../../extensions/guard/src/agents/index.js';
import { documented, obeyedText, type Spoken } from './dialects.js';

function codecFor({ agent, point }: Spoken): PointCodec {
  const codec = codecOf(agent)?.points[point];
  if (codec === undefined) throw new Error(`${agent} has no ${point}`);
  return codec;
}

/** A reading, or the error by its name. */
function reading(codec: PointCodec, input: JsonObject): Heard | string {
  try {
    return codec.read(input);
  } catch (thrown) {
    return (thrown as Error).name;
  }
}

const enforced = documented.filter((spoken) => codecFor(spoken).effect === 'enforced');
const named = (spoken: readonly Spoken[]) =>
  spoken.map((one) => [`${one.agent} ${one.point}`, one] as const);
const reason = 'rm is not allowed here';
const isName = (name: string) => name === 'HookInputError';

describe('codecs of agents', () => {
  it('know each agent by its name, with all points and one input of each', () => {
    expect(agents.map(({ agent }) => agent)).toEqual([...new Set(documented.map((d) => d.agent))]);
    for (const { agent, points: own } of agents) {
      expect(codecOf(agent)?.agent).toBe(agent);
      expect(Object.keys(own)).toEqual([...points]);
    }
    expect(codecOf('constructor')).toBeUndefined();
  });

  it.each(named(documented))('%s reads what its release documents', (_name, spoken) => {
    const heard = codecFor(spoken).read(spoken.input);
    expect(heard.workspaceDir).toBe('/home/ada/shop');
    expect(heard.sessionId).toMatch(/^(b4a1|ses_1)$/);
    if (spoken.point === 'ingress.normalized') expect(heard.prompt).toBe('list it');
    if (!spoken.point.startsWith('agent.tool')) return;
    expect(heard.params).toEqual({ command: 'ls -l' });
    const alias = codecOf(spoken.agent)?.tools[heard.toolName ?? ''];
    expect(alias).toEqual({ is: 'shell', params: { command: 'command' } });
    if (spoken.point === 'agent.tool.returning') expect(heard.result?.text).toMatch(/a(\n|\\n)b/);
  });

  it.each(named(enforced))('%s writes a refusal that its agent obeys', (_name, spoken) => {
    const answer = codecFor(spoken).write({ status: 'refused', reason }, spoken.input);
    expect(answer.exitCode).toBe(0);
    expect(obeyedText(spoken.agent, spoken.point, answer.body)).toBe(reason);
    const empty = codecFor(spoken).write({ status: 'refused', reason: ' ' }, spoken.input);
    expect(obeyedText(spoken.agent, spoken.point, empty.body)).toBe('The guard refuses it.');
  });

  it.each(named(documented))('%s says nothing where nothing is changed', (_name, spoken) => {
    const { write } = codecFor(spoken);
    expect(write({ status: 'allowed' }, spoken.input)).toEqual({ exitCode: 0, body: {} });
  });

  it.each(named(documented.filter(({ point }) => point === 'agent.tool.calling')))(
    '%s gives changed parameters',
    (_name, spoken) => {
      const params = { command: 'ls' };
      const answer = codecFor(spoken).write({ status: 'allowed', params }, spoken.input);
      expect(obeyedText(spoken.agent, spoken.point, answer.body)).toBeUndefined();
      expect(JSON.stringify(answer.body)).toContain('{"command":"ls"}');
    },
  );

  it('refuses a call of Gemini CLI if a rule takes a parameter away', () => {
    const spoken = documented.find((d) => d.agent === 'gemini' && d.point === 'agent.tool.calling');
    if (spoken === undefined) throw new Error('no input');
    const answer = codecFor(spoken).write({ status: 'allowed', params: {} }, spoken.input);
    expect(answer.body).toMatchObject({ decision: 'deny' });
  });

  it.each(named(documented.filter(({ point }) => point === 'agent.tool.returning')))(
    '%s gives a changed result, and nothing of the one before',
    (_name, spoken) => {
      const text = '[withheld]';
      const { body } = codecFor(spoken).write({ status: 'allowed', result: text }, spoken.input);
      expect(JSON.stringify(body)).toContain(text);
      expect(JSON.stringify(body)).not.toMatch(/a(\n|\\n)b/);
      const empty = codecFor(spoken).write({ status: 'allowed', result: '' }, spoken.input);
      expect(JSON.stringify(empty.body)).not.toMatch(/a(\n|\\n)b/);
    },
  );

  it('keeps the shape of a result of Claude Code, and the data of a changed one', () => {
    const codec = codecOf('claude')?.points['agent.tool.returning'];
    const response = [
      { type: 'text', text: 'sk-1' },
      { type: 'text', text: 'b' },
    ];
    const changed = '[{"type":"text","text":"[key]"},{"type":"text","text":"b"}]';
    const input = { tool_response: response };
    const output = (answer: unknown) => Object(answer).body.hookSpecificOutput.updatedToolOutput;
    expect(output(codec?.write({ status: 'allowed', result: changed }, input))).toEqual([
      { type: 'text', text: '[key]' },
      { type: 'text', text: 'b' },
    ]);
    expect(output(codec?.write({ status: 'refused', reason }, input))).toEqual([
      { type: 'text', text: reason },
    ]);
  });

  it.each(named(documented))('%s refuses an input without a field it needs', (_name, spoken) => {
    for (const name of spoken.needed) {
      const { [name]: _gone, ...rest } = spoken.input;
      expect([name, reading(codecFor(spoken), rest)]).toEqual([name, 'HookInputError']);
      const broken = { ...spoken.input, [name]: [1] };
      const isAny = /response|^output$/.test(name) && spoken.agent !== 'gemini';
      if (!isAny)
        expect([name, reading(codecFor(spoken), broken)]).toEqual([name, 'HookInputError']);
    }
  });

  // Issue 40, section 7: a malformed input is a clear refusal, and never a silent pass.
  it.each(named(documented))('%s never misreads a damaged input', (_name, spoken) => {
    const codec = codecFor(spoken);
    const whole = codec.read(spoken.input);
    const fields = Object.keys(spoken.input);
    fc.assert(
      fc.property(fc.constantFrom(...fields), fc.jsonValue(), fc.string(), (name, value, extra) => {
        const more = { ...spoken.input, ...(!fields.includes(extra) && { [extra]: value }) };
        if (extra !== '__proto__' && !isOptional(extra))
          expect(reading(codec, more)).toEqual(whole);
        const damaged = { ...spoken.input, [name]: value };
        const heard = reading(codec, damaged);
        if (typeof heard === 'string') expect(isName(heard)).toBe(true);
        else if (!spoken.needed.includes(name) && !isOptional(name)) expect(heard).toEqual(whole);
        const { body } = codec.write({ status: 'refused', reason }, damaged);
        if (codec.effect === 'enforced') expect(JSON.stringify(body)).toContain(reason);
      }),
      { numRuns: 200 },
    );
    for (const value of [null, 'text', 7, [spoken.input]]) {
      const given = JSON.parse(JSON.stringify(value)); // as a broken agent may send it
      expect(() => codec.read(given)).toThrow(HookInputError);
    }
    const deep = JSON.parse(`${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`);
    for (const name of fields)
      expect(() => codec.read({ ...spoken.input, [name]: deep })).toThrow(HookInputError);
    for (const name of fields)
      expect(() =>
        codec.write({ status: 'refused', reason }, { ...spoken.input, [name]: deep }),
      ).not.toThrow();
  });
});

function isOptional(name: string): boolean {
  return ['last_assistant_message', 'prompt_response'].includes(name);
}
