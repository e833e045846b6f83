import { describe, expect, it } from 'vitest';
import { cancel } from '../../../src/kernel/internal.js';
import {
  defineExtension,
  type ExtensionApi,
  ExtensionSet,
  givenSource,
  type Question,
} from '../../../src/sdk/extension/index.js';
import { createTestKernel, startTestHost } from '../../../src/testing/index.js';
import { scriptedChannel } from '../../support/scripted-channel.js';

const audit = ['acme'];

/** An extension with one of each thing, which hands its api out. */
function acme() {
  const seen: string[] = [];
  const made: { api?: ExtensionApi; question?: Question<unknown> } = {};
  const extension = defineExtension({
    id: 'acme',
    setup(api) {
      made.api = api;
      made.question = api.question<unknown>('sure', () => void seen.push('answered'));
      api.veto('routing.resolving', 'shut', { failClosed: true }, () => cancel('policy'));
      api.mutate('egress.preparing', 'loud', ({ payload }) => {
        seen.push('called');
        return { content: payload.content.toUpperCase() };
      });
      api.observe('egress.sent', 'watch', () => void seen.push('observed'));
      api.tap({ fact: () => void seen.push('tapped') });
      api.schedule('tea', { cron: '* * * * *' }, () => void seen.push('scheduled'));
      api.provide('command', {
        name: 'acme',
        description: 'says hello',
        run: () => ({ text: 'hello from acme' }),
      });
    },
  });
  const api = (): ExtensionApi => {
    if (made.api === undefined) throw new Error('setup has not run');
    return made.api;
  };
  return { extension, seen, api, made };
}

const grants = { acme: ['tap'] };

describe('an extension that is audited as a whole', () => {
  it('is called without effect, and its observers, taps, schedules and commands are left out (judgement §3.7, judgement §3.9)', async () => {
    const { extension, seen } = acme();
    await using test = await startTestHost({ extensions: [extension], audit, grants });
    const end = await test.say('hello');
    expect([end.status, test.replies()]).toEqual(['answered', ['hello']]);
    await test.say('/acme');
    await test.clock.advance(180_000);
    expect(test.replies()).not.toContain('hello from acme');
    expect(new Set(seen)).toEqual(new Set(['called']));
    expect(test.kernel.stats().auditObjections).toBeGreaterThan(0);
    expect(test.log.entries).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        fields: expect.objectContaining({
          leftOut: ['question sure', 'schedule tea', 'command acme'],
        }),
      }),
    );
  });

  it('has its effect in a host that does not audit it', async () => {
    const { extension, seen } = acme();
    await using test = await startTestHost({
      extensions: [extension],
      grants,
      overrides: { 'acme/shut': { disabled: true } },
    });
    await test.say('hello');
    await test.say('/acme');
    await test.clock.advance(60_000);
    expect(test.replies()).toEqual(['HELLO', 'HELLO FROM ACME']);
    expect(new Set(seen)).toEqual(new Set(['called', 'observed', 'tapped', 'scheduled']));
  });

  it('gets an answer of each act as if it were done, and nothing is done (judgement §3.8)', async () => {
    const { extension, seen, api, made } = acme();
    await using test = await startTestHost({ extensions: [extension], audit, grants });
    const { channel } = test;
    const message = { channel: channel.id, to: 'somebody', content: 'tea' };
    const [first, again, other] = [
      await api().send({ ...message, key: 'tea' }),
      await api().send({ ...message, key: 'tea' }),
      await api().send(message),
    ];
    expect(again.sendId).toBe(first.sendId);
    expect(other.sendId).not.toBe(first.sendId);
    expect(await first.ended).toMatchObject({ status: 'sent', content: 'tea', attempts: 1 });
    await test.say('hello');
    const before = await test.transcript();
    await api().inject(test.ends[0]?.sessionKey ?? 'main', 'a secret');
    const asked = await made.question?.ask({ channel: channel.id, to: 'somebody' }, 'Sure?', {
      key: 'k',
      data: 1,
    });
    expect(asked?.id).toMatch(/./);
    await api().store.set('count', 4);
    expect(await api().store.update<number>('count', (was = 0) => was + 1)).toBe(5);
    await test.clock.advance(86_400_000);
    await test.say('again');
    expect(test.replies()).toEqual(['hello', 'again']);
    expect((await test.transcript()).map(({ role }) => role).slice(0, before.length)).toEqual(
      before.map(({ role }) => role),
    );
    expect(JSON.stringify(await test.transcript())).not.toContain('a secret');
    expect(await test.journal.keyValues.list('acme', { prefix: '', limit: 9 })).toEqual([]);
    expect(seen).not.toContain('answered');
    const told = test.log.entries.flatMap(({ level, fields }) =>
      level === 'info' && fields?.['act'] !== undefined ? [fields['act']] : [],
    );
    expect(told).toEqual(['send', 'inject', 'ask', 'store']);
  });

  it('reads the values that are kept, and its own over them (judgement §3.8)', async () => {
    const { extension, api } = acme();
    const kept = new Map<string, unknown>([['limit', 7]]);
    const list = async <T>() => [...kept].map(([key, value]) => ({ key, value: value as T }));
    const { kernel } = createTestKernel({ audit, grants });
    await using set = new ExtensionSet(kernel);
    const refuse = async (): Promise<never> => {
      throw new Error('a dry store wrote');
    };
    set.serve({
      storeOf: () => ({ get: refuse, list, set: refuse, delete: refuse, update: refuse }),
    });
    await set.add(givenSource(extension));
    expect(await api().store.get('limit')).toBe(7);
    await api().store.set('limit', 8);
    expect(await api().store.get('limit')).toBe(8);
    expect(kept.get('limit')).toBe(7);
  });

  it('is held to its grants, and to the acts that its host can do (judgement §3.8)', async () => {
    let held: ExtensionApi | undefined;
    const plain = defineExtension({
      id: 'acme',
      setup(api) {
        held = api;
      },
    });
    await using test = await startTestHost({
      extensions: [plain],
      audit,
      grants: { acme: ['send:pigeon'] },
    });
    expect(test.kernel.isAudited('acme')).toBe(true);
    expect(test.kernel.isAudited('other')).toBe(false);
    const message = { channel: 'carrier', to: 'x', content: 'y' };
    await expect(held?.send(message)).rejects.toMatchObject({ code: 'not-granted' });
    await expect(held?.inject('main', 'x')).rejects.toMatchObject({ code: 'not-granted' });
    const { kernel } = createTestKernel({ audit });
    await using set = new ExtensionSet(kernel);
    await set.add(givenSource(plain));
    await expect(held?.send(message)).rejects.toMatchObject({ code: 'no-host' });
  });

  it('is refused if it provides a channel or an agent (judgement §3.9)', async () => {
    const pigeons = defineExtension({
      id: 'acme',
      setup: (api) => api.provide('channel', scriptedChannel({ id: 'pigeon' })),
    });
    await using set = new ExtensionSet(createTestKernel({ audit }).kernel);
    const { status, error } = await set.add(givenSource(pigeons));
    expect([status, error?.code]).toEqual(['disabled', 'audited-provider']);
    expect(error?.hint).toContain('"overrides": { "acme/HANDLER": { "mode": "audit" } }');
  });
});
