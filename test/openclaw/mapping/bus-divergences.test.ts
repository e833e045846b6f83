import { expect, it, vi } from 'vitest';
import { bridgeAgentEvents } from '../../../src/openclaw/agent-events/bridge-agent-events.js';
import { createLegacyHookRunner, registerLegacyHook } from '../../../src/openclaw/index.js';
import { bridgeInternalHooks } from '../../../src/openclaw/internal-hooks/bridge-internal-hooks.js';
import { createInternalHookEvent } from '../../../src/openclaw/internal-hooks/event.js';
import {
  type BusDivergenceName,
  busDivergences,
} from '../../../src/openclaw/mapping/bus-divergences.js';
import { collectingLogger, createTestKernel } from '../../../src/testing/index.js';
import { agentEventModel } from '../../support/agent-event-model.js';
import { internalHookModel } from '../../support/internal-hook-model.js';

function lab() {
  const test = createTestKernel();
  const logger = collectingLogger();
  const internal = bridgeInternalHooks(test.kernel, { logger, clock: test.clock });
  const agent = bridgeAgentEvents(test.kernel, { clock: test.clock, maxRuns: 2 });
  return { ...test, logger, internal, agent, model: internalHookModel() };
}

const command = () => createInternalHookEvent('command', 'new', 'k');
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

async function hasSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void promise.finally(() => {
    settled = true;
  });
  await turn();
  return settled;
}

/** How each difference shows: the legacy side is the model, which the parity suite holds to the real modules. */
const shown: Readonly<Record<BusDivergenceName, () => Promise<void>>> = {
  'hanging-hook-is-cut': async () => {
    const { internal, model, clock } = lab();
    const hangs = () => new Promise<void>(() => undefined);
    internal.registerInternalHook('command', hangs);
    model.register('command', hangs);
    const [ours, theirs] = [internal.triggerInternalHook(command()), model.trigger(command())];
    await clock.advance(60_000);
    expect([await hasSettled(ours), await hasSettled(theirs)]).toEqual([true, false]);
  },
  'hooks-at-once-share-a-tick': async () => {
    const { internal, model } = lab();
    const [ours, theirs] = [vi.fn(), vi.fn()];
    for (const by of [1, 2]) {
      internal.registerInternalHook('command', () => ours(by));
      model.register('command', () => theirs(by));
    }
    const done = [internal.triggerInternalHook(command()), model.trigger(command())];
    expect([ours.mock.calls.length, theirs.mock.calls.length]).toEqual([2, 1]);
    await Promise.all(done);
    expect(theirs.mock.calls).toEqual(ours.mock.calls);
  },
  'unreadable-hook-error-is-told': async () => {
    const { internal, model, logger } = lab();
    const throws = () => Promise.reject(Object.create(null));
    internal.registerInternalHook('command', throws);
    model.register('command', throws);
    await expect(model.trigger(command())).rejects.toThrow(TypeError);
    await internal.triggerInternalHook(command());
    expect(logger.messages('error')).toEqual(['Hook error [command:new]']);
  },
  'one-fact-one-event': async () => {
    const { internal, kernel } = lab();
    const heard = vi.fn();
    internal.registerInternalHook('message:sent', heard);
    const sent = { to: '1', content: 'hi', success: true };
    await createLegacyHookRunner(kernel).runMessageSent(sent, { channelId: 'telegram' });
    const context = { ...sent, channelId: 'telegram', messageId: '9' };
    const event = createInternalHookEvent('message', 'sent', 'k', context);
    await internal.triggerInternalHook(event);
    expect(heard).toHaveBeenCalledTimes(1);
    expect(heard.mock.calls[0]?.[0]).not.toBe(event);
    expect(heard.mock.calls[0]?.[0].context).toMatchObject(sent);
    expect(heard.mock.calls[0]?.[0].context.messageId).toBeUndefined(); // the hook does not say
  },
  'compaction-keys-hear-all': async () => {
    const { internal, agent } = lab();
    const heard = vi.fn();
    internal.registerInternalHook('session:compact:before', heard);
    agent.emitAgentEvent({ runId: 'r', stream: 'compaction', data: { phase: 'start' } });
    await agent.idle();
    expect(heard).toHaveBeenCalledTimes(1);
  },
  'client-reset-is-a-reset': async () => {
    const { internal, kernel } = lab();
    const handler = vi.fn();
    registerLegacyHook(kernel, { pluginId: 'acme', hookName: 'before_reset', handler });
    const reset = (commandSource: string) =>
      internal.triggerInternalHook(
        createInternalHookEvent('command', 'reset', 'k', { commandSource }),
      );
    await reset('telegram');
    expect(handler).not.toHaveBeenCalled();
    await reset('gateway:sessions.reset');
    expect(handler).toHaveBeenCalledTimes(1);
  },
  'listener-rejection-is-observed': async () => {
    const { agent } = lab();
    agent.onAgentEvent((() => Promise.reject(new Error('late'))) as () => void);
    agent.emitAgentEvent({ runId: 'r', stream: 'acme', data: {} });
    await turn(); // an unhandled rejection would fail this file
    expect(agent.stats().failures).toBe(1);
  },
  'runs-are-forgotten': async () => {
    const { agent } = lab();
    const model = agentEventModel();
    const [ours, theirs] = [vi.fn(), vi.fn()];
    agent.onAgentEvent(({ seq }) => ours(seq));
    model.on(({ seq }) => theirs(seq));
    for (const runId of ['a', 'b', 'c', 'a'])
      for (const emit of [agent.emitAgentEvent, model.emit])
        emit({ runId, stream: 'acme', data: {} });
    expect(ours.mock.calls.flat()).toEqual([1, 1, 1, 1]);
    expect(theirs.mock.calls.flat()).toEqual([1, 1, 1, 2]);
  },
  'aborted-run-ends': async () => {
    const { agent, kernel } = lab();
    const heard = vi.fn();
    agent.onAgentEvent(({ data }) => heard(data));
    await kernel.dispatch('agent.completed', { runId: 'r', success: false, aborted: true });
    expect(heard.mock.calls).toEqual([[{ phase: 'end', aborted: true }]]);
  },
};

it.each(busDivergences)('$name: $what', async ({ name }) => {
  await shown[name]();
});
