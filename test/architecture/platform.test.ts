import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';

/** An object around an object around an object, and so on. */
function nested(levels: number): object {
  let value: object = {};
  for (let level = 0; level < levels; level++) value = { value };
  return value;
}

function freezeRecursively(value: object): void {
  for (const child of Object.values(value)) freezeRecursively(child as object);
  Object.freeze(value);
}

/** Runs a module in a process of its own, and returns what it printed and how it ended. */
function inProcess(source: string): { readonly out: string; readonly code: number | null } {
  const args = ['--input-type=module', '--eval', source];
  const { stdout, status } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  return { out: stdout.trim(), code: status };
}

describe('a frozen object', () => {
  it('ignores a write of sloppy code, and throws on one of strict code', () => {
    const frozen = Object.freeze({ a: 1 });
    const sloppy = new Function('target', 'target.a = 2; return target.a;');
    const strict = new Function('target', '"use strict"; target.a = 2;');
    expect(sloppy(frozen)).toBe(1);
    expect(() => strict(frozen)).toThrow(TypeError);
  });

  it('does not protect what a Map, a Set or a Date holds', () => {
    const map = Object.freeze(new Map([['a', 1]]));
    const set = Object.freeze(new Set(['a']));
    const date = Object.freeze(new Date(0));
    map.set('b', 2);
    set.add('b');
    date.setTime(1);
    expect([map.size, set.size, date.getTime()]).toEqual([2, 2, 1]);
  });

  it('cannot be made of a typed array that holds something', () => {
    expect(() => Object.freeze(new Uint8Array(1))).toThrow(TypeError);
    expect(Object.isFrozen(Object.freeze(new Uint8Array(0)))).toBe(true);
  });
});

describe('structuredClone', () => {
  it('runs getters', () => {
    let reads = 0;
    const source = {
      get a() {
        return ++reads;
      },
    };
    expect(structuredClone(source)).toEqual({ a: 1 });
    expect(reads).toBe(1);
  });

  it.each([
    ['a function', () => 1],
    ['a proxy', new Proxy({}, {})],
    ['a promise', Promise.resolve()],
  ])('throws on %s', (_, value) => {
    expect(() => structuredClone({ value })).toThrow(
      expect.objectContaining({ name: 'DataCloneError' }),
    );
  });

  it('keeps cycles', () => {
    const source: { self?: unknown } = {};
    source.self = source;
    const copy = structuredClone(source);
    expect(copy.self).toBe(copy);
  });
});

describe('nesting of 20,000 levels', () => {
  const deep = nested(20_000);

  it.each([
    ['structuredClone', () => structuredClone(deep)],
    ['JSON.stringify', () => JSON.stringify(deep)],
    ['a recursive freeze', () => freezeRecursively(deep)],
  ])('is too deep for %s', (_, run) => {
    expect(run).toThrow(RangeError);
  });
});

describe('a promise', () => {
  it('that loses a race and rejects later is not an unhandled rejection', () => {
    const { out, code } = inProcess(`
      process.on('unhandledRejection', () => console.log('unhandled'));
      let lose;
      await Promise.race([new Promise((_, reject) => { lose = reject; }), Promise.resolve()]);
      lose(new Error('late'));
      await new Promise((resolve) => setImmediate(resolve));
      console.log('quiet');
    `);
    expect({ out, code }).toEqual({ out: 'quiet', code: 0 });
  });

  it('that rejects unhandled still knows the async context that it was made in', () => {
    const { out } = inProcess(`
      import { AsyncLocalStorage } from 'node:async_hooks';
      const extension = new AsyncLocalStorage();
      process.on('unhandledRejection', () => console.log(extension.getStore()));
      extension.run('acme', () => { void Promise.reject(new Error('stray')); });
    `);
    expect(out).toBe('acme');
  });
});

describe('a worker', () => {
  it('in an endless loop ends when it is terminated', async () => {
    const worker = new Worker('for (;;);', { eval: true });
    await once(worker, 'online');
    expect(await worker.terminate()).toBe(1);
  });

  it('that runs out of memory fails with a code of its own', async () => {
    const worker = new Worker('const all = []; for (;;) all.push(new Array(1e5).fill({}));', {
      eval: true,
      resourceLimits: { maxOldGenerationSizeMb: 16 },
    });
    const [error] = await once(worker, 'error').catch((thrown: unknown) => [thrown]);
    expect(error).toMatchObject({ code: 'ERR_WORKER_OUT_OF_MEMORY' });
  });

  it('that calls process.exit ends alone', async () => {
    const worker = new Worker('process.exit(7);', { eval: true });
    expect(await once(worker, 'exit')).toEqual([7]);
  });
});
