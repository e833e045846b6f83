import { describe, expect, it, vi } from 'vitest';
import { cancel } from '../../../src/kernel/internal.js';
import { bridgeInternalHooks } from '../../../src/openclaw/internal-hooks/bridge-internal-hooks.js';
import {
  createInternalHookEvent,
  type InternalHookEvent,
} from '../../../src/openclaw/internal-hooks/event.js';
import type { InternalHookOptions } from '../../../src/openclaw/internal-hooks/internal-hooks.js';
import { internalHookRows } from '../../../src/openclaw/internal-hooks/rows.js';
import { collectingLogger, createTestKernel, samplePayload } from '../../../src/testing/index.js';

function lab(options: InternalHookOptions = {}) {
  const test = createTestKernel();
  const logger = collectingLogger();
  const hooks = bridgeInternalHooks(test.kernel, { logger, clock: test.clock, ...options });
  const families = () => test.outcomes.map(({ event }) => event.family);
  return { ...test, hooks, logger, families };
}

const context = { commandSource: 'telegram', senderId: 'ada', workspaceDir: '/w' };

describe('a trigger of the internal hook bus', () => {
  it('calls the handlers of the type first, then those of the action, each in order', async () => {
    const { hooks } = lab();
    const calls: string[] = [];
    const named = (name: string) => () => void calls.push(name);
    hooks.registerInternalHook('command:new', named('new 1'));
    hooks.registerInternalHook('command', named('all 1'));
    hooks.registerInternalHook('command:new', named('new 2'));
    hooks.registerInternalHook('command', named('all 2'));
    hooks.registerInternalHook('command:reset', named('reset'));
    await hooks.triggerInternalHook(createInternalHookEvent('command', 'new', 'k', context));
    expect(calls).toEqual(['all 1', 'all 2', 'new 1', 'new 2']);
  });

  it('keeps that order past nine handlers', async () => {
    const { hooks } = lab();
    const calls: number[] = [];
    for (let i = 0; i < 25; i++) hooks.registerInternalHook('command', () => void calls.push(i));
    await hooks.triggerInternalHook(createInternalHookEvent('command', 'stop', 'k'));
    expect(calls).toEqual(Array.from({ length: 25 }, (_, i) => i));
  });

  it.each(internalHookRows.map(({ type, action }) => [type, action] as const))(
    'awaits the handlers of %s:%s one by one',
    async (type, action) => {
      const { hooks } = lab();
      const calls: string[] = [];
      hooks.registerInternalHook(type, async () => {
        calls.push('first begins');
        await new Promise<void>((resolve) => setImmediate(resolve));
        calls.push('first ends');
      });
      hooks.registerInternalHook(type, () => void calls.push('second'));
      await hooks.triggerInternalHook(createInternalHookEvent(type, action, 'k', fitting[action]));
      expect(calls).toEqual(['first begins', 'first ends', 'second']);
    },
  );

  it('gives all handlers the same event, which they may write to', async () => {
    const { hooks } = lab();
    const event = createInternalHookEvent('command', 'new', 'k', context);
    const seen: unknown[] = [];
    hooks.registerInternalHook('command', (given) => {
      given.context.note = 'written';
      seen.push(given);
    });
    hooks.registerInternalHook('command:new', (given) => void seen.push(given));
    expect(await hooks.triggerInternalHook(event)).toBeUndefined();
    expect(seen).toEqual([event, event]);
    expect(seen[0]).toBe(event);
    expect(event.context.note).toBe('written');
  });

  it('isolates a handler that throws or rejects, and logs it as the legacy bus does', async () => {
    const { hooks, logger, failures } = lab();
    const last = vi.fn();
    hooks.registerInternalHook('command:new', () => {
      throw new Error('one');
    });
    hooks.registerInternalHook('command:new', () => Promise.reject('two'));
    hooks.registerInternalHook('command:new', last);
    await hooks.triggerInternalHook(createInternalHookEvent('command', 'new', 'k', context));
    expect(last).toHaveBeenCalledTimes(1);
    expect(logger.entries.filter(({ level }) => level === 'error')).toMatchObject([
      { message: 'Hook error [command:new]', fields: { error: { message: 'one' } } },
      { message: 'Hook error [command:new]', fields: { error: 'two' } }, // §20.3
    ]);
    expect(failures.map(({ extensionId, kind }) => [extensionId, kind])).toEqual([
      ['internal-hooks', 'threw'],
      ['internal-hooks', 'threw'],
    ]);
    expect(hooks.stats().failures).toBe(2);
  });

  it('isolates a handler that throws, also if the logger throws (event-pipeline 12.2)', async () => {
    const broken = (): never => {
      throw new Error('no disk');
    };
    const logger = { debug: broken, info: broken, warn: broken, error: broken };
    const { hooks, outcomes } = lab({ logger });
    const calls: string[] = [];
    const failing = (): never => {
      calls.push('failing');
      throw new Error('boom');
    };
    hooks.registerInternalHook('command', failing);
    hooks.registerInternalHook('command', () => void calls.push('second'));
    await hooks.triggerInternalHook(createInternalHookEvent('command', 'new', 'k', context));
    await hooks.triggerInternalHook(createInternalHookEvent('command', 'acme', 'k', context));
    await hooks.triggerInternalHook(
      createInternalHookEvent('command', 'new', 'k', { senderId: 7 }),
    );
    expect(calls).toEqual(['failing', 'second', 'failing', 'second', 'failing', 'second']);
    expect(outcomes[0]?.failures.map(({ message }) => message)).toEqual(['boom']);
  });

  it('works for actions and types that no family is for', async () => {
    const { hooks, families, logger } = lab();
    const calls: string[] = [];
    hooks.registerInternalHook('command', ({ action }) => void calls.push(`type ${action}`));
    hooks.registerInternalHook('command:status', () => {
      throw new Error('no');
    });
    hooks.registerInternalHook('command:status', () => void calls.push('action'));
    hooks.registerInternalHook('acme:deploy:done', () => void calls.push('own'));
    await hooks.triggerInternalHook(createInternalHookEvent('command', 'status', 'k'));
    await hooks.triggerInternalHook(
      createInternalHookEvent('acme' as 'command', 'deploy:done', 'k'),
    );
    expect(calls).toEqual(['type status', 'action', 'own']);
    expect(logger.messages('error')).toEqual(['Hook error [command:status]']);
    expect(families()).toEqual([]);
    expect(hooks.stats()).toMatchObject({ triggered: 2, carried: 2, dispatched: 0 });
  });

  it('calls its handlers also where its context does not fit its family, and says so once', async () => {
    const { hooks, logger, families } = lab();
    const heard = vi.fn();
    hooks.registerInternalHook('message:received', heard);
    const odd = () => createInternalHookEvent('message', 'received', 'k', { content: 7 });
    await hooks.triggerInternalHook(odd());
    await hooks.triggerInternalHook(odd());
    expect(heard).toHaveBeenCalledTimes(2);
    expect(logger.messages('warn')).toHaveLength(1);
    expect(logger.messages('warn')[0]).toContain('message:received is no canonical event');
    expect(hooks.stats().misfits).toBe(2);
    expect(families()).toEqual([]);
  });

  it('keeps the handlers that it began with, whatever they register and take back', async () => {
    const { hooks } = lab();
    const calls: string[] = [];
    const second = () => void calls.push('second');
    hooks.registerInternalHook('command:new', () => {
      calls.push('first');
      hooks.unregisterInternalHook('command:new', second);
      hooks.registerInternalHook('command:new', () => void calls.push('third'));
    });
    hooks.registerInternalHook('command:new', second);
    const event = () => createInternalHookEvent('command', 'new', 'k', context);
    await hooks.triggerInternalHook(event());
    expect(calls).toEqual(['first', 'second']);
    calls.length = 0;
    await hooks.triggerInternalHook(event());
    expect(calls).toEqual(['first', 'third']);
  });

  it('calls handlers that return at once in one tick, where the legacy bus waits between them', async () => {
    const { hooks } = lab();
    const calls: string[] = [];
    for (const name of ['one', 'two'])
      hooks.registerInternalHook('command:new', () => void calls.push(name));
    const done = hooks.triggerInternalHook(createInternalHookEvent('command', 'new', 'k', context));
    expect(calls).toEqual(['one', 'two']);
    await done;
  });

  it('gives a handler up that takes longer than its caller can wait', async () => {
    const { hooks, clock } = lab({ handlerTimeoutMs: 5_000 });
    const last = vi.fn();
    hooks.registerInternalHook('command:new', () => new Promise<void>(() => undefined));
    hooks.registerInternalHook('command:new', last);
    const done = hooks.triggerInternalHook(createInternalHookEvent('command', 'new', 'k', context));
    await clock.advance(5_000);
    await done;
    expect(last).toHaveBeenCalledTimes(1);
  });

  it('waits a whole minute for a handler of an event without a family, and then calls the next', async () => {
    const { hooks, clock } = lab();
    const last = vi.fn();
    hooks.registerInternalHook('command:status', () => new Promise<void>(() => undefined));
    hooks.registerInternalHook('command:status', last);
    const done = hooks.triggerInternalHook(createInternalHookEvent('command', 'status', 'k'));
    await clock.advance(59_999);
    expect(last).not.toHaveBeenCalled();
    await clock.advance(1);
    await done;
    expect(last).toHaveBeenCalledTimes(1);
  });
});

describe('registering on the internal hook bus', () => {
  it('takes the first of two equal registrations back, and forgets a key without handlers', async () => {
    const { hooks, kernel } = lab();
    const heard = vi.fn();
    hooks.registerInternalHook('b', heard);
    hooks.registerInternalHook('command:new', heard);
    hooks.registerInternalHook('command:new', heard);
    expect(hooks.getRegisteredEventKeys()).toEqual(['b', 'command:new']);
    hooks.unregisterInternalHook('command:new', heard);
    await hooks.triggerInternalHook(createInternalHookEvent('command', 'new', 'k', context));
    expect(heard).toHaveBeenCalledTimes(1);
    hooks.unregisterInternalHook('command:new', heard);
    hooks.unregisterInternalHook('command:new', heard); // nothing is there any more
    expect(hooks.getRegisteredEventKeys()).toEqual(['b']);
    expect(kernel.has('command.received')).toBe(false);
  });

  it('leaves nothing on the kernel when it is cleared', () => {
    const { hooks, kernel } = lab();
    for (const type of ['command', 'session', 'agent', 'gateway', 'message'])
      hooks.registerInternalHook(type, () => undefined);
    expect(kernel.stats().contributions).toBe(12); // every sink of every row
    hooks.clearInternalHooks();
    expect(kernel.stats().contributions).toBe(0);
    expect(hooks.getRegisteredEventKeys()).toEqual([]);
  });

  it('names the owner of a handler in the plan', () => {
    const { hooks, kernel } = lab();
    hooks.registerInternalHook('command:stop', () => undefined, 'acme');
    expect(kernel.plan('command.received')[0]).toMatchObject({
      extensionId: 'internal-hooks',
      contributionId: '02.1.000000000.command:stop.command.received.acme',
      class: 'augmenter',
    });
  });
});

describe('a command', () => {
  it('becomes command.received, with its surface', async () => {
    const { hooks, outcomes } = lab();
    await hooks.triggerInternalHook(
      createInternalHookEvent('command', 'new', 'agent:main:main', {
        ...context,
        sessionEntry: { sessionId: 's-2' },
        previousSessionEntry: { sessionId: 's-1' },
        cfg: { agents: {} },
      }),
    );
    expect(outcomes.map(({ event }) => event.family)).toEqual(['command.received']);
    expect(outcomes[0]?.payload).toEqual({
      name: 'new',
      args: [],
      source: 'chat',
      surface: 'telegram',
      senderId: 'ada',
      workspaceDir: '/w',
      sessionKey: 'agent:main:main',
      sessionId: 's-2',
      sessionEntry: { sessionId: 's-2' },
      previousSessionEntry: { sessionId: 's-1' },
      config: { agents: {} },
    });
    expect(outcomes[0]?.event.sessionId).toBe('s-2');
  });

  it('of a client becomes session.resetting too, since no hook tells of that reset', async () => {
    const { hooks, kernel, families, outcomes } = lab();
    kernel.contribute({
      family: 'session.resetting',
      class: 'augmenter',
      extensionId: 'acme',
      id: 'save',
      handler: () => ({ replies: ['Kept.'] }),
    });
    const handler = vi.fn((event: InternalHookEvent) => void event.messages.push('Bye.'));
    hooks.registerInternalHook('command:reset', handler);
    const event = createInternalHookEvent('command', 'reset', 'k', {
      commandSource: 'gateway:sessions.reset',
    });
    await hooks.triggerInternalHook(event);
    expect(families()).toEqual(['command.received', 'session.resetting']);
    expect(outcomes[0]?.payload).toMatchObject({ source: 'rpc' });
    expect(outcomes[1]?.payload).toMatchObject({ reason: 'reset', sessionKey: 'k' });
    expect(handler).toHaveBeenCalledTimes(1);
    expect(event.messages).toEqual(['Bye.', 'Kept.']);
  });

  it('gives its messages as replies, and gets those of canonical handlers', async () => {
    const { hooks, kernel, outcomes } = lab();
    kernel.contribute({
      family: 'command.received',
      class: 'augmenter',
      extensionId: 'acme', // before "internal-hooks"
      id: 'greet',
      handler: () => ({ replies: ['Hello.'] }),
    });
    hooks.registerInternalHook('command', (event) => void event.messages.push('One.'));
    hooks.registerInternalHook('command:new', (event) => void event.messages.push('Two.'));
    const event = createInternalHookEvent('command', 'new', 'k', context);
    await hooks.triggerInternalHook(event);
    expect(outcomes[0]?.annotations).toEqual({ replies: ['Hello.', 'One.', 'Two.'] });
    expect(event.messages).toEqual(['One.', 'Two.', 'Hello.']);
  });

  it.each(['chat', 'native', 'cli', 'rpc'] as const)(
    'that somebody else dispatches from %s reaches the handlers, and keeps its source both ways',
    async (source) => {
      const { hooks, kernel, outcomes } = lab();
      const events: InternalHookEvent[] = [];
      hooks.registerInternalHook('command:new', (event) => void events.push(event));
      const surface = source === 'cli' ? undefined : 'discord';
      const { surface: _, ...command } = samplePayload('command.received');
      const payload = { ...command, source, ...(surface !== undefined && { surface }) };
      await kernel.dispatch('command.received', payload);
      expect(events[0]).toMatchObject({
        type: 'command',
        action: 'new',
        sessionKey: command.sessionKey,
        context: { commandSource: surface ?? 'cli', source },
        messages: [],
      });
      expect(events[0]?.timestamp).toBeInstanceOf(Date);
      await hooks.triggerInternalHook(events[0] as InternalHookEvent);
      expect(outcomes[1]?.payload).toMatchObject({ source, surface: surface ?? 'cli' });
    },
  );

  it('that somebody else dispatches gets the messages as replies', async () => {
    const { hooks, kernel } = lab();
    hooks.registerInternalHook('command', async (event) => {
      await Promise.resolve();
      event.messages.push('Saved.');
    });
    const outcome = await kernel.dispatch('command.received', samplePayload('command.received'));
    expect(outcome.annotations.replies).toEqual(['Saved.']);
  });

  it('that the legacy system fires no event for reaches no handler', async () => {
    const { hooks, kernel } = lab();
    const heard = vi.fn();
    hooks.registerInternalHook('command', heard);
    const command = { ...samplePayload('command.received'), name: 'help' };
    await kernel.dispatch('command.received', command);
    expect(heard).not.toHaveBeenCalled();
  });
});

describe('the workspace files of agent:bootstrap', () => {
  const file = { name: 'AGENTS.md', path: '/w/AGENTS.md', content: 'Be kind.', missing: false };
  const building = () => ({
    ...samplePayload('agent.prompt.building'),
    bootstrapFiles: [{ ...file }],
  });

  it('are what its handlers leave in the event of a trigger, in place or anew', async () => {
    const { hooks, families } = lab();
    hooks.registerInternalHook('agent:bootstrap', ({ context: { bootstrapFiles } }) => {
      (bootstrapFiles as unknown[]).push({ ...file, name: 'SOUL.md' });
    });
    hooks.registerInternalHook('agent:bootstrap', (event) => {
      event.context.bootstrapFiles = [...(event.context.bootstrapFiles as unknown[]), 'odd'];
    });
    const event = createInternalHookEvent('agent', 'bootstrap', 'k', { bootstrapFiles: [file] });
    await hooks.triggerInternalHook(event);
    expect(event.context.bootstrapFiles).toEqual([file, { ...file, name: 'SOUL.md' }, 'odd']);
    expect(families()).toEqual([]); // before_prompt_build dispatches it a moment later
  });

  it('are changed in a dispatch that carries them, by legacy and canonical handlers in turn', async () => {
    const { hooks, kernel } = lab();
    const seen: unknown[] = [];
    const names = ({ context }: InternalHookEvent) =>
      (context.bootstrapFiles as { name: string }[]).map(({ name }) => name);
    hooks.registerInternalHook('agent', (event) => {
      (event.context.bootstrapFiles as unknown[]).push({ ...file, name: 'SOUL.md' });
    });
    hooks.registerInternalHook('agent:bootstrap', (event) => {
      seen.push(names(event));
      event.context.bootstrapFiles = (event.context.bootstrapFiles as unknown[]).slice(1);
    });
    kernel.contribute({
      family: 'agent.prompt.building',
      class: 'mutator',
      extensionId: 'acme',
      id: 'files',
      handler: ({ payload }) => ({
        bootstrapFiles: [{ name: 'TEAM.md' }, ...(payload.bootstrapFiles ?? [])],
      }),
    });
    const outcome = await kernel.dispatch('agent.prompt.building', building());
    expect(seen).toEqual([['TEAM.md', 'AGENTS.md', 'SOUL.md']]);
    expect(outcome.payload.bootstrapFiles?.map(({ name }) => name)).toEqual([
      'AGENTS.md',
      'SOUL.md',
    ]);
    expect(outcome.changes.map(({ extensionId }) => extensionId)).toEqual([
      'acme',
      'internal-hooks',
      'internal-hooks',
    ]);
  });

  it('that its schema refuses stay with the legacy handlers, and the payload as it was', async () => {
    const { hooks, kernel } = lab();
    const seen: unknown[] = [];
    hooks.registerInternalHook('agent:bootstrap', (event) => {
      event.context.bootstrapFiles = ['odd'];
    });
    hooks.registerInternalHook('agent:bootstrap', (event) => {
      seen.push(event.context.bootstrapFiles);
      event.context.bootstrapFiles = 'no list';
    });
    const outcome = await kernel.dispatch('agent.prompt.building', building());
    expect(seen).toEqual([['odd']]);
    expect(outcome.payload.bootstrapFiles).toEqual([file]);
    expect(outcome.failures.map(({ kind }) => kind)).toEqual(['bad-output']);
  });

  it('can be given where a dispatch has none', async () => {
    const { hooks, kernel } = lab();
    hooks.registerInternalHook('agent:bootstrap', (event) => {
      (event.context.bootstrapFiles as unknown[]).push(file);
    });
    const outcome = await kernel.dispatch(
      'agent.prompt.building',
      samplePayload('agent.prompt.building'),
    );
    expect(outcome.payload.bootstrapFiles).toEqual([file]);
  });
});

/** A context that fits, by action. */
const fitting: Readonly<Record<string, Record<string, unknown>>> = {
  received: { from: 'telegram:1', content: 'hi', channelId: 'telegram' },
  sent: { to: '1', content: 'hi', success: true, channelId: 'telegram' },
};

describe('a hook that cannot change what happens', () => {
  it('does not delay a dispatch that its legacy caller would not wait in', async () => {
    const { hooks, kernel } = lab();
    hooks.registerInternalHook('message:received', () => new Promise<void>(() => undefined));
    const outcome = await kernel.dispatch(
      'ingress.normalized',
      samplePayload('ingress.normalized'),
    );
    expect(outcome.status).toBe('passed');
  });

  it('hears of nothing that a veto kept back', async () => {
    const { hooks, kernel } = lab();
    const heard = vi.fn();
    hooks.registerInternalHook('message', heard);
    kernel.contribute({
      family: 'egress.preparing',
      class: 'veto',
      extensionId: 'acme',
      id: 'no',
      handler: () => cancel('policy'),
    });
    await kernel.dispatch('egress.preparing', samplePayload('egress.preparing'));
    expect(heard).not.toHaveBeenCalled();
  });
});

describe('the bus of a kernel', () => {
  it('is one, as a legacy process has one: whoever registers and whoever triggers meet', async () => {
    const { hooks, kernel } = lab();
    const plugin = bridgeInternalHooks(kernel);
    const [own, theirs] = [vi.fn(), vi.fn()];
    hooks.registerInternalHook('message:preprocessed', own);
    plugin.registerInternalHook('message:preprocessed', theirs);
    const event = () => createInternalHookEvent('message', 'preprocessed', 'k');
    await hooks.triggerInternalHook(event());
    plugin[Symbol.dispose](); // takes its own handlers away, and nobody else's
    plugin[Symbol.dispose]();
    await hooks.triggerInternalHook(event());
    expect(own).toHaveBeenCalledTimes(2);
    expect(theirs).toHaveBeenCalledTimes(1);
    hooks.clearInternalHooks();
    expect(kernel.stats().contributions).toBe(0);
  });
});
