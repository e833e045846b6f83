import { describe, expect, it } from 'vitest';
import { defineExtension } from '../../src/sdk/extension/index.js';
import {
  createTestKernel,
  expectCancelled,
  expectFailed,
  expectPassed,
  loadForTest,
  samplePayload,
} from '../../src/testing/index.js';

const wait = { explicit: true } as const;

describe('a test kernel (§13)', () => {
  it('gives the same ids and times in every run, and records what it taps', async () => {
    const run = async () => {
      const { kernel, clock, outcomes } = createTestKernel();
      await kernel.dispatch('egress.sent', samplePayload('egress.sent'));
      await clock.advance(10);
      await kernel.dispatch('egress.sent', samplePayload('egress.sent'));
      return outcomes.map(({ event }) => [event.eventId, event.occurredAt]);
    };
    const first = await run();
    expect(first.map(([id]) => id)).toEqual(['e-000001', 'e-000002']);
    expect(await run()).toEqual(first);
  });

  it('checks payloads and traces steps, unless told otherwise', async () => {
    const { kernel } = createTestKernel();
    const wrong = { ...samplePayload('egress.sent'), channel: 5 } as never; // what the types would refuse
    await expect(kernel.dispatch('egress.sent', wrong)).rejects.toMatchObject({
      code: 'bad-payload',
    });
    const lax = createTestKernel({ validate: 'borders', trace: false });
    expectPassed(await lax.kernel.dispatch('egress.sent', wrong));
  });

  it('has a handler that hangs time out when its clock is advanced', async () => {
    const { kernel, clock, failures } = createTestKernel();
    kernel.contribute({
      family: 'egress.preparing',
      class: 'veto',
      extensionId: 'acme',
      id: 'ask',
      failClosed: true,
      timeoutMs: 500,
      handler: () => new Promise<never>(() => undefined),
    });
    const pending = kernel.dispatch('egress.preparing', {
      ...samplePayload('egress.preparing'),
      ...wait,
    });
    await clock.advance(500);
    expectFailed(await pending, 'timed-out');
    expect(failures).toMatchObject([{ kind: 'timed-out', policy: 'closed' }]);
  });
});

describe('loadForTest (§13)', () => {
  const sign = defineExtension({
    id: 'sign',
    setup(api) {
      api.mutate('egress.preparing', 'sign', ({ payload }, own) => {
        own.log.info('signed');
        return { content: `${payload.content}!` };
      });
      api.mutate('transcript.message.writing', 'mark', () => undefined);
      api.mutate('agent.prompt.building', 'persona', () => ({ systemPrompt: 'Be kind.' }));
    },
  });

  it('dispatches the sample payload with fields of your own, in both modes', async () => {
    await using test = await loadForTest(sign);
    const { payload } = expectPassed(
      await test.dispatch('egress.preparing', { ...wait, content: 'Hi' }),
    );
    expect(payload.content).toBe('Hi!');
    expect(test.log.messages()).toEqual(['signed']);
    expectPassed(test.dispatchSync('transcript.message.writing'));
    expect(test.outcomes).toHaveLength(2);
  });

  it('takes the grants and overrides that a kernel takes', async () => {
    await using plain = await loadForTest(sign);
    const { failures } = await plain.dispatch('agent.prompt.building');
    expect(failures).toMatchObject([{ kind: 'untrusted' }]);

    await using granted = await loadForTest(sign, {
      grants: { sign: ['agent.prompt.building:systemPrompt'] },
      overrides: { 'sign/sign': { disabled: true } },
    });
    const built = expectPassed(await granted.dispatch('agent.prompt.building'));
    expect(built.payload.systemPrompt).toBe('Be kind.');
    const prepared = await granted.dispatch('egress.preparing', wait);
    expect(prepared.skipped).toMatchObject([{ contributionId: 'sign', why: 'disabled' }]);
  });

  it('rejects with what the extension was disabled with', async () => {
    const broken = defineExtension({
      id: 'broken',
      setup: () => Promise.reject(new Error('no licence')),
    });
    await expect(loadForTest(broken)).rejects.toMatchObject({ code: 'setup-failed' });
  });

  it('leaves nothing in the kernel once it is disposed', async () => {
    const test = await loadForTest(sign);
    expect(test.labels()).toHaveLength(3);
    expect(await test.dispose()).toMatchObject({ failures: [] });
    expect(test.kernel.stats().contributions).toBe(0);
  });
});

it('the assertions on outcomes say that there is none', () => {
  const { 0: absent } = [] as Parameters<typeof expectPassed>[0][];
  expect(() => expectPassed(absent)).toThrow('expected a dispatch to pass, and there was none');
  expect(() => expectFailed(absent)).toThrow('to fail, and there was none');
  expect(() => expectCancelled(absent, { code: 'policy' })).toThrow(
    'to be cancelled with "policy", and there was none',
  );
});
