import { describe, expect, it } from 'vitest';
import { createLab } from '../../support/kernel-lab.js';
import { labSample } from '../../support/kernel-stages.js';

const { kernel } = createLab();

describe('a payload from outside', () => {
  it('comes back frozen where it fits, its shared fields by reference (§1.4, §1.7)', () => {
    const payload = labSample({ body: { lines: ['a'] }, raw: { open: true } });
    const parsed = kernel.parsePayload('lab.sync', payload);
    expect(parsed).toEqual(payload);
    const { body, raw } = parsed as Record<string, object>;
    expect([parsed, body].every(Object.isFrozen)).toBe(true);
    expect(raw).toBe(payload['raw']);
    expect(Object.isFrozen(raw)).toBe(false);
  });

  it('cannot be changed any more by who sent it (§1.4)', () => {
    const lines = ['a'];
    const parsed = kernel.parsePayload('lab.sync', labSample({ body: { lines } }));
    expect(Reflect.set(lines, 0, 'b') && JSON.stringify(parsed).includes('"b"')).toBe(false);
  });

  it.each([
    ['a wrong type', { title: 1 }, '/title'],
    ['a value out of bounds', { title: 'x', count: -1 }, '/count'],
    ['a wrong item', { title: 'x', tags: ['a', 2] }, '/tags'],
    ['a wrong inner field', { title: 'x', body: { lines: 'no' } }, '/body/lines'],
    ['an undeclared field', { title: 'x', titel: 'y' }, '/titel'],
    ['a missing field', {}, '/'],
  ])('with %s is a typed error that names the path (§1.4)', (_, payload, path) => {
    expect(() => kernel.parsePayload('lab.sync', payload)).toThrow(
      expect.objectContaining({
        code: 'bad-payload',
        details: expect.objectContaining({
          family: 'lab.sync',
          path: expect.stringContaining(path) as string,
        }) as object,
      }),
    );
  });

  it('with an undeclared field names the nearest declared one (§1.4)', () => {
    const parse = (): unknown => kernel.parsePayload('lab.sync', { title: 'x', modle: 'y' });
    expect(parse).toThrow(/"model"/);
  });

  it.each([null, undefined, 'text', 4, [], true, Symbol('s')])(
    'that is %s is refused (§1.4)',
    (payload) => {
      expect(() => kernel.parsePayload('lab.sync', payload)).toThrow(
        expect.objectContaining({ code: 'bad-payload' }),
      );
    },
  );

  it('whose properties answer differently each time is refused, or read once (§1.6)', () => {
    let reads = 0;
    const payload = {
      get title() {
        reads++;
        return reads === 1 ? 'good' : 7;
      },
    };
    try {
      const parsed = kernel.parsePayload('lab.sync', payload);
      expect(parsed).toEqual({ title: 'good' });
    } catch (thrown) {
      expect(thrown).toMatchObject({ name: 'SluiceError' });
    }
    expect(reads).toBeLessThanOrEqual(1);
  });

  it.each([
    [
      'a throwing getter',
      {
        get title() {
          throw new Error('no');
        },
      },
    ],
    [
      'a proxy that throws',
      new Proxy(
        {},
        {
          ownKeys() {
            throw new Error('no');
          },
        },
      ),
    ],
    ['a revoked proxy', revoked()],
  ])('that is, or has, %s is a typed error and no crash (§1.4)', (_, payload) => {
    expect(() => kernel.parsePayload('lab.sync', payload)).toThrow(
      expect.objectContaining({ name: 'SluiceError' }),
    );
  });

  it('is checked on every dispatch with validate: always, with handlers or none (§1.4)', async () => {
    const lab = createLab({ validate: 'always' });
    const wrong = expect.objectContaining({ code: 'bad-payload' }) as object;
    expect(() => lab.kernel.dispatchSync('lab.sync', { title: 1 })).toThrow(wrong);
    await expect(lab.kernel.dispatch('lab.parallel', { title: 1 })).rejects.toEqual(wrong);
  });

  it('is not checked on dispatch otherwise: the types are trusted (§1.4)', () => {
    expect(kernel.dispatchSync('lab.sync', { title: 1 }).status).toBe('passed');
  });

  it('of an unknown family names the nearest (§3.1)', () => {
    expect(() => kernel.parsePayload('lab.snyc', {})).toThrow(/Did you mean "lab.sync"\?/);
  });
});

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}
