import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExtensionApi, Principal } from 'sluice';
import { ExtensionSet, givenSource } from 'sluice/extension';
import {
  collectingLogger,
  createTestKernel,
  expectCancelled,
  expectFailed,
  expectPassed,
  loadForTest,
} from 'sluice/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import policies, { PolicyError, policiesOf, problemText, readPolicies } from '../src/index.js';

const noDelete = `
- id: no-rm-rf
  family: agent.tool.calling
  match: { toolName: [Bash, exec], principal.channel: telegram }
  deny when: "params.command.contains('rm -rf') && !('admin' in principal.roles)"
  text: no recursive delete from Telegram
  expect:
    - { payload: { toolName: Bash, params: { command: rm -rf / } }, principal: { channel: telegram }, is: denied }
    - { payload: { toolName: Bash, params: { command: rm -rf / } }, principal: { channel: telegram, roles: [admin] }, is: allowed }
`;

const someone: Principal = {
  channel: 'telegram',
  accountId: 'main',
  senderId: '12345',
  isOwner: false,
  roles: [],
};

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'policies-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('a file of more characters than the parser takes in a moment is refused before it is parsed', async () => {
  const [error] = await policiesOf([{ file: 'p.yaml', text: '- '.repeat(400_000) }]).then(
    () => [],
    (thrown: unknown) => [thrown],
  );
  expect(error).toBeInstanceOf(PolicyError);
  expect(String(error)).toContain('it has 800000 characters, of at most 100000: split it');
});

async function fileOf(text: string): Promise<string> {
  const file = join(folder, `${Math.random().toString(36).slice(2)}.yaml`);
  await writeFile(file, text);
  return file;
}

/** A rule of tool calls with this condition. */
const rule = (condition: string, more = '', is = 'allowed'): string => `
- id: one
  family: agent.tool.calling
  deny when: ${JSON.stringify(condition)}
  ${more}
  expect: [{ payload: { toolName: Read, params: {} }, is: ${is} }]
`;

async function problemsOf(text: string): Promise<readonly string[]> {
  const refused = await policiesOf([{ file: 'p.yaml', text }]).catch((error: unknown) => error);
  if (!(refused instanceof PolicyError)) return [];
  return refused.problems.map(problemText);
}

describe('a rule', () => {
  it.each([
    ['a sender without the role', {}, 'rm -rf /', 'cancelled'],
    ['an admin', { roles: ['admin'] }, 'rm -rf /', 'passed'],
    ['another command', {}, 'ls', 'passed'],
    ['another channel', { channel: 'console' }, 'rm -rf /', 'passed'],
  ] as const)(
    'judges tool calls by the principal: %s (judgement §5.1)',
    async (_, who, command, status) => {
      await using test = await loadForTest(policies, {
        config: { policies: [await fileOf(noDelete)] },
      });
      const principal = { ...someone, ...who };
      const call = { toolName: 'Bash', params: { command } };
      const outcome = await test.dispatch('agent.tool.calling', call, { principal });
      expect(outcome.status).toBe(status);
      if (status === 'cancelled') {
        const text = 'no recursive delete from Telegram';
        expect(
          expectCancelled(outcome, { code: 'policy', by: 'policy/no-rm-rf' }).cancel.text,
        ).toBe(text);
      }
    },
  );

  it('that cannot be evaluated is a failure, closed by default (judgement §5.4)', async () => {
    const text = rule("params.command.contains('x')", '', 'failed');
    await using test = await loadForTest(policies, { config: { policies: [await fileOf(text)] } });
    const outcome = await test.dispatch('agent.tool.calling', { toolName: 'Read', params: {} });
    const { failures } = expectFailed(outcome);
    expect(failures[0]?.message).toContain('No such key: command');
  });

  it('that fails open lets the call pass, and the failure is seen (judgement §5.4)', async () => {
    const text = rule("params.command.contains('x')", 'failClosed: false');
    await using test = await loadForTest(policies, { config: { policies: [await fileOf(text)] } });
    const outcome = await test.dispatch('agent.tool.calling', { toolName: 'Read', params: {} });
    expect(expectPassed(outcome).failures).toHaveLength(1);
  });

  it('reads an absent principal as one without a role, and absent refs as empty (judgement §5.2)', async () => {
    const condition =
      "principal.senderId == '' && !principal.isOwner && size(principal.roles) == 0 && event.accountRef.channel == ''";
    const { rules } = await policiesOf([{ file: 'p.yaml', text: rule(condition, '', 'denied') }]);
    expect(rules).toHaveLength(1);
  });

  it('with "ask when" asks a human, and lets the answer through (judgement §5.1)', async () => {
    const text = `
- id: deploys
  family: agent.tool.calling
  match: { toolName: deploy }
  ask when: "params.to == 'production'"
  title: Deploy to production?
  of: { role: admin }
  expect: [{ payload: { toolName: deploy, params: { to: production } }, is: asked }]
`;
    await using test = await loadForTest(policies, { config: { policies: [await fileOf(text)] } });
    const call = { toolName: 'deploy', params: { to: 'production' } };
    const asked = await test.dispatch('agent.tool.calling', call);
    const { cancel } = expectCancelled(asked, { code: 'approval-required' });
    expect(cancel.question).toMatchObject({
      ...{ title: 'Deploy to production?', of: { role: 'admin' } },
      asker: { extensionId: 'policy', contributionId: 'deploys' },
    });
    const answered = [{ extensionId: 'policy', contributionId: 'deploys' }];
    expectPassed(await test.dispatch('agent.tool.calling', call, { after: asked, answered }));
  });

  it('in audit mode has no effect, until the operator enforces it (judgement §3.1)', async () => {
    const file = await fileOf(rule("toolName == 'Read'", 'mode: audit', 'denied'));
    const overrides = { 'policy/one': { mode: 'enforce' as const } };
    for (const [more, status] of [
      [{}, 'passed'],
      [{ overrides }, 'cancelled'],
    ] as const) {
      await using test = await loadForTest(policies, { config: { policies: [file] }, ...more });
      const outcome = await test.dispatch('agent.tool.calling', { toolName: 'Read', params: {} });
      expect(outcome.status).toBe(status);
    }
  });

  it('asks nothing about a message that is itself a question', async () => {
    const text = `
- id: all
  family: egress.preparing
  ask when: "true"
  expect:
    - { payload: { kind: reply }, is: asked }
    - { payload: { kind: approval }, is: allowed }
`;
    expect(await problemsOf(text)).toEqual([]);
  });

  it('reads the time of the event', async () => {
    const text = `
- id: night
  family: egress.preparing
  deny when: "event.occurredAt.getHours('Europe/Lisbon') < 7"
  code: quiet-hours
  expect:
    - { event: { occurredAt: '2026-07-15T06:59:00+01:00' }, is: denied }
    - { event: { occurredAt: '2026-07-15T07:00:00+01:00' }, is: allowed }
`;
    expect(await problemsOf(text)).toEqual([]);
  });

  it.each([
    ["re(toolName, '^R[a-e]+d$')", 'denied'],
    ["glob(toolName, 'R*d')", 'denied'],
    ["glob(toolName, 'R*x*d')", 'allowed'],
    ["['a', 'b'].exists(x, x == toolName)", 'allowed'],
    ["toolName in ['Read', 'Write']", 'denied'],
    ["has(params.path) && params.path.startsWith('/etc/')", 'allowed'],
    ["toolName == 'Read' && !has(params.path)", 'denied'],
  ])('may say %s', async (condition, is) => {
    expect(await problemsOf(rule(condition, '', is))).toEqual([]);
  });
});

describe('a file that does not load is refused, with file, line and the nearest name (judgement §5.3):', () => {
  it.each([
    [
      'an unknown field',
      rule("parms.command == 'x'"),
      'p.yaml:2: one: deny when: agent.tool.calling has no field "parms" (at character 1); did you mean "params"?',
    ],
    [
      'an unknown field of the principal',
      rule("principal.chanel == 'x'"),
      'p.yaml:2: one: deny when: "principal" has no field "chanel" (at character 11); did you mean "channel"?',
    ],
    [
      'a type error',
      rule('toolName > 1'),
      'p.yaml:2: one: deny when: no such overload: string > int (at character 1)',
    ],
    [
      'a condition that is no condition',
      rule('toolName'),
      'p.yaml:2: one: deny when: it is of type string, and must be true or false',
    ],
    [
      'a syntax error',
      rule('toolName =='),
      'p.yaml:2: one: deny when: Unexpected token: EOF (at character 12)',
    ],
    [
      'an example that is not met',
      rule("toolName == 'Read'"),
      'p.yaml:6: one: an example is denied, and allowed was expected',
    ],
    [
      'an unknown setting',
      rule('true', 'kode: policy'),
      'p.yaml:5: one: there is no "kode"; did you mean "code"?',
    ],
    [
      'an unknown code',
      rule('true', 'code: polcy'),
      'p.yaml:2: one: agent.tool.calling has no code "polcy"; did you mean "policy"?',
    ],
    [
      'an unknown family',
      rule('true').replace('tool.calling', 'tool.caling'),
      'p.yaml:2: one: there is no family "agent.tool.caling"; did you mean "agent.tool.calling"?',
    ],
    [
      'a family without vetoes',
      rule('true').replace('tool.calling', 'tool.called'),
      'p.yaml:2: one: agent.tool.called has no vetoes',
    ],
    [
      'a rule without an example',
      rule('true').replace(/expect:.*/, 'expect: []'),
      'p.yaml:6: one: expect needs at least one example',
    ],
    [
      'two conditions',
      rule('true', 'ask when: "true"'),
      'p.yaml:2: one: it needs "deny when" or "ask when", and not both',
    ],
    [
      'two rules of one id',
      `${rule('false')}${rule('false')}`,
      'p.yaml:8: one: the id stands at p.yaml:2 already',
    ],
    ['no list', 'id: one', 'p.yaml:1: it must be a list of rules, each with an id'],
    [
      'no YAML',
      '- a: [',
      'p.yaml:1: Flow sequence in block collection must be sufficiently indented',
    ],
    [
      'a backtracking pattern',
      rule("toolName.matches('(a+)+$')"),
      'p.yaml:2: one: deny when: matches() can take for ever',
    ],
    [
      'a pattern that is not written out',
      rule('re(toolName, toolCallId)'),
      'p.yaml:2: one: deny when: the pattern of re() must be written out as a text',
    ],
    [
      'a pattern that is too large',
      rule("re(toolName, '(a{50}){20}')"),
      'p.yaml:2: one: deny when: re(): it has',
    ],
    ['a pattern that is none', rule("re(toolName, '(')"), 'p.yaml:2: one: deny when: re(): '],
    [
      'a macro within a macro',
      rule("['a'].exists(x, ['b'].exists(y, x == y))"),
      'p.yaml:2: one: deny when: exists() stands within another',
    ],
    [
      'a function that can take long',
      rule("size(toolName.split('')) > 1"),
      'p.yaml:2: one: deny when: split() is not for policies',
    ],
  ])('%s', async (_, text, problem) => {
    const [first = ''] = await problemsOf(text);
    expect(first.startsWith(problem), first).toBe(true);
  });

  it('a file that is not there', async () => {
    await expect(readPolicies([join(folder, 'none.yaml')])).rejects.toThrow(
      /none.yaml:1: cannot be read/,
    );
  });

  it('and every problem of all files is told at once', async () => {
    expect(await problemsOf(`${rule('parms')}${rule('true').replace('one', 'two')}`)).toHaveLength(
      2,
    );
  });
});

describe('a hostile text', () => {
  const judge = async (condition: string, params: object) => {
    await using test = await loadForTest(policies, {
      config: { policies: [await fileOf(rule(condition, '', 'failed'))] },
    });
    const call = { toolName: 'Read', params: { ...params } };
    return test.dispatch('agent.tool.calling', call);
  };

  it('is searched by re() up to a length, and fails beyond it (judgement §5.5)', async () => {
    const condition = "re(params.text, '^(a+)+$')";
    expect((await judge(condition, { text: 'a'.repeat(5_000) })).status).toBe('cancelled');
    const outcome = expectFailed(await judge(condition, { text: 'a'.repeat(1_000_000) }));
    expect(outcome.failures[0]?.message).toMatch(/re\(\) reads at most \d+ characters/);
  });

  it('of a million letters is read by contains() and glob()', async () => {
    const text = `${'a'.repeat(1_000_000)}b`;
    expect((await judge("params.text.contains('b')", { text })).status).toBe('cancelled');
    expect((await judge("glob(params.text, '*a*a*a*c')", { text })).status).toBe('passed');
  });

  it.each([
    [
      'a list of any length',
      'params.list.exists(x, x == 1)',
      { list: Array.from({ length: 10_000 }, (_, at) => at) },
    ],
    [
      'a list in a list of any length',
      '1 in params.list',
      { list: Array.from({ length: 10_000 }, (_, at) => at) },
    ],
    [
      'a long text that is looked for in another',
      'params.text.contains(params.part)',
      { text: 'a'.repeat(20_000), part: 'aba' },
    ],
    ['a long text, letter by letter', 'size(params.text) > 5', { text: 'a'.repeat(1_000_000) }],
    [
      'a long text, for each of many words',
      'params.words.exists(x, x == params.text)',
      { words: Array.from({ length: 100 }, String), text: 'a'.repeat(100_000) },
    ],
  ])('is not read if it is %s (judgement §5.5)', async (_, condition, params) => {
    const outcome = expectFailed(await judge(condition, params));
    expect(outcome.failures[0]?.message).toContain('the condition reads at most');
  });

  it('is searched for words that are written out, also in a macro', async () => {
    const condition = "['rm -rf', 'mkfs'].exists(x, params.text.contains(x))";
    const text = `${'a'.repeat(500_000)}mkfs`;
    expect((await judge(condition, { text })).status).toBe('cancelled');
  });
});

describe('a reload', () => {
  it('of a file that does not load leaves the rules before, and says why (judgement §5.6)', async () => {
    const file = await fileOf(noDelete);
    const { kernel } = createTestKernel();
    const logger = collectingLogger();
    await using extensions = new ExtensionSet(kernel, { logger, host: { storeOf } });
    await extensions.add(givenSource(policies, { policies: [file] }));
    await writeFile(file, rule("parms.command == 'x'"));
    const [broken] = await extensions.reload('policy');
    expect(broken?.result).toBe('reloaded');
    expect(kernel.plan('agent.tool.calling').map((one) => one.contributionId)).toEqual([
      'no-rm-rf',
    ]);
    expect(JSON.stringify(logger.entries)).toContain('has no field \\"parms\\"');
    await writeFile(file, rule("toolName == 'x'"));
    await extensions.reload('policy');
    expect(kernel.plan('agent.tool.calling').map((one) => one.contributionId)).toEqual(['one']);
  });

  it('is asked for when a file changes, as --watch looks at it', async () => {
    const file = await fileOf(noDelete);
    const { kernel } = createTestKernel();
    await using extensions = new ExtensionSet(kernel, { host: { storeOf } });
    await extensions.add({
      ...givenSource(policies, { policies: [file] }),
      file: () => 'index.js',
    });
    expect(extensions.files().get('policy')).toEqual(['index.js', file]);
  });

  it('at the start a file that does not load disables the extension', async () => {
    const { kernel } = createTestKernel();
    await using extensions = new ExtensionSet(kernel, { host: { storeOf } });
    const config = { policies: [await fileOf('- id: [')] };
    const { status, error } = await extensions.add(givenSource(policies, config));
    expect(status).toBe('disabled');
    expect(error?.message).toContain('.yaml:1: ');
  });
});

const kept = new Map<string, unknown>();
/** The memory of an extension that outlives a reload, as a host gives it. */
const storeOf = (): ExtensionApi['store'] =>
  ({
    get: async (key: string) => kept.get(key),
    set: async (key: string, value: unknown) => void kept.set(key, value),
  }) as ExtensionApi['store']; // no other method is used here
