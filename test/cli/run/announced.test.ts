import { describe, expect, it } from 'vitest';
import { announced } from '../../../src/cli/run/announced.js';
import type { Settings } from '../../../src/cli/settings/settings.js';
import { createKernel } from '../../../src/kernel/internal.js';
import { ExtensionSet } from '../../../src/sdk/extension/index.js';

/** The set-up that a host with this config tells the others. */
function about(written: unknown, set: Settings['setConfig'] = []) {
  const settings = { config: { written }, audit: [], strict: false, setConfig: set };
  const extensions = new ExtensionSet(createKernel(), {});
  const given = settings as unknown as Settings; // the parts that it reads
  return announced(given, {}, { extensions, plugins: [] }, '1.2.3')();
}

describe('the set-up that a host announces (durability §11.13)', () => {
  it.each([
    ['a text', { token: 'a' }, { token: 'b' }],
    ['a number', { pin: 1234 }, { pin: 4321 }],
    ['a list', { apiKeys: ['a'] }, { apiKeys: ['b'] }],
    ['the name of a key', { tokens: { a: 'ann' } }, { tokens: { b: 'bob' } }],
    ['a part deep under such a name', { auth: { basic: ['a'] } }, { auth: { basic: ['b'] } }],
    ['an address', { hook: 'https://a.example/x' }, { hook: 'https://b:c@d.example' }],
    ['a known form', `xoxb-${'1'.repeat(12)}`, `xoxb-${'2'.repeat(12)}`],
  ])('is the same whatever the secret in it: %s', (_, one, other) => {
    expect(about({ extensions: [one] })).toEqual(about({ extensions: [other] }));
  });

  it('has no secret of the command line in it', () => {
    const set = (value: unknown) => [{ path: 'acme.token', value }];
    expect(about({}, set('a'))).toEqual(about({}, set('b')));
    expect(about({}, set('a'))).not.toEqual(about({}));
  });

  it('is another for each part of the config that differs, and the same if its keys stand otherwise', () => {
    const one = about({ strict: true, extensions: [{ path: './a.js', config: { from: 22 } }] });
    const other = about({ extensions: [{ config: { from: 23 }, path: './a.js' }], strict: true });
    const names = Object.keys(one).filter((name) => one[name] !== other[name]);
    expect(names).toEqual(['config extensions']);
    const same = about({ extensions: [{ config: { from: 22 }, path: './a.js' }], strict: true });
    expect(same).toEqual(one);
    expect(one['sluice']).toBe('1.2.3');
  });

  it('takes what no JSON has', () => {
    const cyclic = new (class {
      self: unknown = this;
    })();
    expect(about({ agents: [cyclic, 1n, () => 1, undefined] })['config agents']).toMatch(
      /^\w{16}$/,
    );
  });
});
