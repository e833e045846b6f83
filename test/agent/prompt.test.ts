import { expect, it } from 'vitest';
import { composePrompt } from '../../src/agent/index.js';

const base = { prompt: 'Ask.', messages: [], guidance: [], additions: [] };

it('leaves a prompt without additions as it is, and has no system prompt then', () => {
  expect(composePrompt(base, [])).toEqual({ prompt: 'Ask.', systemPrompt: undefined });
});

it('puts additions and context before the prompt and guidance after the system prompt, in their order', () => {
  const built = {
    ...base,
    systemPrompt: 'System.',
    guidance: ['G1', { text: 'G0', position: 'before' as const }, 'G2'],
    additions: ['A1', { text: 'A9', position: 'after' as const }, 'A2'],
  };
  expect(composePrompt(built, ['C1', 'C2'])).toEqual({
    systemPrompt: 'G0\n\nSystem.\n\nG1\n\nG2',
    prompt: 'A1\n\nA2\n\nC1\n\nC2\n\nAsk.\n\nA9',
  });
});

it('puts the bootstrap files that are there into the system prompt', () => {
  const bootstrapFiles = [
    { name: 'SOUL.md', content: 'Be kind.' },
    { name: 'GONE.md', missing: true },
  ];
  expect(composePrompt({ ...base, systemPrompt: 'System.', bootstrapFiles }, []).systemPrompt).toBe(
    'System.\n\n## SOUL.md\n\nBe kind.',
  );
});

it('leaves blank pieces out', () => {
  const built = { ...base, guidance: [' '], additions: [''] };
  expect(composePrompt(built, ['\n'])).toEqual({ prompt: 'Ask.', systemPrompt: undefined });
});
