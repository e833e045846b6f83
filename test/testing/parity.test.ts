import { describe, expect, it } from 'vitest';
import { cancel } from '../../src/kernel/index.js';
import {
  compareParity,
  type MakeLegacyRunner,
  parityDifferences,
  recordParityRun,
} from '../../src/testing/index.js';

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
