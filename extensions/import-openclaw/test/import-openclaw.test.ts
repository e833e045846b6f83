import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { openJournal } from 'sluice/host';
import { describe, expect, it } from 'vitest';
import { importOpenClaw } from '../src/index.js';
import { leavesOf } from '../src/report/report.js';
import { rowOf } from '../src/report/rows.js';
import { isRecord, pathText } from '../src/source/node.js';
import { readSource } from '../src/source/read-source.js';
import { folderOfTest, stateFolder, stateOf } from './state-folder.js';

/** The texts of all files of a folder, by their paths. */
function textsOf(folder: string): Record<string, string> {
  const files = readdirSync(folder, { withFileTypes: true, recursive: true });
  return Object.fromEntries(
    files
      .filter((file) => file.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .map((file) => [file.slice(folder.length + 1), readFileSync(file, 'latin1')]),
  );
}

const env = { SLACK_BOT_TOKEN: 'planted-slack-token' };

/** Imports the state folder with another config, and gives the texts that it writes, without the report and the journal. */
async function writtenFor(config: unknown): Promise<string> {
  const { path, out } = stateFolder(config);
  rmSync(join(path, 'agents'), { recursive: true }); // a journal would take its time
  const refused = await importOpenClaw({ path, out, env });
  const accept = refused.findings.filter(({ isRefused }) => isRefused).map((one) => one.path);
  if (accept.length > 0) await importOpenClaw({ path, out, env, accept });
  const texts = Object.entries(textsOf(out)).filter(
    ([file]) => !/^(import-report|sluice\.db)/.test(file),
  );
  return JSON.stringify(texts).replaceAll(dirname(path), '');
}

describe('an import', () => {
  it('writes a config, a report and a journal, and names what is broken with its line', async () => {
    const state = stateFolder();
    const { status, broken, variables } = await importOpenClaw({ ...state, env });
    expect(status).toBe('written');
    expect(Object.keys(textsOf(state.out))).toEqual(
      expect.arrayContaining([
        'sluice.config.ts',
        'import-report.md',
        'policies.yaml',
        'sluice.db',
        'prompts/main/SOUL.md',
        'openclaw-parts/skills/tea/SKILL.md',
        'openclaw-parts/hooks/note/handler.js',
      ]),
    );
    expect(broken.map((one) => one.split(': ')[0])).toEqual([
      'hooks/torn/HOOK.md:3',
      'agents/main/sessions/0f-1.jsonl:4',
    ]);
    expect(variables).toMatchObject({ 'channels.telegram.botToken': 'TELEGRAM_BOT_TOKEN' });
  });

  it('writes no secret: neither of the config nor of the environment', async () => {
    const state = stateFolder();
    await importOpenClaw({ ...state, env });
    const planted = Object.entries(textsOf(state.out)).filter(([, text]) =>
      text.includes('planted'),
    );
    expect(planted.map(([file]) => file)).toEqual([]);
  });

  it.each([
    ['a list of a name in the plural', { tokens: ['planted'] }],
    ['all below such a name', { secrets: { prod: { a: 'planted' } } }],
    ['a number', { password: 424242 }],
    ['a text that the environment completes', { greeting: ['Hi $', '{OPENAI_KEY}'].join('') }],
    ['a key in an address', { url: 'https://tea.example/?api_key=planted' }],
    ['an address that is a secret', { url: 'https://hooks.slack.com/services/T0/B0/planted' }],
  ])('writes no secret of a plugin: %s', async (_, config) => {
    const plugins = { entries: { pigeon: { config } } };
    const files = {
      'extensions/pigeon/openclaw.plugin.json': { id: 'pigeon' },
      'workspace/skills/tea/SKILL.md': '---\nname: tea\n---\n',
      'workspace/skills/tea/.env': 'planted',
    };
    const state = stateOf({ plugins }, files);
    const { variables } = await importOpenClaw({ ...state, env: { OPENAI_KEY: 'planted' } });
    expect(Object.keys(variables)).toHaveLength(1);
    const written = JSON.stringify(textsOf(state.out));
    expect([written.includes('planted'), written.includes('424242')]).toEqual([false, false]);
    expect(written).toContain('SKILL.md');
  });

  it('reads the ids of agents as OpenClaw does, so that none leads out of its folder', async () => {
    const list = [{ id: '../..', workspace: './w' }, { id: 'Tea Time' }];
    const bindings = [{ agentId: 'TEA time', match: { channel: 'Telegram' } }];
    const state = stateOf({ agents: { list }, bindings }, { 'w/SOUL.md': 'I am.' });
    await importOpenClaw(state);
    const written = textsOf(state.out);
    expect(Object.keys(written)).toContain('prompts/main/SOUL.md');
    expect(written['sluice.config.ts']).toMatch(/"id": "tea-time"[\s\S]*"agentId": "tea-time"/);
  });

  it('reads the jobs of a store in the home, and says if a store is lost', async () => {
    const job = { id: 'a', schedule: { expr: '0 1 * * *' }, payload: { text: 'x' } };
    const state = stateOf({ cron: { store: '~/jobs.json' } }, { 'jobs.json': { jobs: [job] } });
    const { moved } = await importOpenClaw({ ...state, env: { HOME: dirname(state.path) } });
    expect(moved['jobs.json:jobs[0]']).toBe('A schedule.');
    const lost = await importOpenClaw(stateOf({ cron: { store: './lost.json' } }));
    expect(lost.broken).toEqual(['lost.json: it is not there']);
  });

  it('changes nothing the second time, if its folder is in that of OpenClaw', async () => {
    const { path } = stateFolder();
    const given = { path, out: join(path, 'new', 'host'), env };
    expect((await importOpenClaw(given)).status).toBe('written');
    expect((await importOpenClaw(given)).status).toBe('unchanged');
  });

  it('takes a session once, if two keys have it, and reads a transcript with a byte order mark', async () => {
    const folder = 'agents/main/sessions';
    const content = `Sender (untrusted metadata):\n\`\`\`json\n{ torn\n\`\`\`\nhello`;
    const line = JSON.stringify({ type: 'message', message: { role: 'user', content } });
    const state = stateOf(
      {},
      {
        [`${folder}/sessions.json`]: {
          'cron:x': { sessionId: 's' },
          'cron:x:run:s': { sessionId: 's' },
        },
        [`${folder}/s.jsonl`]: `\uFEFF${line}\r\n`,
      },
    );
    const { broken, moved } = await importOpenClaw(state);
    expect([broken, moved[`${folder}/s.jsonl`]]).toEqual([
      [],
      'The history of agent:main:cron:x: 1 messages.',
    ]);
    const journal = await openJournal(join(state.out, 'sluice.db'));
    const messages = await journal.store.readTranscript('s');
    await journal.close();
    expect(messages).toEqual([{ role: 'user', content }]);
  });

  it('writes a long transcript whole and in order', async () => {
    const folder = 'agents/main/sessions';
    const texts = Array.from({ length: 1_000 }, (_, at) => `text ${at}`);
    const lines = texts.map((content) =>
      JSON.stringify({ type: 'message', message: { role: 'user', content } }),
    );
    const files = {
      [`${folder}/sessions.json`]: { main: { sessionId: 's' } },
      [`${folder}/s.jsonl`]: lines.join('\n'),
    };
    const state = stateOf({}, files);
    await importOpenClaw(state); // one commit for each entry would take longer than a test may
    const journal = await openJournal(join(state.out, 'sluice.db'));
    const messages = await journal.store.readTranscript('s');
    await journal.close();
    expect(messages.map(({ content }) => content)).toEqual(texts);
  });

  it('makes no code of a text of a plugin that looks like a mark of ours', async () => {
    const plugins = { entries: { pigeon: { config: { loft: '\u0000prompt:[process.exit()]' } } } };
    const state = stateOf(
      { plugins },
      { 'extensions/pigeon/openclaw.plugin.json': { id: 'pigeon' } },
    );
    await importOpenClaw(state);
    expect(textsOf(state.out)['sluice.config.ts']).not.toContain(': prompt(');
  });

  it('shows no text of a line that is broken', async () => {
    const folder = 'agents/main/sessions';
    const files = {
      [`${folder}/sessions.json`]: { 'agent:main:main': { sessionId: 's' } },
      [`${folder}/s.jsonl`]: 'planted\r\n',
    };
    const { broken } = await importOpenClaw(stateOf({}, files));
    expect(broken).toEqual([`${folder}/s.jsonl:1: it is no JSON`]);
  });

  it('changes nothing the second time, byte for byte', async () => {
    const state = stateFolder();
    await importOpenClaw({ ...state, env });
    const before = textsOf(state.out);
    const { mtimeMs } = statSync(state.out);
    expect((await importOpenClaw({ ...state, env })).status).toBe('unchanged');
    expect(textsOf(state.out)).toEqual(before);
    expect(statSync(state.out).mtimeMs).toBe(mtimeMs);
    const other = await importOpenClaw({ ...state, out: `${state.out}-2`, env });
    expect(other.status).toBe('written');
    const { 'sluice.db': _, ...again } = textsOf(`${state.out}-2`);
    expect(before).toMatchObject(
      Object.fromEntries(Object.entries(again).filter(([file]) => !file.startsWith('sluice.db'))),
    );
  });

  it('writes over no file that somebody has changed', async () => {
    const state = stateFolder();
    await importOpenClaw({ ...state, env });
    writeFileSync(join(state.out, 'policies.yaml'), '[]');
    await expect(importOpenClaw({ ...state, env })).rejects.toMatchObject({
      code: 'file-exists',
      message: 'host is there already, and its policies.yaml is not what this import would write',
    });
    expect(readFileSync(join(state.out, 'policies.yaml'), 'utf8')).toBe('[]');
  });

  it('leaves nothing behind when it is stopped', async () => {
    const state = stateFolder();
    const signal = AbortSignal.abort(new Error('stopped'));
    await expect(importOpenClaw({ ...state, env, signal })).rejects.toThrow('stopped');
    expect(readdirSync(dirname(state.out))).toEqual(['openclaw']);
  });

  it.each([
    ['no file', () => join(folderOfTest(), 'nowhere'), 'there is no nowhere'],
    ['another folder', () => folderOfTest(), 'it has no openclaw.json'],
    ['no JSON5', () => stateOf('{ a: 1,\n b }').path, "openclaw.json:2:4: invalid character '}'"],
    ['a list', () => stateOf([]).path, 'openclaw.json holds no object'],
    ['a lost include', () => stateOf({ $include: './x.json' }).path, 'x.json: ENOENT'],
    [
      'an include of itself',
      () => stateOf({ $include: './openclaw.json' }).path,
      'includes itself',
    ],
    [
      'an include outside',
      () => stateOf({ tools: { $include: '../x.json' } }).path,
      'leads out of',
    ],
    [
      'an include of a list beside keys',
      () => stateOf({ tools: { $include: './a.json', deny: [] } }, { 'a.json': ['exec'] }).path,
      'neither all objects nor all lists',
    ],
    [
      'a key that no config has',
      () => stateOf('{ tools: { "__proto__": { deny: ["exec"] } } }').path,
      '"__proto__" is no key',
    ],
  ])('says of %s what is wrong with it', async (_, pathOf, text) => {
    const path = pathOf();
    const out = join(folderOfTest(), 'host');
    await expect(importOpenClaw({ path, out })).rejects.toThrow(text);
    expect(existsSync(out)).toBe(false);
  });
});

describe('a restriction that cannot be kept', () => {
  it('is a denial of a plugin by its id: the names of its tools are known to it alone', async () => {
    const manifest = { 'extensions/pigeon/openclaw.plugin.json': { id: 'pigeon' } };
    const { findings } = await importOpenClaw(stateOf({ tools: { deny: ['Pigeon'] } }, manifest));
    expect(findings).toMatchObject([{ path: 'tools.deny[0]', isRefused: true }]);
  });

  it('is found in a list that is included', async () => {
    const config = { agents: { list: { $include: './agents.json' } } };
    const agents = [{ id: 'a', skills: [], tools: { deny: ['exec'] } }];
    const { findings } = await importOpenClaw(stateOf(config, { 'agents.json': agents }));
    expect(findings.map(({ path, isRefused }) => [path, isRefused])).toEqual([
      ['agents.list[0].id', false],
      ['agents.list[0].skills', true],
      ['agents.list[0].tools.deny[0]', false],
    ]);
  });

  it.each([
    [{ tools: { exec: { security: 'allowlist' } } }, 'tools.exec.security'],
    [{ agents: { defaults: { sandbox: { mode: 'all' } } } }, 'agents.defaults.sandbox.mode'],
    [{ commands: { allowFrom: { telegram: ['43'] } } }, 'commands.allowFrom.telegram[0]'],
    [{ agents: { list: [{ id: 'a', skills: [] }] } }, 'agents.list[0].skills'],
    [{ tools: { profile: 'tiny' } }, 'tools.profile'],
    [{ session: { dmScope: 'per-moon' } }, 'session.dmScope'],
    [
      { session: { sendPolicy: { rules: [{ action: 'deny', moon: 1 }] } } },
      'session.sendPolicy.rules[0].action',
    ],
    [
      { channels: { telegram: { direct: { 42: { enabled: false } } } } },
      'channels.telegram.direct.42.enabled',
    ],
    [
      { channels: { slack: { groupPolicy: 'open', channels: { '#ops': { users: ['U01'] } } } } },
      'channels.slack.channels.#ops.users[0]',
    ],
    [{ tomorrow: { denyList: ['x'] } }, 'tomorrow.denyList[0]'],
    [{ channels: { telegram: { blockedPeople: ['9'] } } }, 'channels.telegram.blockedPeople[0]'],
    [{ tools: { deny: ['group:plugins'] } }, 'tools.deny[0]'],
    [
      { bindings: [{ agentId: 'a', match: { channel: 'telegram', roles: ['x'] } }] },
      'bindings[0].match.roles[0]',
    ],
    [{ tools: { deny: { 0: 'exec' } } }, 'tools.deny.0'],
    [{ tools: { deny: [{ name: 'exec' }] } }, 'tools.deny[0].name'],
    [{ tools: { web: { fetch: { enabled: false } } } }, 'tools.web.fetch.enabled'],
    [{ commands: { ownerAllowFrom: 'telegram:1' } }, 'commands.ownerAllowFrom'],
    [{ agents: { defaults: { sandbox: 'all' } } }, 'agents.defaults.sandbox'],
    [
      { agents: { list: [{ id: 'a', tools: { exec: { ask: 'always' } } }] } },
      'agents.list[0].tools.exec.ask',
    ],
    [{ channels: { defaults: { dmPolicy: 'disabled' } } }, 'channels.defaults.dmPolicy'],
    [{ agents: { list: [{ id: 'Main' }, { id: 'main' }] } }, 'agents.list[1].id'],
    [
      { channels: { telegram: { groupPolicy: 'open', groups: [{ enabled: false }] } } },
      'channels.telegram.groups[0].enabled',
    ],
    [
      { channels: { telegram: { groups: { '-1': { enabled: 'false' } } } } },
      'channels.telegram.groups.-1.enabled',
    ],
    [
      { channels: { telegram: { groups: { '-1': { allowFrom: { 0: '43' } } } } } },
      'channels.telegram.groups.-1.allowFrom.0',
    ],
    [
      { channels: { slack: { groupPolicy: 'open', groupAllowFrom: ['U01'] } } },
      'channels.slack.groupAllowFrom[0]',
    ],
  ])('ends the import of %j until its path is accepted', async (config, path) => {
    const state = stateOf(config);
    const { status, findings } = await importOpenClaw(state);
    const lost = findings.filter(({ isRefused }) => isRefused).map((one) => one.path);
    expect([status, lost]).toEqual(['refused', expect.arrayContaining([path])]);
    expect(existsSync(state.out)).toBe(false);
    const accepted = await importOpenClaw({ ...state, accept: lost });
    expect(accepted.status).toBe('written');
    expect(accepted.findings.find((one) => one.path === path)?.text).toContain('Accepted');
  });

  it('holds of a tool in whatever case its plugin writes the name', async () => {
    const state = stateOf({ tools: { deny: ['Pigeon_send', 'dove_*'] } });
    await importOpenClaw(state);
    const rules = readFileSync(join(state.out, 'policies.yaml'), 'utf8');
    expect(rules).toContain('re(toolName, "(?i)^pigeon_send$") || re(toolName, "(?i)^dove_.*$")');
  });

  it('is accepted by the path of what holds it, and an acceptance of nothing is refused', async () => {
    const state = stateOf({ tools: { exec: { security: 'deny', ask: 'always' } } });
    expect((await importOpenClaw({ ...state, accept: ['tools.exec'] })).status).toBe('written');
    const again = importOpenClaw({ ...state, accept: ['tools.exec', 'tools.fs'] });
    await expect(again).rejects.toThrow('--accept tools.fs names no restriction');
  });

  it('is no restriction if its value restricts nothing', async () => {
    const config = {
      tools: { exec: { security: 'full', ask: 'off' }, fs: { workspaceOnly: false } },
      agents: { defaults: { sandbox: { mode: 'off' } }, list: [] },
      channels: { telegram: { allowFrom: [], groups: {} } },
      approvals: {},
    };
    expect((await importOpenClaw(stateOf(config))).status).toBe('written');
  });
});

const word = fc.stringMatching(/^[a-z]{1,6}$/);
const people = fc.array(fc.oneof(fc.nat({ max: 99 }).map(String), fc.constant('*')), {
  maxLength: 3,
});
const policy = fc.constantFrom('open', 'allowlist', 'pairing', 'disabled', 'odd');
const place = fc.record(
  {
    requireMention: fc.boolean(),
    allowFrom: people,
    enabled: fc.boolean(),
    groupPolicy: policy,
    topics: fc.dictionary(
      word,
      fc.record({ allowFrom: people, agentId: word }, { requiredKeys: [] }),
      { maxKeys: 2 },
    ),
  },
  { requiredKeys: [] },
);
const account = {
  dmPolicy: policy,
  allowFrom: people,
  groupAllowFrom: people,
  groupPolicy: policy,
  groups: fc.dictionary(fc.constantFrom('*', '-1001', '-1002'), place, { maxKeys: 2 }),
  botToken: fc.constant('planted-token'),
};
const config = fc.record(
  {
    agents: fc.record(
      {
        defaults: fc.record({
          model: fc.constantFrom('anthropic/claude-opus-4-6', 'openai/gpt-5', 'moon/x'),
        }),
        list: fc.array(
          fc.record(
            {
              id: word,
              default: fc.boolean(),
              tools: fc.record({ deny: fc.array(word, { maxLength: 2 }) }),
            },
            { requiredKeys: ['id'] },
          ),
          { maxLength: 2 },
        ),
      },
      { requiredKeys: [] },
    ),
    bindings: fc.array(
      fc.record({
        agentId: word,
        match: fc.record(
          { channel: word, accountId: word, roles: fc.array(word, { maxLength: 1 }) },
          { requiredKeys: ['channel'] },
        ),
      }),
      { maxLength: 2 },
    ),
    channels: fc.record(
      {
        telegram: fc.record(
          {
            ...account,
            accounts: fc.dictionary(word, fc.record(account, { requiredKeys: [] }), { maxKeys: 2 }),
          },
          { requiredKeys: [] },
        ),
        discord: fc.dictionary(word, fc.anything({ withNullPrototype: false }), { maxKeys: 2 }),
      },
      { requiredKeys: [] },
    ),
    session: fc.record(
      {
        identityLinks: fc.dictionary(
          word,
          fc.array(fc.constantFrom('telegram:42', '42'), { maxLength: 2 }),
          { maxKeys: 2 },
        ),
        sendPolicy: fc.record({ default: fc.constantFrom('allow', 'deny') }),
      },
      { requiredKeys: [] },
    ),
    tools: fc.record(
      {
        profile: fc.constantFrom('minimal', 'coding', 'full', 'odd'),
        allow: fc.array(word, { maxLength: 3 }),
      },
      { requiredKeys: [] },
    ),
    plugins: fc.record(
      {
        entries: fc.dictionary(
          word,
          fc.record({
            config: fc.dictionary(word, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 2 }),
            apiKey: fc.constant('planted-key'),
          }),
          { maxKeys: 2 },
        ),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
);

describe('a config of the known shape', () => {
  it('has each of its leaves exactly once in the report', async () => {
    await fc.assert(
      fc.asyncProperty(
        config.map((one) => JSON.parse(JSON.stringify(one)) as unknown),
        async (made) => {
          const state = stateOf(made);
          const { findings, status } = await importOpenClaw(state);
          const lost = findings.filter(({ isRefused }) => isRefused).map((one) => one.path);
          expect(findings.map((one) => one.path)).toEqual(
            leavesOf(made).map(([path]) => pathText(path)),
          );
          expect(new Set(findings.map((one) => one.path)).size).toBe(findings.length);
          if (status === 'refused') await importOpenClaw({ ...state, accept: lost });
          const written = textsOf(state.out);
          const report = written['import-report.md'] ?? '';
          for (const { path } of findings)
            expect(report.split(`\n| \`${path.replaceAll('|', '\\|')}\` |`).length).toBeGreaterThan(
              1,
            );
          expect(JSON.stringify(written)).not.toContain('planted');
          rmSync(state.out, { recursive: true });
        },
      ),
      { numRuns: 60 },
    );
  });

  it('has an effect at each path that is called converted', async () => {
    const state = stateFolder();
    const { config: whole } = readSource(state.path);
    const plain = structuredClone(whole);
    const before = await writtenFor(plain);
    const findings = (await importOpenClaw(stateFolder(plain))).findings;
    const idle = [];
    for (const [path] of leavesOf(plain)) {
      const { verdict } = findings.find((one) => one.path === pathText(path)) ?? {};
      const changed = structuredClone(plain);
      const parent = path
        .slice(0, -1)
        .reduce<unknown>(
          (at, key) =>
            isRecord(at) || Array.isArray(at) ? (at as Record<string | number, unknown>)[key] : at,
          changed,
        ) as Record<string | number, unknown>; // it leads there: a leaf of this config
      const last = path.at(-1) ?? '';
      const value = parent[last];
      parent[last] =
        typeof value === 'boolean' ? !value : typeof value === 'number' ? value + 1 : 'unlike';
      if (verdict?.startsWith('converted') && (await writtenFor(changed)) === before)
        idle.push(pathText(path));
      if (verdict === 'not needed')
        expect([pathText(path), (await writtenFor(changed)) === before]).toEqual([
          pathText(path),
          true,
        ]);
    }
    const isSecret = /token|apiKey|password/i;
    // the first agent is the default, any word for streaming is on, and any word but four for dmPolicy lets in who is listed
    const without = [
      'agents.list[0].default',
      'channels.telegram.streaming',
      'channels.slack.dmPolicy',
    ];
    const off = 'hooks.internal.entries.off.enabled'; // no hook has this name
    expect(idle.filter((path) => !isSecret.test(path))).toEqual([...without, off]);
  });

  it('has a row for each path of the fixture, and none that names a secret as written', () => {
    const { config: whole } = readSource(stateFolder().path);
    expect(leavesOf(whole).filter(([path]) => rowOf(path) === undefined)).toEqual([]);
  });
});
