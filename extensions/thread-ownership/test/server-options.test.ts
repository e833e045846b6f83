import { describe, expect, it } from 'vitest';
import { readOptions } from '../src/server/options.js';

const read = (args: readonly string[], env = {}) => readOptions(args, env, '1.2.3');

describe('the command line of the server', () => {
  it('is on loopback, without a token, and keeps its claims in a file, where it says nothing', () => {
    expect(read([])).toEqual({
      host: '127.0.0.1',
      port: 8_750,
      database: './sluice-ownership.db',
      ttlMs: 86_400_000,
      token: undefined,
      allowedHosts: [],
      json: false,
      verbose: false,
    });
  });

  it.each<[readonly string[], Readonly<Record<string, string>>, string]>([
    [['--port', '70000'], {}, 'from 0 to 65535'],
    [['--port', '0x50'], {}, 'from 0 to 65535'],
    [['--port', ''], {}, 'from 0 to 65535'],
    [['--ttl-seconds', '0'], {}, 'from 1'],
    [['--ttl-seconds', '1.5'], {}, 'from 1'],
    [['--prot', '1'], {}, "unknown option '--prot'"],
    [['extra'], {}, 'too many arguments'],
    [['--host', '0.0.0.0'], {}, 'there is no token'],
    [['--host', '::'], {}, 'there is no token'],
    [['--host', '127.evil.example'], {}, 'there is no token'],
    [['--token-file', '/nowhere/at/all'], {}, '"/nowhere/at/all" cannot be read'],
    [[], { SLUICE_OWNERSHIP_TOKEN: 'two words' }, 'no word of plain characters'],
  ])('%j is refused', (args, env, problem) => {
    expect(read(args, env)).toMatchObject({ problem: expect.stringContaining(problem) });
  });

  it.each([
    [['--host', '0.0.0.0'], { SLUICE_OWNERSHIP_TOKEN: 'hush' }],
    [['--host', '0.0.0.0', '--allow-anonymous'], {}],
    [['--host', '::1'], {}],
    [['--host', 'localhost'], {}],
    [['--host', '127.0.0.2'], {}],
  ])('%j is taken', (args, env) => {
    expect(read(args, env)).toMatchObject({ host: args[1] });
  });
});
