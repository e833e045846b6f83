import { loadForTest } from 'sluice/testing';
import { describe, expect, it } from 'vitest';
import acp from '../src/index.js';
import { acpLab, command } from './acp-lab.js';
import { slow, take } from './turns.js';

describe('the session of a program', () => {
  const history = [
    { role: 'user', content: 'first' },
    { role: 'assistant', content: [{ type: 'text', text: 'one' }] },
    { role: 'user', content: 'second' },
    { role: 'assistant', content: [{ type: 'text', text: 'two' }] },
  ] as const;

  it(
    'goes on with ours, is told the system prompt once, and what another agent has answered',
    async () => {
      await using lab = acpLab();
      await take(lab, 'first', { systemPrompt: 'Be kind.' });
      const { said } = await take(lab, 'whole', { systemPrompt: 'Be kind.', history });
      expect(JSON.parse(said)).toBe(
        '<conversation_so_far>\nuser: second\nassistant: two\n</conversation_so_far>\n\nwhole',
      );
      const changed = await take(lab, 'whole', { systemPrompt: 'Be brief.', history });
      expect(JSON.parse(changed.said)).toMatch(/^<instructions>\nBe brief\.\n/);
    },
    slow,
  );

  it.each(['load', 'resume'])(
    'survives the process of the program if it offers session/%s',
    async (OFFERS) => {
      const first = acpLab({ env: { OFFERS } });
      const { kept } = await take(first, 'first');
      await first.agent[Symbol.asyncDispose]();
      await using next = acpLab({ env: { OFFERS } }, first.folder);
      const given = { providerSession: kept.at(-1) ?? '', history: history.slice(0, 2) };
      const { said, events } = await take(next, 'heard', given);
      expect(said).toBe('first, heard');
      expect(events.filter(({ type }) => type === 'message_start')).toHaveLength(1); // what the program repeats is heard by nobody
    },
    slow,
  );

  it.each([
    ['it is not kept by the program', { OFFERS: 'none' }, {}],
    ['the program does not know it', {}, { providerSession: '{"id":"gone","heard":1}' }],
    ['its token is not understood', {}, { providerSession: 'gone' }],
    ['the prompt was begun before', {}, { begun: [] }],
  ])(
    'is a new one that is told all if %s',
    async (_, env, given) => {
      const first = acpLab({ env });
      const { kept } = await take(first, 'first');
      await first.agent[Symbol.asyncDispose]();
      await using next = acpLab({ env }, first.folder);
      const providerSession = kept.at(-1) ?? '';
      const { said } = await take(next, 'whole', { providerSession, history, ...given });
      expect(JSON.parse(said)).toContain('user: first\nassistant: one\nuser: second');
    },
    slow,
  );

  it(
    'begins in the mode that is set',
    async () => {
      await using lab = acpLab({ mode: 'plan' });
      expect((await take(lab, 'heard')).said).toBe('mode plan, heard');
      expect((await take(lab, 'heard')).said).toBe('mode plan, heard, heard');
    },
    slow,
  );
});

describe('the extension', () => {
  it(
    'provides an agent for each command that is asked for, and ends the programs when it is unloaded',
    async () => {
      const test = await loadForTest(acp, {
        config: { asked: [command, 'other --acp'], lateMs: 0 },
      });
      const [agent] = test.provided('agent');
      expect(test.provided('agent').map(({ id }) => id)).toEqual([
        `acp:${command}`,
        'acp:other --acp',
      ]);
      if (agent === undefined) throw new Error('there is no agent');
      const { said } = await take({ provider: agent.provider }, 'pid');
      await test[Symbol.asyncDispose]();
      expect(() => process.kill(Number(said), 0)).toThrow('ESRCH');
    },
    slow,
  );
});
