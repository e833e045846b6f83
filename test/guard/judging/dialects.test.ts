import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { createKernel, systemClock } from 'sluice';
import { afterAll, describe, expect, it } from 'vitest';
import type {
  AgentCodec,
  CommonTool,
  JsonObject,
  Verdict,
} from '../../../extensions/guard/src/agents/codec.js';
import { agents } from '../../../extensions/guard/src/agents/index.js';
import { Judge } from '../../../extensions/guard/src/judging/judge.js';
import { policiesOf } from '../../../extensions/policies/src/index.js';
import { documented } from '../agents/dialects.js';

const home = realpathSync.native(mkdtempSync(join(tmpdir(), 'guard-dialects-')));
mkdirSync(join(home, 'work/src'), { recursive: true });
mkdirSync(join(home, 'secret'));
symlinkSync('../secret', join(home, 'work/link'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const text = `
- id: no-deletion
  family: agent.tool.calling
  match: { toolName: shell }
  deny when: "runs(params.command, 'rm -rf *')"
  text: nothing is deleted so
  expect: [{ payload: { toolName: shell, params: { command: rm -rf / } }, is: denied }]
- id: no-secret
  family: agent.tool.calling
  match: { toolName: [read, write] }
  deny when: "has(params.path) && glob(params.path, '${home}/secret/*')"
  text: it is secret
  expect: [{ payload: { toolName: read, params: { path: ${home}/secret/key } }, is: denied }]
- id: no-key-in-files
  family: agent.tool.calling
  match: { toolName: write }
  deny when: "params.content.contains('sk-')"
  text: a key stays out of files
  expect: [{ payload: { toolName: write, params: { content: sk-1 } }, is: denied }]
- id: own-sites
  family: agent.tool.calling
  match: { toolName: fetch }
  deny when: "has(params.url) && !params.url.startsWith('https://example.com/')"
  text: only our own site
  expect: [{ payload: { toolName: fetch, params: { url: 'http://x/' } }, is: denied }]
`;
const kernel = createKernel();
for (const { id, family, options, handler } of (await policiesOf([{ file: 'p.yaml', text }])).rules)
  kernel.contribute({ id, family, ...options, handler, class: 'veto', extensionId: 'guard' });
kernel.contribute({
  ...{ id: 'mark', family: 'agent.tool.calling', class: 'mutator', extensionId: 'lab' },
  handler: ({ payload }) =>
    payload.toolName === 'shell' && String(payload.params['command']).startsWith('ls')
      ? { params: { ...payload.params, command: 'ls -l' } }
      : undefined,
});
const judge = new Judge({
  kernel,
  clock: systemClock,
  roles: [],
  policies: 'sha256:0',
  onAsk: undefined,
});

interface Shared {
  readonly is: CommonTool;
  readonly params: JsonObject;
}

const path = fc.constantFrom(
  ...['a.txt', 'src/../a.txt', 'link/key', '../secret/key', 'src/../../secret/key', '~/x'],
  ...['link/../a.txt', 'a\0', '/etc/passwd', `${home}/secret/none/deep`, './link/./key', ''],
);
const shared: fc.Arbitrary<Shared> = fc.oneof(
  fc
    .constantFrom("r''m -fr /", 'ls', 'ls -a', '$x -rf /', 'git log --grep "rm -rf"', 'rm a', 'if')
    .map((command) => ({ is: 'shell' as const, params: { command } })),
  path.map((one) => ({ is: 'read' as const, params: { path: one } })),
  fc
    .tuple(path, fc.constantFrom('hello', 'key: sk-123', ''))
    .map(([one, content]) => ({ is: 'write' as const, params: { path: one, content } })),
  fc
    .constantFrom('https://example.com/a', 'HTTPS://EXAMPLE.com:443/', 'http://example.com.x/', 'x')
    .map((url) => ({ is: 'fetch' as const, params: { url } })),
);

/** A call as an agent says it, by each of its tools that has all the words. */
function spoken({ tools }: AgentCodec, call: Shared): readonly (readonly [string, JsonObject])[] {
  return Object.entries(tools).flatMap(([toolName, { is, params }]) => {
    if (is !== call.is) return [];
    const names = Object.entries(params);
    const own = Object.entries(call.params).map(
      ([name, value]) => [names.find(([, one]) => one === name)?.[0], value] as const,
    );
    const said = own.flatMap(([name, value]) => (name === undefined ? [] : [[name, value]]));
    return said.length < own.length ? [] : [[toolName, Object.fromEntries(said)] as const];
  });
}

/** Speaks the call through the hook of an agent, and gives the verdict with the changed words in the shared ones. */
async function verdictOn(codec: AgentCodec, toolName: string, params: JsonObject) {
  const point = codec.points['agent.tool.calling'];
  const template = documented.find(
    (one) => one.agent === codec.agent && one.point === 'agent.tool.calling',
  );
  if (point === undefined || template === undefined) throw new Error('no calls are heard');
  const words = (name: string, value: unknown): unknown => {
    if (/^(cwd|directory)$/.test(name)) return join(home, 'work');
    if (/^(tool_name|toolName|tool)$/.test(name)) return toolName;
    return /^(tool_input|toolArgs|args)$/.test(name) ? params : value;
  };
  const input = Object.fromEntries(
    Object.entries(template.input).map(([name, value]) => [name, words(name, value)]),
  );
  const heard = point.read(input);
  const { signal } = new AbortController();
  const verdict: Verdict = await judge.verdict({
    ...{ point: 'agent.tool.calling', codec, heard, signal },
    ...{ takesChanges: point.takesChanges, untilMs: Number.MAX_SAFE_INTEGER },
  });
  if (verdict.status === 'refused') return verdict.reason;
  if (verdict.params === undefined) return 'allowed';
  const alias = codec.tools[toolName]?.params ?? {};
  return Object.entries(verdict.params).map(([own, value]) => `${alias[own]}: ${value}`);
}

describe('one rule for all agents', () => {
  it('gives one verdict on a call in whatever dialect it is spoken: 200 calls', async () => {
    const seen = new Map<string, Set<string>>();
    await fc.assert(
      fc.asyncProperty(shared, async (call) => {
        const all = agents.flatMap((codec) =>
          spoken(codec, call).map(([toolName, params]) => [codec, toolName, params] as const),
        );
        const verdicts = await Promise.all(all.map((one) => verdictOn(...one)));
        expect(verdicts.length).toBeGreaterThan(1);
        for (const verdict of verdicts) expect(verdict).toEqual(verdicts[0]);
        const kinds = seen.get(call.is) ?? new Set();
        seen.set(call.is, kinds.add(String(verdicts[0])));
      }),
      { numRuns: 200 },
    );
    expect(seen.get('shell')).toContain('command: ls -l');
    for (const is of ['shell', 'read', 'write', 'fetch'])
      expect([...(seen.get(is) ?? [])], is).toSatisfy(
        (kinds: readonly string[]) => kinds.includes('allowed') && kinds.length > 1,
      );
  });

  it('hears of a shell in the words of every agent', () => {
    for (const codec of agents)
      expect(spoken(codec, { is: 'shell', params: { command: 'ls' } }), codec.agent).not.toEqual(
        [],
      );
  });
});
