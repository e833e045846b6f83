import { describe, expect, it } from 'vitest';
import type {
  AgentCodec,
  JsonObject,
  Verdict,
} from '../../../extensions/guard/src/agents/codec.js';
import { codecOf } from '../../../extensions/guard/src/agents/index.js';
import { Judge } from '../../../extensions/guard/src/judging/judge.js';
import { cancel, createKernel, systemClock } from '../../../src/index.js';

const kernel = createKernel();
kernel.contribute({
  ...{ id: 'no-secret', family: 'agent.tool.calling', class: 'veto', extensionId: 'lab' },
  handler: ({ payload: { params } }) =>
    String(params['path']).startsWith('/nowhere/secret') ? cancel('policy') : undefined,
});
kernel.contribute({
  ...{ id: 'mark', family: 'agent.tool.calling', class: 'mutator', extensionId: 'lab' },
  handler: ({ payload: { params } }) =>
    String(params['path']).endsWith('mark') ? { params: { ...params, content: '' } } : undefined,
});
const parts = { kernel, clock: systemClock, roles: [], policies: 'none', onAsk: undefined };
const judge = new Judge(parts);

const patch = (...heads: readonly string[]): string =>
  ['*** Begin Patch', ...heads.flatMap((head) => [`*** ${head}`, '+x']), '*** End Patch'].join(
    '\n',
  );

function judged(agent: string, toolName: string, params: JsonObject): Promise<Verdict> {
  const codec = codecOf(agent) as AgentCodec; // it is a known one
  const { signal } = new AbortController();
  return judge.verdict({
    ...{ point: 'agent.tool.calling', codec, takesChanges: true, signal, untilMs: 1e15 },
    heard: { sessionId: 's', workspaceDir: '/nowhere/work', toolName, params },
  });
}

describe('a call that names several files', () => {
  it.each([
    ['codex', 'command'],
    ['copilot', 'input'],
    ['opencode', 'patchText'],
  ])('of %s is refused if a rule refuses one of them', async (agent, name) => {
    const verdict = (...heads: readonly string[]) =>
      judged(agent, 'apply_patch', { [name]: patch(...heads) });
    expect(await verdict('Add File: a', 'Update File: b')).toEqual({ status: 'allowed' });
    for (const head of [
      ...['Add File: ../secret/key', 'Delete File:/nowhere/secret/key', ' Move to: ../secret/a'],
      'Update File: /nowhere/secret/key\r',
    ])
      expect((await verdict('Update File: a', head)).status, head).toBe('refused');
  });

  it.each([
    [[], /names no file/],
    [['Add File: mark', 'Add File: a'], /changes the call, which names its files/],
  ])('is refused if %j cannot be judged', async (heads, reason) => {
    const verdict = await judged('codex', 'apply_patch', { command: patch(...heads) });
    expect(JSON.stringify(verdict)).toMatch(reason);
  });

  it('may be a list, and no pattern', async () => {
    const read = (include: readonly string[]) => judged('gemini', 'read_many_files', { include });
    expect(await read(['a', 'b/c'])).toEqual({ status: 'allowed' });
    expect(await read(['a', '../secret/key'])).toMatchObject({ status: 'refused' });
    expect(JSON.stringify(await read(['**/*']))).toMatch(/files of a pattern cannot be told/);
  });
});
