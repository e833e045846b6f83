import { describe, expect, it } from 'vitest';
import { Scope } from '../../../src/sdk/extension/index.js';
import { collectingLogger } from '../../../src/testing/index.js';

describe('a scope (§13)', () => {
  it('undoes its effects in reverse, whatever their form, and says what it did', async () => {
    const order: string[] = [];
    const scope = new Scope('acme');
    scope.add('function', () => order.push('function'));
    scope.add('async', { [Symbol.asyncDispose]: async () => void order.push('async') });
    scope.add('sync', { [Symbol.dispose]: () => void order.push('sync') });
    expect(scope.labels()).toEqual(['function', 'async', 'sync']);

    const report = await scope.dispose();
    expect(order).toEqual(['sync', 'async', 'function']);
    expect(report).toEqual({ undone: ['sync', 'async', 'function'], failures: [] });
    expect(scope.labels()).toEqual([]);
  });

  it('gives back what it was given to hold', () => {
    const server = { [Symbol.dispose]: () => undefined, port: 80 };
    expect(new Scope('acme').add('server', server)).toBe(server);
  });

  it('goes on where an undo fails, and reports every failure', async () => {
    const log = collectingLogger();
    const scope = new Scope('acme', log);
    let undone = false;
    scope.add('first', () => {
      undone = true;
    });
    scope.add('throws', () => {
      throw new Error('stuck');
    });
    scope.add('rejects', () => Promise.reject('busy'));

    const report = await scope.dispose();
    expect(undone).toBe(true);
    expect(report.undone).toEqual(['first']);
    expect(report.failures.map(({ label, error }) => [label, error.message])).toEqual([
      ['rejects', 'busy'],
      ['throws', 'stuck'],
    ]);
    expect(log.entries.map(({ message, fields }) => [message, fields['error']])).toEqual([
      ['acme: "rejects" could not be undone', new Error('busy')],
      ['acme: "throws" could not be undone', new Error('stuck')],
    ]);
  });

  it('is disposed once, however often it is asked', async () => {
    let times = 0;
    const scope = new Scope('acme');
    scope.add('timer', () => times++);
    const [first, second] = await Promise.all([scope.dispose(), scope.dispose()]);
    expect(second).toBe(first);
    await scope[Symbol.asyncDispose]();
    expect(times).toBe(1);
  });

  it('undoes at once what is added when it is dead, and says so by a typed error', async () => {
    const scope = new Scope('acme');
    await scope.dispose();
    let undone = false;
    const add = () =>
      scope.add('timer', () => {
        undone = true;
      });
    expect(add).toThrow(expect.objectContaining({ code: 'scope-disposed' }));
    expect(add).toThrow('acme: "timer" cannot be owned');
    expect(undone).toBe(true);
  });

  it('takes nothing more from the moment its dispose begins', async () => {
    const scope = new Scope('acme');
    scope.add('outer', () => scope.add('inner', () => undefined));
    const { failures } = await scope.dispose();
    expect(failures).toMatchObject([{ label: 'outer', error: { code: 'scope-disposed' } }]);
  });
});
