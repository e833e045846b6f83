import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nearest } from '../../../src/kernel/internal.js';

const families = ['egress.preparing', 'egress.sending', 'egress.sent', 'routing.resolving'];

describe('the nearest name', () => {
  it.each([
    ['egress.sendng', 'egress.sending'],
    ['egress.snt', 'egress.sent'],
    ['EGRESS.SENT', 'egress.sent'],
    ['routing.resolvign', 'routing.resolving'],
  ])('of %s is %s (§3.1)', (name, expected) => {
    expect(nearest(name, families)).toBe(expected);
  });

  it.each(['', 'x', 'something.else.entirely'])('of %j is none (§3.1)', (name) => {
    expect(nearest(name, families)).toBe(undefined);
  });

  it('of a name that is there is the name itself (§3.1)', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.string({ minLength: 1 }), {
          minLength: 1,
          selector: (name) => name.toLowerCase(),
        }),
        (names) => {
          for (const name of names) expect(nearest(name, names)).toBe(name);
        },
      ),
    );
  });

  it('of a name with one wrong letter is the name, where no other is as near (§3.1)', () => {
    fc.assert(
      fc.property(fc.constantFrom(...families), fc.nat(), (name, seed) => {
        const at = seed % name.length;
        expect(nearest(`${name.slice(0, at)}#${name.slice(at + 1)}`, families)).toBe(name);
      }),
    );
  });

  it('is not looked for where the name is too long to be a slip', () => {
    expect(nearest('a/'.repeat(10_000), ['a/'])).toBe(undefined);
  });
});
