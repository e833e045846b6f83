import childProcess, { type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import * as esbuild from 'esbuild';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { inOwnGroup } from '../../../src/sdk/extension/index.js';
import { compilerUrl } from '../../../src/sdk/extension/internal.js';

interface Compiler {
  transform(text: string, options: object): Promise<{ readonly code: string }>;
}

afterEach(async () => {
  vi.restoreAllMocks();
  await esbuild.stop(); // the next one who compiles in this process starts it anew
});

describe('a process that a library starts', () => {
  it.skipIf(process.platform === 'win32')(
    'leads a group of its own, and what is started afterwards does not (§13.14)',
    async () => {
      const groupOf = async (child: ChildProcess): Promise<boolean> => {
        await once(child, 'spawn');
        try {
          return process.kill(-(child.pid ?? 0), 0);
        } catch {
          return false; // there is no such group
        } finally {
          child.kill('SIGKILL');
        }
      };
      const start = (): ChildProcess =>
        childProcess.spawn(process.execPath, ['--eval', 'process.stdin.resume()'], {
          stdio: 'pipe',
        });
      expect(await groupOf(inOwnGroup(start))).toBe(true);
      const bare = process.execPath; // it needs no list of arguments
      expect(await groupOf(inOwnGroup(() => childProcess.spawn(bare)))).toBe(true);
      expect(await groupOf(inOwnGroup(() => childProcess.spawn(bare, { cwd: '/' })))).toBe(true);
      expect(await groupOf(start())).toBe(false);
      const thrown = new Error('it cannot be started');
      expect(() =>
        inOwnGroup(() => {
          throw thrown;
        }),
      ).toThrow(thrown);
      expect(await groupOf(start())).toBe(false);
    },
  );
});

describe('the compiler of extensions', () => {
  it('is started again once it has died, also for several texts at once (§13.14)', async () => {
    await esbuild.stop(); // another test may have started it
    const spawn = vi.spyOn(childProcess, 'spawn');
    const compiler = (await import(/* @vite-ignore */ compilerUrl())) as Compiler;
    const compiled = async (text: string) =>
      (await compiler.transform(text, { loader: 'ts' })).code;
    const one = 'const one = 1;\n';
    for (let death = 0; death < 3; death++) {
      expect(await Promise.all([1, 2, 3].map(() => compiled('const one: number = 1')))).toEqual([
        one,
        one,
        one,
      ]);
      await expect(compiled('const = ')).rejects.toThrow('Expected identifier');
      const child = spawn.mock.results.at(-1)?.value as ChildProcess; // as spawn returns it
      child.kill('SIGKILL');
      await once(child, 'close');
    }
    expect(spawn).toHaveBeenCalledTimes(3);
  });
});
