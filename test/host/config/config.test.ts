import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkConfig } from '../../../src/host/config/check-config.js';
import { placeOf } from '../../../src/host/config/place.js';
import { configSchema } from '../../../src/host/config/schema.js';
import { defineConfig } from '../../../src/host/index.js';
import { everySetting } from '../../support/config-settings.js';

const sources = {
  env: { TOKEN: 'planted-secret', EMPTY: '' },
  readSecretFile: (path: string): string => {
    if (path === 'token.txt') return 'from-a-file\n';
    throw new Error(`ENOENT: no such file, open '${path}'`);
  },
};

/** The problems of a config, each as its place, what is wrong and what to do. */
function problemsOf(config: unknown): string[] {
  const verdict = checkConfig(config, sources);
  if (verdict.ok) return [];
  return verdict.problems.map(({ path, message, hint }) => `${placeOf(path)}: ${message}. ${hint}`);
}

function accepted(config: unknown) {
  const verdict = checkConfig(config, sources);
  if (!verdict.ok) throw new Error(problemsOf(config).join('\n'));
  return verdict;
}

describe('a config (§20.1)', () => {
  it('may leave everything out', () => {
    expect(accepted({}).config).toEqual({
      approvals: {},
      roles: {},
      audit: [],
      extensions: [],
      plugins: [],
      openclaw: {},
      grants: {},
      leastPrivilege: false,
      quarantine: {},
      handlerWatch: {},
      strict: false,
      texts: {},
      overrides: {},
      budgets: {},
      ingress: {},
      lanes: {},
      session: {},
      failureText: {},
      cancelText: {},
      logging: {},
    });
  });

  it.each([
    [[], 'its top level: expected object, received array'],
    [null, 'its top level: expected object, received null'],
    [
      { agent: 'eco' },
      '"openclaw", "openclaw:AGENT" or "ext:AGENT" of an extension. Write "echo",',
    ],
    [
      { extensions: [{ path: 1 }] },
      'extensions[0].path: expected string, received number. Write a path from',
    ],
    [
      { extensions: [7] },
      'extensions[0]: expected object, received number. Write a path, or an object with it, such as { "path":',
    ],
    [{ roles: { owner: ['telegram: 42'] } }, 'roles.owner[0]: expected "channel:SENDER" or'],
    [{ roles: { owner: ['telegram:42 '] } }, 'roles.owner[0]: expected "channel:SENDER" or'],
    [
      { grants: { acme: 'x' } },
      'grants.acme: expected array, received string. Write a list such as',
    ],
    [{ overrides: { 'a/b': { timeoutMs: -1 } } }, 'overrides["a/b"].timeoutMs: '],
    [
      { budgets: { drainTimeoutMs: '10s' } },
      'expected number, received string. Write milliseconds, such as 10000',
    ],
    [{ extension: [] }, 'extension: there is no setting "extension". Did you mean "extensions"?'],
    [{ overrides: { 'a/b': { timeoutms: 1 } } }, 'Did you mean "timeoutMs"?'],
    [{ extensions: [{ path: 'x', zzzzzz: 1 }] }, 'Known: path, config'],
    [
      { agent: 'echo', agents: [{ id: 'a', provider: 'echo' }] },
      'agents: "agent" is there as well',
    ],
    [
      {
        agents: [
          { id: 'a', provider: 'echo' },
          { id: 'a', provider: 'echo' },
        ],
      },
      'agents[1].id: "a" is the id of two agents',
    ],
    [
      {
        agents: [
          { id: 'a', provider: 'replay:a' },
          { id: 'b', provider: 'replay:b' },
        ],
      },
      'several recordings',
    ],
    [
      { failureText: { 'provder-failed': 'Sorry.' } },
      'failureText["provder-failed"]: there is no setting "provder-failed". Did you mean "provider-failed"?',
    ],
    [
      { failureText: { busy: ' ' } },
      'failureText.busy: expected a text that is not empty, or false. Write a text that the sender of a message gets if too many messages wait, or false',
    ],
    [{ failureText: { busy: true } }, 'failureText.busy: expected a text that is not empty'],
  ])('%j is refused with its place and what to do', (config, expected) => {
    expect(problemsOf(config).join('\n')).toContain(expected);
  });

  it('has all its mistakes told, not only the first', () => {
    const told = problemsOf({
      agnt: 'echo',
      budgets: { drain: 1 },
      extensions: [{ path: '' }, { path: 'x', confg: {} }],
      plugins: [{ path: { env: 'NOT_SET' }, trusted: 'yes' }],
    });
    expect(told.map((line) => line.split(':')[0])).toEqual([
      'plugins[0].path',
      'extensions[0].path',
      'extensions[1].confg',
      'plugins[0].trusted',
      'budgets.drain',
      'agnt',
    ]);
  });

  it('is typed by defineConfig, which gives back what it is given', () => {
    const config = { agent: 'echo', extensions: [{ path: './a.js' }, './b.js'] };
    expect(defineConfig(config)).toBe(config);
    defineConfig({ journal: { path: 'x', scrub: { fn: (text) => text.trim() } } });
    // @ts-expect-error: it gives no text
    defineConfig({ journal: { path: 'x', scrub: { fn: () => 7 } } });
    expect(accepted(config).config.extensions).toEqual([{ path: './a.js' }, { path: './b.js' }]);
    // @ts-expect-error: a misspelt key does not compile
    defineConfig({ agnt: 'echo' });
    // @ts-expect-error: no failure has this code (§16.19)
    defineConfig({ failureText: { 'provder-failed': 'Sorry.' } });
  });

  it('has a sentence on each of its settings for hints and for spec/config.md', () => {
    const silent = everySetting(configSchema).filter(({ what }) => what === '');
    expect(silent).toEqual([]);
  });
});

describe('a secret (§20.2)', () => {
  it('is filled in where the config names a variable or a file, and is known as one', () => {
    const { config, secrets } = accepted({
      extensions: [
        { path: 'x', config: { token: { env: 'TOKEN' }, list: [{ secretFile: 'token.txt' }] } },
      ],
    });
    expect(config.extensions[0]?.config).toEqual({
      token: 'planted-secret',
      list: ['from-a-file'],
    });
    expect(secrets).toEqual(['planted-secret', 'from-a-file']);
  });

  it('does not make a setting called env, or a larger object, a reference', () => {
    const settings = { env: 'production', more: { env: 'TOKEN', other: 1 } };
    const { config, secrets } = accepted({ extensions: [{ path: 'x', config: settings }] });
    expect(config.extensions[0]?.config).toEqual(settings);
    expect(secrets).toEqual([]);
  });

  it.each([
    [
      { env: 'NOT_SET' },
      'openclaw.token: the environment has no NOT_SET. Set NOT_SET where the host',
    ],
    [{ env: 'EMPTY' }, 'openclaw.token: the environment has no EMPTY'],
    [{ secretFile: 'gone' }, 'openclaw.token: the file "gone" cannot be read: ENOENT'],
  ])('that is not there is told: %j', (token, expected) => {
    expect(problemsOf({ openclaw: { token } })).toHaveLength(1);
    expect(problemsOf({ openclaw: { token } })[0]).toContain(expected);
  });

  it('is in no problem, whatever else is wrong with the config', () => {
    const told = problemsOf({
      agent: { env: 'TOKEN' },
      channels: { env: 'TOKEN' },
      budgets: { env: 'TOKEN' },
    });
    expect(told).toHaveLength(3);
    expect(told.join('\n')).not.toContain('planted-secret');
  });

  it('leaves the config as it is written, and instances of classes alone', () => {
    const written = { openclaw: { at: new Date(0), token: { env: 'TOKEN' } } };
    const { config } = accepted(written);
    expect(config.openclaw['at']).toBe(written.openclaw.at);
    expect(written.openclaw.token).toEqual({ env: 'TOKEN' });
  });
});

describe('whatever is written in a config (fault 50)', () => {
  /** Checks it, and gives what was wrong with the answer, if anything. */
  const judge = (config: unknown): string | undefined => {
    const began = process.cpuUsage(); // not the time on the wall: the machine may be busy
    const verdict = checkConfig(config, sources);
    const tookMs = process.cpuUsage(began).user / 1_000;
    if (tookMs > 1_000) return `took ${tookMs} ms`;
    if (verdict.ok) return undefined;
    if (verdict.problems.length === 0) return 'no problem told';
    return verdict.problems.find(
      ({ path, message, hint }) =>
        message === '' || hint === '' || message.includes('\n') || placeOf(path) === '',
    )?.message;
  };

  it('is valid, or an error with its place and a hint', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (json) => {
        expect(judge(json)).toBeUndefined();
      }),
      { numRuns: 500 },
    );
  });

  it('also where it has the right keys, and some of the right values', () => {
    const anything = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom('echo', 'console', { env: 'TOKEN' }, { env: 'NOT_SET' }, [], {}, -1),
    );
    const entry = fc.dictionary(
      fc.constantFrom('id', 'path', 'config', 'provider', 'timeoutMs', 'priority', '__proto__'),
      anything,
    );
    const section = fc.oneof(anything, fc.array(entry), fc.dictionary(fc.string(), entry), entry);
    const config = fc.dictionary(fc.constantFrom(...Object.keys(configSchema.shape)), section);
    fc.assert(
      fc.property(config, (json) => {
        expect(judge(json)).toBeUndefined();
      }),
      { numRuns: 1_000 },
    );
  });

  it.each([
    [
      'a nesting of 100,000 levels',
      () => JSON.parse('{"openclaw":'.concat('['.repeat(100_000), ']'.repeat(100_000), '}')),
    ],
    [
      'a list of 100,000 mistakes',
      () => ({ extensions: Array.from({ length: 100_000 }, () => 7) }),
    ],
    [
      '100,000 unknown keys',
      () => Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`key${at}`, at])),
    ],
    ['a text of 10 MB', () => ({ agent: 'x'.repeat(10_000_000), ['y'.repeat(10_000)]: 1 })],
    [
      'a cycle, as only a module can hold one',
      () => {
        const openclaw: Record<string, unknown> = {};
        openclaw['me'] = openclaw;
        return { openclaw };
      },
    ],
  ])(
    'also %s',
    (_, make) => {
      expect(checkConfig(make(), sources).ok).toBe(false);
      expect(judge(make())).toBeUndefined();
    },
    300_000,
  );

  it('cannot reach the prototype of every object', () => {
    const told = problemsOf(JSON.parse('{ "openclaw": { "__proto__": { "polluted": true } } }'));
    expect(told).toEqual(['openclaw.__proto__: no setting has this name. Remove it.']);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});
