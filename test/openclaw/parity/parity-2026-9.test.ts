import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { select } from '../../../src/kernel/internal.js';
import { compareParity, openclawHookRunner } from '../../../src/openclaw/parity/index.js';

const profile = '2026.9';

interface Api {
  on(hook: string, handler: (event: never, ctx: never) => unknown, options?: object): void;
}

/** A plugin that answers one text itself, and guards one tool. */
const plugin = (api: Api): void => {
  api.on('before_agent_reply', ({ cleanedBody }: { readonly cleanedBody: string }) =>
    cleanedBody === 'time?' ? { handled: true, reply: { text: 'nine' } } : undefined,
  );
  api.on('before_tool_call', () => ({ block: true }), { matcher: ['exec'] });
};

const asked = { profile, hook: 'before_agent_reply', plugin, ctx: {} } as const;

/** A folder with a bundle that has the runner in a file of its own, as openclaw@2026.9 does. */
let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'openclaw-'));
  mkdirSync(join(folder, 'dist'));
  const file = join(folder, 'dist', 'hooks-Ab1.mjs');
  writeFileSync(
    file,
    `const first = 1;
function createHookRunner(registry, options) {
  const run = async (event, ctx) => {
    for (const { handler } of registry.typedHooks) {
      const result = await handler(event, ctx);
      if (result?.handled) return { ...result, policy: options.failurePolicyByHook.before_agent_run };
    }
  };
  return { runBeforeAgentReply: run };
}
export { first as a, createHookRunner as t };
`,
  );
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('a comparison in profile 2026.9 (event-pipeline §17.27)', () => {
  it('loads a plugin with the api of the profile, and calls its hooks', async () => {
    const report = await compareParity({ ...asked, event: { cleanedBody: 'time?' } });
    expect(report.differences).toEqual([]);
    expect(report.pipeline.ending).toEqual({
      kind: 'returned',
      value: { handled: true, reply: { text: 'nine' } },
    });
  });

  it('keeps the options of api.on', async () => {
    const call = { profile, hook: 'before_tool_call', plugin, ctx: { toolName: 'read' } } as const;
    const report = await compareParity({ ...call, event: { toolName: 'read', params: {} } });
    expect([report.equal, report.pipeline.calls]).toEqual([true, []]);
  });

  it('shows that an extension does something else', async () => {
    const report = await compareParity({
      ...asked,
      event: { cleanedBody: 'time?' },
      pipeline: (kernel) =>
        kernel.contribute({
          ...{ family: 'agent.answer.resolving', class: 'resolver', extensionId: 'e', id: 'ten' },
          handler: () => select({ text: 'ten' }),
        }),
    });
    expect(report.differences).toEqual([
      { path: 'result.reply.text', legacy: 'nine', pipeline: 'ten' },
    ]);
  });

  it('finds the runner of a later release, and has it fail closed as its gateway does', async () => {
    const legacyRunner = await openclawHookRunner(folder);
    const report = await compareParity({
      ...{ ...asked, legacyRunner, event: { cleanedBody: 'time?' } },
    });
    expect(report.differences.map(({ path, legacy }) => [path, legacy])).toContainEqual([
      'result.policy',
      'fail-closed',
    ]);
  });
});
