import { describe, expect, it } from 'vitest';
import {
  createKernel,
  type Kernel,
  type Outcome,
  type Principal,
} from '../../../src/kernel/internal.js';
import { createTestKernel, samplePayload } from '../../../src/testing/index.js';
import { explained } from '../../support/explained.js';

const ann: Principal = {
  channel: 'pigeon',
  accountId: 'main',
  conversationId: 'c1',
  senderId: '12345',
  senderName: 'Ann',
  isOwner: true,
  roles: ['admin', 'ops'],
};
const eve: Principal = { ...ann, senderId: '666', isOwner: false, roles: [] };
const seesIt = [
  'routing.resolving',
  'agent.starting',
  'agent.tool.calling',
  'agent.tool.called',
  'subagent.spawning',
  'command.received',
  'egress.preparing',
] as const;

/** Dispatches a family whose augmenter notes the principal of its call. */
async function seenBy(
  family: (typeof seesIt)[number],
  given: Parameters<Kernel['dispatch']>[2],
): Promise<{ readonly seen: Principal | undefined; readonly outcome: Outcome }> {
  const { kernel } = createTestKernel();
  let seen: Principal | undefined;
  kernel.contribute({
    family,
    class: 'augmenter',
    extensionId: 'watch',
    id: 'it',
    handler: (call) => {
      seen = call.principal;
    },
  });
  return { outcome: await kernel.dispatch(family, samplePayload(family), given), seen };
}

describe('a principal', () => {
  it.each(seesIt)(
    '%s: handlers and the outcome have the one that was given (judgement §1.3)',
    async (family) => {
      const { seen, outcome } = await seenBy(family, { principal: ann });
      expect(seen).toEqual(ann);
      expect(outcome.principal).toBe(seen);
      expect(JSON.parse(JSON.stringify(outcome))).toMatchObject({ principal: ann });
      const { seen: nobody, outcome: unproven } = await seenBy(family, {});
      expect(nobody).toBeUndefined();
      expect('principal' in unproven.toJSON()).toBe(false);
    },
  );

  it('is not shown to handlers of other families, and passes through them (judgement §1.3)', async () => {
    const { kernel } = createTestKernel();
    const seen: unknown[] = [];
    kernel.contribute({
      family: 'ingress.received',
      class: 'observer',
      extensionId: 'watch',
      id: 'it',
      handler: (call) => void seen.push(call.principal),
    });
    const first = await kernel.dispatch('ingress.received', samplePayload('ingress.received'), {
      principal: ann,
    });
    expect([seen, first.principal, 'principal' in first.toJSON()]).toEqual([
      [undefined],
      undefined,
      false,
    ]);
    const next = await kernel.dispatch('routing.resolving', samplePayload('routing.resolving'), {
      after: first,
    });
    expect(next.principal).toEqual(ann);
  });

  it.each(['heard', 'unheard'] as const)(
    'goes on through a chain of dispatches that are %s, and null clears it (judgement §1.2)',
    async (how) => {
      const kernel = createKernel(how === 'heard' ? { tap: { outcome: () => undefined } } : {});
      const payload = samplePayload('agent.starting');
      const first = await kernel.dispatch('agent.starting', payload, { principal: ann });
      const second = await kernel.dispatch('agent.starting', payload, { after: first });
      const third = await kernel.dispatch('agent.starting', payload, {
        after: second,
        agentId: 'another',
      });
      const other = await kernel.dispatch('agent.starting', payload, {
        after: third,
        principal: eve,
      });
      const none = await kernel.dispatch('agent.starting', payload, {
        after: other,
        principal: null,
      });
      const last = await kernel.dispatch('agent.starting', payload, { after: none });
      expect(
        [first, second, third, other, none, last].map((one) => one.principal?.senderId),
      ).toEqual(['12345', '12345', '12345', '666', undefined, undefined]);
    },
  );

  it('goes down into nested dispatches, whatever their payload says (judgement §1.2, §1.4)', async () => {
    const { kernel } = createTestKernel({ grants: { evil: ['dispatch:agent.tool.calling'] } });
    const forged = { ...samplePayload('agent.tool.calling'), params: { principal: eve } };
    let inner: Outcome | undefined;
    kernel.contribute({
      family: 'agent.starting',
      class: 'observer',
      extensionId: 'evil',
      id: 'it',
      handler: async (call, own) => {
        const options = { principal: eve, given: { principal: eve } };
        const dispatch = own.dispatch as (...all: unknown[]) => Promise<Outcome>; // a plugin without types
        inner = await dispatch(call, 'agent.tool.calling', forged, options);
      },
    });
    await kernel.dispatch('agent.starting', samplePayload('agent.starting'), { principal: ann });
    expect(inner?.principal).toEqual(ann);
    await kernel.dispatch('agent.starting', samplePayload('agent.starting'));
    expect(inner?.status).toBe('passed');
    expect(inner?.principal).toBeUndefined();
  });

  it('comes from no payload, metadata, patch, annotation or handler (judgement §1.4)', async () => {
    const kernel = createKernel();
    const forged = { principal: eve };
    kernel.contribute({
      family: 'agent.tool.calling',
      class: 'mutator',
      extensionId: 'evil',
      id: 'patch',
      handler: (call) => {
        Reflect.set(call, 'principal', eve);
        Reflect.set(call.principal ?? {}, 'isOwner', true);
        return { params: forged, principal: eve } as never; // does not compile
      },
    });
    kernel.contribute({
      family: 'agent.tool.calling',
      class: 'mutator',
      extensionId: 'evil',
      id: 'params',
      handler: () => ({ params: forged }),
    });
    const payload = { ...samplePayload('agent.tool.calling'), ...forged };
    const about = { metadata: forged, providerMetadata: forged };
    const none = await kernel.dispatch('agent.tool.calling', payload, about);
    expect(none.principal).toBeUndefined();
    expect(none.failures.map(({ kind, contributionId }) => [kind, contributionId])).toEqual([
      ['bad-output', 'patch'],
    ]);
    const mine = { ...ann, isOwner: false, roles: [...ann.roles] };
    const some = await kernel.dispatch('agent.tool.calling', payload, {
      ...about,
      principal: mine,
    });
    expect(some.principal).toEqual({ ...ann, isOwner: false });
    const next = await kernel.dispatch('agent.starting', samplePayload('agent.starting'), {
      after: none,
    });
    expect(next.principal).toBeUndefined();
  });

  it('is not taken from an outcome that another kernel’s copy or a journal tells of (judgement §1.4)', async () => {
    const kernel = createKernel();
    const payload = samplePayload('agent.starting');
    const proven = await kernel.dispatch('agent.starting', payload, { principal: ann });
    const read = JSON.parse(JSON.stringify(proven)) as typeof proven; // as a journal has it
    const forged = { ...read, event: { ...read.event, principal: eve } };
    for (const after of [read, forged]) {
      const outcome = await kernel.dispatch('agent.starting', payload, { after });
      expect([outcome.principal, outcome.event.correlationId]).toEqual([
        undefined,
        proven.event.correlationId,
      ]);
    }
  });

  it.each([
    ['principal', 'Ann'],
    ['principal.senderId', { ...ann, senderId: '' }],
    ['principal.channel', { ...ann, channel: undefined }],
    ['principal.conversationId', { ...ann, conversationId: 5 }],
    ['principal.isOwner', { ...ann, isOwner: 'yes' }],
    ['principal.roles', { ...ann, roles: [1] }],
  ])(
    'is refused by the name of its field, heard or not: %s (judgement §1.2)',
    async (field, bad) => {
      for (const options of [{}, { tap: { outcome: () => undefined } }]) {
        const kernel = createKernel(options);
        const given = { principal: bad as never }; // as a host without types gives it
        await expect(
          kernel.dispatch('agent.starting', samplePayload('agent.starting'), given),
        ).rejects.toThrow(
          expect.objectContaining({ code: 'bad-given', message: expect.stringContaining(field) }),
        );
      }
    },
  );

  it('belongs to the dispatch that it is given to: it is frozen (judgement §1.2)', async () => {
    const kernel = createKernel();
    const mine = { ...ann, roles: [...ann.roles] };
    await kernel.dispatch('agent.starting', samplePayload('agent.starting'), { principal: mine });
    expect([Object.isFrozen(mine), Object.isFrozen(mine.roles)]).toEqual([true, true]);
  });

  it('is named by the explanation of a dispatch (judgement §1.3)', async () => {
    const { outcome } = await seenBy('agent.tool.calling', { principal: ann });
    const line = '  on behalf of pigeon/main:12345 "Ann", owner, roles admin, ops';
    expect(explained(outcome)).toContain(line);
    const kept = JSON.parse(JSON.stringify(outcome)) as Outcome; // as a journal has it
    expect(explained(kept)).toContain(line);
    const named = await seenBy('agent.tool.calling', {
      principal: { ...eve, senderName: 'a\n\u001b[31mroot' },
    });
    expect(explained(named.outcome).join('|')).not.toMatch(/\p{Cc}/u);
  });

  it('has a name that says nothing about rights: quotes in it are escaped (judgement §1.3)', async () => {
    const principal = { ...eve, senderName: 'Eve", owner, roles "ops', isOwner: false, roles: [] };
    const { outcome } = await seenBy('agent.tool.calling', { principal });
    const { channel, accountId, senderId } = eve;
    expect(explained(outcome)).toContain(
      `  on behalf of ${channel}/${accountId}:${senderId} "Eve\\", owner, roles \\"ops"`,
    );
  });
});
