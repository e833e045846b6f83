import { Type } from 'typebox';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import {
  defineCommand,
  defineExtension,
  defineTool,
  type ExtensionApi,
  fromTypebox,
  placeOf,
} from '../../../../src/index.js';
import type { ToolUse } from '../../../../src/sdk/stream/index.js';
import { commandContext, expectReply, startTestHost } from '../../../../src/testing/index.js';

const sides = z.object({ sides: z.coerce.number().int().min(2), note: z.string().optional() });
const roll = defineCommand({
  name: 'roll',
  description: 'Throws a die.',
  usage: '<sides> [note...]',
  args: sides,
  run: ({ args }) => {
    expectTypeOf(args).toEqualTypeOf<{ sides: number; note?: string | undefined }>();
    return JSON.stringify(args);
  },
});
const one = defineCommand({
  ...{ name: 'one', description: 'Takes one word.', usage: '<word>' },
  args: fromTypebox(Type.Object({ word: Type.String() })),
  run: ({ args: { word } }) => word,
});
const extension = defineExtension({
  id: 'acme',
  setup: (api) => {
    api.provide('command', roll);
    api.provide('command', one);
  },
});

describe('a command with a schema (event pipeline §16.18)', () => {
  it('gets its words by their names, read by the schema', async () => {
    await using test = await startTestHost({ extensions: [extension] });
    expectReply(await test.say('/roll 6 for  Ada'), '{"sides":6,"note":"for Ada"}');
    expectReply(await test.say('/roll 6'), '{"sides":6}');
    expectReply(await test.say('/one tea'), 'tea');
  });

  it('is refused at once if its usage and its schema name other words', () => {
    const named = (usage: string) => () =>
      defineCommand({ name: 'roll', description: '', usage, args: sides, run: () => '' });
    expect(named('<side> [note...]')).toThrow('do not both name "side"');
    expect(named('<sides>')).toThrow('do not both name "note"');
    const args = z.object({ sides: z.date() }); // it tells no JSON Schema
    expect(() => defineCommand({ ...roll, usage: '<other>', args, run: () => '' })).not.toThrow();
  });

  it.each([
    ['/roll one', /^sides: .*\. Write: \/roll <sides> \[note\.\.\.]$/],
    ['/roll', /^sides: .*Write: /],
    ['/one', /^word: .*Write: \/one <word>$/],
    ['/one tea cake', '"cake" is one word too many. Write: /one <word>'],
  ])('answers %s with what was expected', async (text, answer) => {
    await using test = await startTestHost({ extensions: [extension] });
    expectReply(await test.say(text), answer);
    expect(test.of('command.completed').at(-1)?.payload.success).toBe(false);
  });

  it('is in /help with its usage', async () => {
    await using test = await startTestHost({ extensions: [extension] });
    await test.say('/help');
    expect(test.replies()[0]).toContain('/roll <sides> [note...]  Throws a die.');
  });
});

describe('what a command gets (event pipeline §16.18)', () => {
  it('has the place of its message, answers before its end, and a signal that aborts when the host stops', async () => {
    const seen: unknown[] = [];
    let aborted = false;
    const slow = defineExtension({
      id: 'slow',
      setup: (api) =>
        api.provide('command', {
          ...{ name: 'slow', description: 'Works.' },
          run: async ({ place, reply, signal, args: [isWaiting] }) => {
            seen.push(place, (await reply('One moment.')).status);
            if (isWaiting === undefined) return 'Done.';
            await new Promise((resolve) => signal.addEventListener('abort', resolve));
            aborted = signal.aborted;
            return '';
          },
        }),
    });
    await using test = await startTestHost({ extensions: [slow] });
    await test.say({ text: '/slow', thread: '7' });
    expect(test.replies()).toEqual(['One moment.', 'Done.']);
    const place = { channel: 'fake', accountId: 'default', to: 'fake:ada', threadId: '7' };
    expect(seen).toEqual([expect.objectContaining({ ...place, to: expect.any(String) }), 'sent']);
    void test.say('/slow wait').catch(() => undefined);
    await test.clock.advance(1_000);
    const stopping = test.host.stop({ timeoutMs: 1_000 });
    await test.clock.advance(10_000);
    await stopping;
    expect(aborted).toBe(true);
  });

  it('is there in a context of a test, too', () => {
    const { place, signal } = commandContext();
    expect([place.channel, signal.aborted]).toEqual(['console', false]);
  });
});

describe('a tool with a schema (event pipeline §16.23)', () => {
  const use = {} as ToolUse; // it is not read
  const dice = defineTool({
    ...{ name: 'dice', description: 'Throws a die.' },
    args: z.object({ sides: z.int().min(2) }),
    execute: ({ sides: most }) => {
      expectTypeOf(most).toBeNumber();
      return most;
    },
  });

  it('tells its JSON Schema, and gets arguments that fit', async () => {
    expect(dice.inputSchema).toMatchObject({
      type: 'object',
      properties: { sides: { type: 'integer', minimum: 2 } },
      required: ['sides'],
    });
    expect(await dice.execute({ sides: 6 }, use)).toBe(6);
    await expect(dice.execute({ sides: 1 }, use)).rejects.toThrow('wrong arguments: sides: ');
  });

  it('needs a JSON Schema if its schema tells none', () => {
    const schema = Type.Object({ sides: Type.Integer() });
    const about = { name: 'dice', description: '', args: fromTypebox(schema), execute: () => '' };
    expect(() => defineTool(about)).toThrow('give it as inputSchema');
    expect(defineTool({ ...about, inputSchema: { ...schema } }).inputSchema).toMatchObject(schema);
  });
});

describe('the place of a message (extensions-that-act §4.9)', () => {
  it('is where an answer to it goes, with its account and its thread', () => {
    const message = { channel: 'a', from: 'ada', accountId: 'one' };
    expect(placeOf(message)).toEqual({ channel: 'a', to: 'ada', accountId: 'one' });
    expect(placeOf({ ...message, conversationId: 'room', threadId: 7 })).toEqual({
      ...{ channel: 'a', to: 'room', accountId: 'one', threadId: 7 },
    });
    const elsewhere = { originatingChannel: 'b', originatingTo: 'there' };
    expect(placeOf({ ...message, ...elsewhere })).toEqual({ channel: 'b', to: 'there' });
  });

  it('is that of `api.reply`, which follows its call', async () => {
    const setup = (api: ExtensionApi): void => {
      api.observe('routing.resolved', 'hello', async (call) => {
        await api.reply(call, 'One moment.');
      });
      api.observe('ingress.normalized', 'note', async (call) => {
        await api.reply(call, { content: 'I have it.', key: call.event.correlationId });
      });
    };
    await using test = await startTestHost({
      extensions: [defineExtension({ id: 'acme', setup })],
    });
    const { correlationId } = await test.say({ text: 'hello', thread: '7' });
    await test.clock.advance(1_000);
    expect(test.channel.sent.map(({ content, threadId }) => [content, threadId])).toEqual(
      expect.arrayContaining([
        ['I have it.', '7'],
        ['One moment.', '7'],
      ]),
    );
    const sent = test.of('egress.sent').filter(({ payload }) => payload.kind === 'unprompted');
    expect(sent.map(({ event }) => event.correlationId)).toEqual([correlationId, correlationId]);
  });
});
