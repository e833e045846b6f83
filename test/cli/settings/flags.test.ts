import { Command } from 'commander';
import { expect, it } from 'vitest';
import { addPipelineOptions, pipelineArgs, withFlags } from '../../../src/cli/settings/flags.js';
import { configSchema } from '../../../src/host/config/schema.js';

const all = [
  ...(['agent', 'channels', 'gateway.url', 'journal.path', 'health.port'] as const),
  ...(['inspect.port', 'inspect.write', 'inspect.text', 'strict', 'audit'] as const),
];

/** What a command line makes of a config. */
function patched(written: object, ...args: readonly string[]): unknown {
  const command = addPipelineOptions(new Command(), [], ...all).exitOverride();
  return withFlags(written, command.parse(args, { from: 'user' }).opts(), '/here');
}

it.each<[readonly string[], object, object?]>([
  [['--journal', 'x.db'], { journal: { path: '/here/x.db' } }],
  [
    ['--journal', 'x.db'],
    { journal: { path: '/here/x.db', maxAttempts: 2 } },
    { journal: { url: 'postgres://db/sluice', leaseMs: 900, partitions: 4, maxAttempts: 2 } },
  ],
  [
    ['--health-port', '80'],
    { health: { port: 80, address: '::1' } },
    { health: { port: 1, address: '::1' } },
  ],
  [['--inspect'], { inspect: { write: true } }, { inspect: { write: true } }],
  [['--inspect', '7'], { inspect: { port: 7 } }],
  [['--inspect-write', '--inspect-text'], { inspect: { write: true, text: true } }],
  [['--channel', 'b'], { channels: ['b'] }, { channels: ['a'] }],
  [['--strict'], { strict: true }],
  [['--audit', 'b', '--audit', 'a'], { audit: ['a', 'b'] }, { audit: ['a'] }],
  [['-e', './b.ts'], { extensions: [{ path: 'a' }, './b.ts'] }, { extensions: [{ path: 'a' }] }],
  [['-p', 'b', '-p', 'c'], { plugins: [{ path: 'b' }, { path: 'c' }] }],
  [['--url', 'ws://a'], { gateway: { url: 'ws://a' } }],
  [
    ['--openclaw', 'o', '--legacy-profile', '2026.3'],
    { legacy: { openclaw: '/here/o', profile: '2026.3' } },
  ],
])(
  '%j is a patch of the config, and the config that it makes is valid',
  (args, now, written = {}) => {
    expect(patched(written, ...args)).toEqual(now);
    expect(configSchema.safeParse(patched(written, ...args)).error).toBeUndefined();
  },
);

it('leaves a config that is none to its schema, and a config without flags as it is', () => {
  expect([null, 'x'].map((written) => withFlags(written, { strict: true }, '/'))).toEqual([
    null,
    'x',
  ]);
  const written = { agent: 'echo' };
  expect(patched(written)).toEqual(written);
});

it('writes the flags of the pipeline out again for another command', () => {
  const args = [
    ...['--config', 'c.json', '--extension', 'a', '--extension', 'b', '--set', 'a.b=1'],
    ...['--plugin', 'p', '--strict-plugins', '--openclaw', 'o', '--legacy-profile', '2026.9'],
  ];
  const given = (some: readonly string[]) =>
    pipelineArgs(addPipelineOptions(new Command()).parse(some, { from: 'user' }).opts());
  expect(given(args)).toEqual(args);
  expect(given(['--no-config'])).toEqual(['--no-config']);
  expect(given([])).toEqual([]);
});
