import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { compileFunction, constants } from 'node:vm';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { loadLegacyPluginFrom } from '../../../src/openclaw/index.js';
import { createTestKernel, scriptedAgent } from '../../../src/testing/index.js';
import { hostLab } from '../../support/host-lab.js';
import { describeGateway, release } from './gateway-lab.js';

/** Node's own `import()`: the one in this file is the test runner's, which calls no hooks. */
const importModule = compileFunction('return import(specifier)', ['specifier'], {
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
}) as (specifier: string) => Promise<unknown>;

let bin = '';

/** A program that stands in for the one that the plugin `lobster` starts. */
const program = `#!/bin/sh
printf '{"ok":true,"status":"ok","output":["%s"],"requiresApproval":null}' "$4"
`;

beforeAll(() => {
  bin = mkdtempSync(join(tmpdir(), 'sluice-lobster-'));
  writeFileSync(join(bin, 'lobster'), program);
  chmodSync(join(bin, 'lobster'), 0o755);
  vi.stubEnv('PATH', [bin, process.env['PATH'] ?? ''].join(delimiter));
});

afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(bin, { recursive: true });
});

/** Has an agent call a tool of a bundled plugin. */
async function called(plugin: string, tool: string, args: Record<string, unknown>) {
  const openclaw = release?.openClaw ?? '';
  const { kernel } = createTestKernel();
  await using loaded = await loadLegacyPluginFrom(join(openclaw, 'extensions', plugin), {
    ...{ kernel, openclaw, importModule, optionalTools: ['*'] },
  });
  const agent = scriptedAgent([[{ tool, args }, 'Done.']]);
  await using lab = await hostLab({
    ...{ kernel, plugins: [loaded], agents: [{ id: 'main', provider: agent }] },
  });
  const ends: unknown[] = [];
  using _tap = kernel.tap({
    outcome: ({ event }) => {
      if (event.family === 'agent.tool.called') ends.push(event.payload);
    },
  });
  await lab.say('go');
  const offered = agent.requests[0]?.tools?.map(({ name }) => name) ?? [];
  return { loaded, offered, end: ends[0] };
}

describeGateway('the tools of bundled plugins (event pipeline §17.25)', () => {
  it('lobster runs a pipeline, with a program that stands in for its own', async () => {
    const args = { action: 'run', pipeline: 'echo tea' };
    const { loaded, offered, end } = await called('lobster', 'lobster', args);
    expect(loaded).toMatchObject({ status: 'loaded', tools: [{ optional: true }] });
    expect(offered).toEqual(['lobster']);
    const details = { ok: true, status: 'ok', output: ['echo tea'], requiresApproval: null };
    expect(end).toMatchObject({ isError: false, result: { details } });
  });

  it('lobster refuses what it does not do, and so does its schema', async () => {
    const outside = { action: 'run', pipeline: 'x', cwd: '/' };
    expect((await called('lobster', 'lobster', outside)).end).toMatchObject({
      ...{ isError: true, error: 'the tool failed: cwd must be a relative path' },
    });
    expect((await called('lobster', 'lobster', { action: 'fly' })).end).toMatchObject({
      error: expect.stringContaining('arguments.action must be one of run, resume'),
    });
  });

  it('llm-task is called, and says that no model is set', async () => {
    const { offered, end } = await called('llm-task', 'llm-task', { prompt: 'Say 1.' });
    expect(offered).toEqual(['llm-task']);
    expect(end).toMatchObject({
      error: expect.stringContaining('provider/model could not be resolved'),
    });
  });

  it('memory-core has no tool: it asks for a member that is not there, by name', async () => {
    const { loaded, offered } = await called('memory-core', 'memory_search', {});
    expect(offered).toEqual([]);
    expect(loaded.tools).toMatchObject([{ names: ['memory_search', 'memory_get'] }]);
    expect(JSON.stringify(loaded.diagnostics)).toContain('api.runtime.tools.createMemory');
  });
});
