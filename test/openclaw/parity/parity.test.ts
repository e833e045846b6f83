import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cancel } from '../../../src/kernel/internal.js';
import {
  compareParity,
  type MakeLegacyRunner,
  openclawHookRunner,
  parityDifferences,
  recordParityRun,
  watchFetch,
  watchFolder,
} from '../../../src/openclaw/parity/index.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const hook = 'message_sending';
const event = { to: 'C1', content: 'hi ' };
const ctx = { channelId: 'slack' };
const trimming = {
  pluginId: 'acme',
  handler: (given: { content: string }) => ({ content: given.content.trim() }),
};

/** A legacy runner of somebody else: it calls the handlers, and has its own mind about the result. */
const others =
  (result: (answers: unknown[]) => unknown): MakeLegacyRunner =>
  ({ typedHooks }, { logger }) => ({
    runMessageSending: async (own: never, of: never) => {
      logger.debug(`[hooks] running message_sending (${typedHooks.length} handlers, sequential)`);
      const answers: unknown[] = [];
      for (const { handler } of typedHooks) answers.push(await handler(own, of));
      return result(answers);
    },
  });

describe('compareParity', () => {
  it('finds nothing where both sides do the same', async () => {
    const legacyRunner = others(([only]) => only);
    const report = await compareParity({ hook, event, ctx, handlers: [trimming], legacyRunner });
    expect(report.differences).toEqual([]);
    expect(report.equal).toBe(true);
    for (const run of [report.legacy, report.pipeline]) {
      expect(run.ending).toEqual({ kind: 'returned', value: { content: 'hi' } });
      expect(run.calls).toMatchObject([{ pluginId: 'acme', event, ctx, isHostsEvent: true }]);
    }
  });

  it('names each field of the result that differs, and what both sides had there', async () => {
    const legacyRunner = others(() => ({ content: 'hi', cancel: false }));
    const report = await compareParity({
      hook,
      event,
      ctx,
      handlers: [{ ...trimming, handler: () => ({ content: 'ho', cancel: true }) }],
      legacyRunner,
    });
    expect(report.equal).toBe(false);
    expect(report.differences).toEqual([
      { path: 'result.content', legacy: 'hi', pipeline: 'ho' },
      { path: 'result.cancel', legacy: false, pipeline: true },
    ]);
  });

  it('compares the calls: who is called, in which order, with what', async () => {
    const reversed: MakeLegacyRunner = ({ typedHooks }, options) =>
      others((answers) => answers.at(-1))({ typedHooks: typedHooks.toReversed() }, options);
    const other = { pluginId: 'zeta', handler: () => undefined };
    const report = await compareParity({
      hook,
      event,
      ctx,
      handlers: [trimming, other],
      legacyRunner: reversed,
    });
    const paths = report.differences.map(({ path }) => path);
    expect(paths).toContain('calls[0].pluginId');
    expect(paths).toContain('order[1]');
  });

  it('holds a migrated extension against the plugin that it takes the place of', async () => {
    const blocking = {
      pluginId: 'acme',
      handler: (given: { content: string }) =>
        given.content.includes('secret') ? { cancel: true } : { content: given.content.trim() },
    };
    const migrated = (words: string) => async (content: string) =>
      compareParity({
        hook,
        event: { to: 'C1', content },
        ctx,
        handlers: [blocking],
        pipeline: (kernel) => {
          const of = { family: 'egress.preparing', extensionId: 'acme' } as const;
          kernel.contribute({
            ...of,
            class: 'veto',
            id: 'secrets',
            priority: 1,
            handler: ({ payload }) =>
              payload.content.includes(words) ? cancel('policy') : undefined,
          });
          kernel.contribute({
            ...of,
            class: 'mutator',
            id: 'trim',
            handler: ({ payload }) => ({ content: payload.content.trim() }),
          });
        },
      });
    for (const content of ['hi ', 'a secret', ' '])
      expect((await migrated('secret')(content)).differences).toEqual([]);
    expect((await migrated('sekret')('a secret ')).differences).toEqual([
      { path: 'result.cancel', legacy: true, pipeline: undefined },
      { path: 'result.content', legacy: undefined, pipeline: 'a secret' },
    ]);
  });

  it('gives each side a copy of the event, and compares what handlers wrote to it', async () => {
    const given = { ...event };
    const report = await compareParity({
      hook,
      event: given,
      ctx,
      handlers: [
        {
          pluginId: 'acme',
          handler: (own) => {
            own.content = 'in place';
          },
        },
      ],
      pipeline: () => undefined,
    });
    expect(given).toEqual(event);
    expect(report.differences).toEqual([
      { path: 'event.content', legacy: 'in place', pipeline: 'hi ' },
    ]);
  });

  it('compares what is thrown where errors are not caught', async () => {
    const failing = {
      pluginId: 'acme',
      handler: () => {
        throw new Error('boom');
      },
    };
    const legacyRunner = others(([only]) => only);
    const scenario = { hook, event, ctx, handlers: [failing], catchErrors: false } as const;
    const report = await compareParity({ ...scenario, legacyRunner });
    expect(report.differences).toContainEqual({
      path: 'thrown.message',
      legacy: 'boom',
      pipeline: '[hooks] message_sending handler from acme failed: Error: boom',
    });
  });

  it('says which method a runner lacks', async () => {
    const legacyRunner: MakeLegacyRunner = () => ({});
    await expect(compareParity({ hook, event, ctx, handlers: [], legacyRunner })).rejects.toThrow(
      'runMessageSending',
    );
  });

  it('runs the synchronous hooks, too', async () => {
    const message = { role: 'user', content: 'x' };
    const report = await compareParity({
      hook: 'before_message_write',
      event: { message },
      ctx: {},
      handlers: [{ pluginId: 'acme', handler: () => ({ block: true }) }],
      legacyRunner: () => ({ runBeforeMessageWrite: () => undefined }),
    });
    expect(report.differences).toContainEqual({
      path: 'result',
      legacy: undefined,
      pipeline: { block: true },
    });
  });
});

describe('compareParity with a plugin', () => {
  const register = (api: {
    on(hook: string, handler: (event: never) => unknown, options?: { priority: number }): void;
    logger: { info(text: string): void };
    pluginConfig?: { folder?: string };
  }): void => {
    let calls = 0;
    api.on('message_sending', ({ content }: { content: string }) => {
      calls++;
      api.logger.info(`call ${calls}`);
      return { content: `${content}!` };
    });
    api.on('message_received', async ({ content }: { content: string }) => {
      const { folder } = api.pluginConfig ?? {};
      if (folder !== undefined) writeFileSync(join(folder, 'heard.txt'), content);
      await fetch('http://127.0.0.1:9/heard', { method: 'POST', body: content });
    });
  };

  it('runs all its hooks on both sides, each with an instance of its own (event-pipeline §17.23)', async () => {
    const report = await compareParity({ hook, event, ctx, plugin: register });
    expect(report.differences).toEqual([]);
    expect(report.legacy.calls).toHaveLength(1);
    expect([report.legacy.said, report.pipeline.said]).toEqual([
      [{ level: 'info', text: 'plugin: call 1' }],
      [{ level: 'info', text: 'plugin: call 1' }],
    ]);
  });

  it('loads a plugin from its folder, and says why it cannot', async () => {
    using folder = temporaryFolder({
      'openclaw.plugin.json': JSON.stringify({ id: 'acme', configSchema: {} }),
      'index.js': `let loads = 0; export default (api) => api.on('message_sending', () => ({ content: String(++loads) }));`,
      'package.json': JSON.stringify({ type: 'module' }),
    });
    const of = { hook, event, ctx, plugin: folder.path } as const;
    const { equal, legacy, pipeline } = await compareParity(of);
    expect(equal).toBe(true);
    for (const { ending, calls } of [legacy, pipeline]) {
      expect(ending).toMatchObject({ value: { content: '1' } });
      expect(calls).toMatchObject([{ pluginId: 'acme' }]);
    }
    await expect(compareParity({ ...of, plugin: './nowhere' })).rejects.toThrow('was not found');
    await expect(compareParity({ hook, event, ctx })).rejects.toThrow(
      'needs handlers, or a plugin',
    );
    const throwing = (): never => {
      throw new Error('no');
    };
    await expect(compareParity({ ...of, plugin: throwing })).rejects.toThrow(
      'its register function threw: no',
    );
  });

  it('compares the files, the requests and the lines of what a void hook does', async () => {
    using folder = temporaryFolder({ 'kept.txt': 'kept' });
    const real = globalThis.fetch;
    const report = await compareParity({
      hook: 'message_received',
      event: { from: 'U1', content: 'hi' },
      ctx,
      plugin: register,
      pluginConfig: { folder: folder.path },
      watch: { files: watchFolder(folder.path), requests: watchFetch() },
      pipeline: () => undefined,
    });
    expect(globalThis.fetch).toBe(real);
    expect(readdirSync(folder.path)).toEqual(['kept.txt']);
    const requests = [{ method: 'POST', url: 'http://127.0.0.1:9/heard', body: 'hi' }];
    expect(report.legacy.effects).toEqual({ files: { 'heard.txt': 'hi' }, requests });
    expect(report.differences.map(({ path }) => path)).toEqual([
      'effects.files.heard.txt',
      'effects.requests[0]',
    ]);
  });

  it('puts the files of a watched folder back that a side changed or deleted', async () => {
    using folder = temporaryFolder({ 'a.txt': 'a', 'b/c.txt': 'c' });
    const end = watchFolder(folder.path)();
    writeFileSync(join(folder.path, 'a.txt'), 'A');
    rmSync(join(folder.path, 'b'), { recursive: true });
    expect(end()).toEqual({ 'a.txt': 'A', 'b/c.txt': null });
    expect(readFileSync(join(folder.path, 'a.txt'), 'utf8')).toBe('a');
    expect(readFileSync(join(folder.path, 'b/c.txt'), 'utf8')).toBe('c');
  });
});

describe('compareParity with several hooks', () => {
  const run = { runId: 'r1', sessionKey: 's1' };
  const once = (api: { on(hook: string, handler: () => unknown): void }): void => {
    let answers = 0;
    api.on('before_agent_start', () => ({ prependContext: `answer ${++answers}` }));
  };

  it('runs one after the other on one runner: an answer of before_agent_start is the one of its run (event-pipeline §17.7)', async () => {
    const report = await compareParity({
      hook: 'before_model_resolve',
      event: { prompt: 'p' },
      ctx: run,
      next: [
        { hook: 'before_agent_start', event: { prompt: 'p' }, ctx: run },
        { hook: 'before_prompt_build', event: { prompt: 'p', messages: [] }, ctx: run },
      ],
      plugin: once,
    });
    expect(report.differences).toEqual([]);
    const [start] = report.pipeline.next ?? [];
    expect(start?.ending).toMatchObject({ value: { prependContext: 'answer 1' } });
    expect(report.pipeline.next).toHaveLength(2);
  });

  it('names the call in the path of a difference', async () => {
    const report = await compareParity({
      hook,
      event,
      ctx,
      next: [{ hook, event: { to: 'C1', content: 'two' }, ctx }],
      handlers: [trimming],
      pipeline: () => undefined,
    });
    expect(report.differences.map(({ path }) => path)).toEqual(['result', 'next[0].result']);
  });
});

describe('the row of a difference', () => {
  const legacyRunner: MakeLegacyRunner = ({ typedHooks }) => ({
    runMessageSending: async (own: never, of: never) => {
      let result: object | undefined;
      for (const { handler } of typedHooks)
        result = { ...result, ...((await handler(own, of)) as object) };
      return result;
    },
  });
  const handlers = [{ cancel: true }, { cancel: false }].map((answer) => ({
    pluginId: 'acme',
    handler: () => answer,
  }));

  it('is named, and a suite may allow it', async () => {
    const scenario = { hook, event, ctx, handlers, legacyRunner } as const;
    const { differences } = await compareParity(scenario);
    const result = differences.find(({ path }) => path === 'result.cancel');
    expect(result).toMatchObject({ row: 'cancel-is-terminal', legacy: false, pipeline: true });
    const allowing = await compareParity({ ...scenario, allow: ['cancel-is-terminal'] });
    expect(allowing.allowed).toContainEqual(result);
    expect(allowing.differences.filter(({ row }) => row === 'cancel-is-terminal')).toEqual([]);
  });

  it('is absent where no row explains the difference', async () => {
    const others: MakeLegacyRunner = () => ({ runMessageSending: async () => ({ content: 'x' }) });
    const report = await compareParity({
      hook,
      event,
      ctx,
      handlers: [trimming],
      legacyRunner: others,
      allow: ['cancel-is-terminal', 'ties-across-plugins'],
      pipeline: () => undefined,
    });
    expect(report.differences).toEqual([
      { path: 'result', legacy: { content: 'x' }, pipeline: undefined },
    ]);
  });
});

describe('openclawHookRunner', () => {
  it('cuts the runner out of an installed openclaw, and nothing else of it', async () => {
    const region = (path: string, text: string): string =>
      `//#region ${path}\n${text}\n//#endregion\n`;
    using folder = temporaryFolder({
      'dist/a.js': region('src/plugins/hooks.ts', '/* a copy without the function */'),
      'dist/b.js': [
        `import 'a-dependency-that-is-not-there';`,
        region('src/shared/text/join-segments.ts', `function joined(text) { return text + '!'; }`),
        region(
          'src/plugins/hooks.ts',
          `\nfunction createHookRunner(registry) {
             return { runMessageSending: async () => ({ content: joined(String(registry.typedHooks.length)) }) };
           }`,
        ),
      ].join('\n'),
    });
    const makeRunner = await openclawHookRunner(folder.path);
    const run = await recordParityRun(makeRunner, { hook, event, ctx, handlers: [trimming] });
    expect(run.ending).toEqual({ kind: 'returned', value: { content: '1!' } });
  });

  it('says that a folder has none', async () => {
    await expect(openclawHookRunner('./nowhere')).rejects.toThrow(
      'has no copy of src/plugins/hooks.ts with createHookRunner',
    );
  });
});

describe('recordParityRun', () => {
  it('reports a run as pending that its driver gives up', async () => {
    const never = { pluginId: 'acme', handler: () => new Promise(() => undefined) };
    const run = await recordParityRun(
      others(([only]) => only),
      { hook, event, ctx, handlers: [never], drive: async (_, note) => void note('given up') },
    );
    expect(run.ending).toEqual({ kind: 'pending' });
    expect(run.order.at(-1)).toBe('given up');
  });

  it('keeps what a call looked like when it was made', async () => {
    const writing = {
      pluginId: 'acme',
      handler: (own: { content: string }) => {
        own.content += '!';
      },
    };
    const run = await recordParityRun(
      others(() => undefined),
      { hook, event: { ...event }, ctx, handlers: [writing, writing] },
    );
    expect(run.calls.map((call) => (call.event as typeof event).content)).toEqual(['hi ', 'hi !']);
    expect(run.calls.map(({ isAtOnce }) => isAtOnce)).toEqual([true, false]);
    expect(run.event).toEqual({ ...event, content: 'hi !!' });
  });
});

describe('parityDifferences', () => {
  it('takes a key with undefined for none, and NaN for NaN', () => {
    expect(parityDifferences({ a: undefined, b: Number.NaN }, { b: Number.NaN })).toEqual([]);
  });

  it('names paths into objects and lists', () => {
    expect(parityDifferences({ a: [{ b: 1 }] }, { a: [{ b: 2 }, 3] })).toEqual([
      { path: 'a[0].b', legacy: 1, pipeline: 2 },
      { path: 'a[1]', legacy: undefined, pipeline: 3 },
    ]);
  });

  it('holds a list and an object apart, null and nothing, and two dates', () => {
    expect(parityDifferences([], {})).toHaveLength(1);
    expect(parityDifferences({ a: null }, {})).toHaveLength(1);
    expect(parityDifferences(new Date(0), new Date(0))).toHaveLength(1);
  });

  it('takes errors that read the same for the same', () => {
    expect(parityDifferences(new TypeError('x'), new TypeError('x'))).toEqual([]);
    expect(parityDifferences(new TypeError('x'), new Error('x'))).toHaveLength(1);
  });

  it('ends on cycles', () => {
    const cycle = (name: string) => {
      const made: Record<string, unknown> = { name };
      made['self'] = made;
      return made;
    };
    expect(parityDifferences(cycle('a'), cycle('a'))).toEqual([]);
    expect(parityDifferences(cycle('a'), cycle('b'))).toEqual([
      { path: 'name', legacy: 'a', pipeline: 'b' },
    ]);
  });
});
