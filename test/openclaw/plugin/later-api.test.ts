import { describe, expect, it } from 'vitest';
import { loadLegacyPlugin } from '../../../src/openclaw/index.js';
import { unsupportedMembers } from '../../../src/openclaw/plugin/api/unsupported.js';
import { createTestKernel } from '../../../src/testing/index.js';

interface LaterApi {
  readonly lifecycle?: {
    readonly signal: AbortSignal;
    onDispose(dispose: () => unknown): () => void;
  };
  readonly registrationMode?: string;
  readonly session?: {
    readonly state: { registerSessionExtension(extension: object): void };
    readonly workflow: {
      enqueueNextTurnInjection(given: object): Promise<{ enqueued: boolean; id: string }>;
      scheduleSessionTurn(given: object): unknown;
    };
  };
  enqueueNextTurnInjection?(given: object): Promise<object>;
  on?(hook: string, handler: (event: never) => unknown): void;
  registerSpeechProvider?(given: object): void;
}

function load(options: object = {}) {
  const test = createTestKernel();
  let api: LaterApi = {};
  const plugin = loadLegacyPlugin((given: LaterApi) => void (api = given), {
    ...{ kernel: test.kernel, clock: test.clock, pluginId: 'p', profile: '2026.9' as const },
    ...options,
  });
  const build = async (sessionKey: string, run: { readonly runId?: string } = {}) => {
    const payload = { sessionKey, prompt: 'p', messages: [], guidance: [], additions: [], ...run };
    return (await test.kernel.dispatch('agent.prompt.building', payload)).payload.additions;
  };
  return { ...test, api, plugin, build };
}

describe('the api of profile 2026.9 (event-pipeline §17.34)', () => {
  it('tells the end of the plugin by a signal that the platform takes, and disposes of the rest', async () => {
    const { api, plugin } = load();
    const ends: string[] = [];
    const { signal, onDispose } = api.lifecycle ?? expect.unreachable();
    const any = AbortSignal.any([signal, new AbortController().signal]);
    onDispose(() => ends.push('first'));
    onDispose(() => Promise.reject(new Error('no')));
    onDispose(() => ends.push('kept'))();
    onDispose(async () => ends.push(`aborted ${any.aborted}`));
    await plugin.dispose();
    expect(ends).toEqual(['aborted true', 'first']);
    expect(plugin.diagnostics.map(({ level }) => level)).toContain('error');
  });

  it('has texts stand before or after the next prompt of a session, once', async () => {
    const { api, build } = load();
    const enqueue = (given: object) =>
      api.session?.workflow.enqueueNextTurnInjection({ sessionKey: 's', ...given });
    expect(await enqueue({ text: ' a ', idempotencyKey: 'k' })).toEqual({
      ...{ enqueued: true, id: 'k', sessionKey: 's' },
    });
    expect(await enqueue({ text: 'again', idempotencyKey: 'k' })).toMatchObject({
      enqueued: false,
    });
    expect(await enqueue({ text: ' ' })).toMatchObject({ enqueued: false });
    await enqueue({ text: 'b' });
    await enqueue({ text: 'after', placement: 'append_context' });
    await api.enqueueNextTurnInjection?.({ sessionKey: 'other', text: 'x' });
    expect(await build('s')).toEqual([
      { text: 'a\n\nb', position: 'before' },
      { text: 'after', position: 'after' },
    ]);
    expect(await build('s')).toEqual([]);
    expect(await build('other')).toEqual([{ text: 'x', position: 'before' }]);
  });

  it('gives a text to each attempt of the next run, and to no later run', async () => {
    const { api, build } = load();
    const text = { sessionKey: 's', text: 'a' };
    await api.enqueueNextTurnInjection?.(text);
    const additions = [{ text: 'a', position: 'before' }];
    expect(await build('s', { runId: 'r-1' })).toEqual(additions);
    await api.enqueueNextTurnInjection?.({ ...text, text: 'while it runs' });
    expect(await build('s', { runId: 'r-1' })).toEqual(additions);
    expect(await build('s', { runId: 'r-2' })).toEqual([
      { text: 'while it runs', position: 'before' },
    ]);
    expect(await build('s', { runId: 'r-3' })).toEqual([]);
  });

  it('lists the texts of all plugins for agent_turn_prepare, oldest first, in each attempt of the run', async () => {
    const { kernel, api, plugin, build, clock } = load();
    const seen: unknown[] = [];
    let other: LaterApi = {};
    const second = loadLegacyPlugin(
      (given: LaterApi) => {
        other = given;
        const tell = (event: { readonly queuedInjections: unknown }) =>
          void seen.push(event.queuedInjections);
        given.on?.('agent_turn_prepare', tell);
      },
      { kernel, clock, pluginId: 'q', profile: '2026.9' },
    );
    const now = clock.now();
    const late = { text: 'late', placement: 'append_context', ttlMs: 9, metadata: { k: 1 } };
    const early = { sessionKey: 's', text: ' early ', idempotencyKey: 'k' };
    await api.enqueueNextTurnInjection?.(early);
    await clock.advance(1);
    await other.enqueueNextTurnInjection?.({ sessionKey: 's', ...late });
    await other.enqueueNextTurnInjection?.({ sessionKey: 'another', text: 'x' });
    const listed = [
      {
        ...{ id: 'k', idempotencyKey: 'k', pluginId: 'p', pluginName: 'p' },
        ...{ text: 'early', placement: 'prepend_context', createdAt: now },
      },
      { id: 'q:1', pluginId: 'q', pluginName: 'q', ...late, createdAt: now + 1 },
    ];
    for (const runId of ['r-1', 'r-1', 'r-2']) await build('s', { runId });
    expect(seen).toEqual([listed, listed, []]);
    await plugin.dispose();
    await second.dispose();
    await build('another', { runId: 'r-3' });
    expect(seen).toHaveLength(3);
  });

  it('takes no text whose fields do not fit', async () => {
    const { api, build } = load();
    const unfit = [
      { sessionKey: ' ' },
      { text: 'x'.repeat(32_769) },
      { placement: 'between' },
      { ttlMs: -1 },
      { idempotencyKey: ' ' },
    ];
    for (const fields of unfit) {
      const given = { sessionKey: 's', text: 'a', ...fields };
      expect(await api.enqueueNextTurnInjection?.(given)).toMatchObject({
        ...{ enqueued: false, id: '' },
      });
    }
    expect(await build('s')).toEqual([]);
  });

  it('takes no text when 32 wait, or that is none', async () => {
    const { api } = load();
    const enqueue = (text: unknown) => api.enqueueNextTurnInjection?.({ sessionKey: 's', text });
    expect(await enqueue(7)).toMatchObject({ enqueued: false });
    for (let at = 0; at < 32; at++)
      expect(await enqueue(`text ${at}`)).toMatchObject({ enqueued: true });
    expect(await enqueue('one more')).toMatchObject({ enqueued: false });
  });

  it('forgets a text whose time is over, and keeps one from a plugin that may not write to the prompt', async () => {
    const { api, build, clock } = load();
    const text = { sessionKey: 's', text: 'old' };
    await api.enqueueNextTurnInjection?.({ ...text, ttlMs: 10 });
    await clock.advance(11);
    expect(await build('s')).toEqual([]);
    const kept = load({ hooks: { allowPromptInjection: false } });
    expect(await kept.api.enqueueNextTurnInjection?.(text)).toMatchObject({ enqueued: false });
    expect(kept.plugin.diagnostics).toHaveLength(1);
  });

  it('refuses by name what no host has', () => {
    const { api, plugin } = load();
    api.session?.state.registerSessionExtension({ namespace: 'n' });
    api.session?.workflow.scheduleSessionTurn({});
    api.registerSpeechProvider?.({});
    expect(api.registrationMode).toBe('full');
    expect(plugin.unsupported.map(({ method }) => method)).toEqual([
      'api.session.state.registerSessionExtension',
      'api.session.workflow.scheduleSessionTurn',
      'api.registerSpeechProvider',
    ]);
    for (const { instead } of plugin.unsupported)
      expect(Object.values(unsupportedMembers)).toContain(instead);
  });

  it('is not that of profile 2026.3, whose plugins look for what is there', () => {
    const { api } = load({ profile: '2026.3' });
    expect([api.session, api.registerSpeechProvider, api.registrationMode]).toEqual([
      ...[undefined, undefined, undefined],
    ]);
  });
});
