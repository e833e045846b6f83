import { describe, expect, it } from 'vitest';
import { cancel, type Outcome, type PayloadOf, select } from '../../../src/kernel/internal.js';
import {
  approveSend,
  type ChannelPlugin,
  consoleChannel,
  SendApproval,
  SendPermit,
} from '../../../src/sdk/channel/index.js';
import { createTestKernel, samplePayload } from '../../../src/testing/index.js';

const { kernel } = createTestKernel();
kernel.contribute({
  family: 'egress.preparing',
  class: 'veto',
  extensionId: 'test',
  id: 'veto',
  handler: ({ payload }) => (payload.content === 'no' ? cancel('policy') : null),
});
kernel.contribute({
  family: 'egress.preparing',
  class: 'resolver',
  extensionId: 'test',
  id: 'resolver',
  handler: () => select({ channel: 'pager', accountId: 'night', to: 'pager:7' }),
});

function prepare(changes: Partial<PayloadOf<'egress.preparing'>> = {}) {
  return kernel.dispatch('egress.preparing', { ...samplePayload('egress.preparing'), ...changes });
}

describe('a permit', () => {
  it('holds what passed, with the account that was selected', async () => {
    const permit = approveSend(await prepare()).mintPermit();
    const message = permit.take();
    expect(message).toMatchObject({
      content: 'Lima.',
      channel: 'pager',
      accountId: 'night',
      to: 'pager:7',
    });
    expect(message).not.toHaveProperty('accounts');
    expect(Object.isFrozen(message)).toBe(true);
  });

  it('holds the account that was named, where it was named', async () => {
    const message = approveSend(await prepare({ explicit: true }))
      .mintPermit()
      .take();
    expect(message).toMatchObject({ channel: 'console', accountId: 'default', to: 'console:ada' });
  });

  it('can be used once', async () => {
    const permit = approveSend(await prepare()).mintPermit();
    expect(permit.used).toBe(false);
    permit.take();
    expect(permit.used).toBe(true);
    expect(() => permit.take()).toThrow(expect.objectContaining({ code: 'permit-used' }));
  });

  it('is followed by another only when it was used, with the same key', async () => {
    const approval = approveSend(await prepare());
    const first = approval.mintPermit();
    expect(() => approval.mintPermit()).toThrow(expect.objectContaining({ code: 'permit-unused' }));
    first.take();
    const second = approval.mintPermit();
    expect([first.attempt, second.attempt]).toEqual([1, 2]);
    expect(second.idempotencyKey).toBe(first.idempotencyKey);
  });

  it('is not minted from the same outcome twice', async () => {
    const outcome = await prepare();
    approveSend(outcome);
    expect(() => approveSend(outcome)).toThrow(
      expect.objectContaining({ code: 'approved-before' }),
    );
  });

  it('is not minted from a cancel, nor from another family', async () => {
    const cancelled = await prepare({ content: 'no' });
    expect(() => approveSend(cancelled)).toThrow(/A cancelled outcome approves no send/);
    const other = await kernel.dispatch('egress.sending', samplePayload('egress.sending'));
    // @ts-expect-error the outcome of another family approves no send
    expect(() => approveSend(other)).toThrow(/"egress.sending" approves no send/);
  });

  it('is not minted from what only looks like an outcome', async () => {
    const outcome = await prepare();
    const forged = { ...outcome.toJSON(), status: 'passed', payload: outcome.payload };
    expect(() => approveSend(forged as unknown as Outcome<'egress.preparing'>)).toThrow(
      expect.objectContaining({ code: 'not-approved' }),
    );
    approveSend(outcome); // the real one is
  });

  it('is not minted where nothing was selected and nothing named', async () => {
    const bare = createTestKernel().kernel;
    const { channel: _, accountId: __, ...nowhere } = samplePayload('egress.preparing');
    const outcome = await bare.dispatch('egress.preparing', { ...nowhere, explicit: true });
    expect(() => approveSend(outcome)).toThrow(expect.objectContaining({ code: 'no-target' }));
  });

  it('cannot be made or imitated', async () => {
    // @ts-expect-error its constructor is private
    expect(() => new SendPermit(Symbol('mint'), {}, 'x', 1)).toThrow(
      expect.objectContaining({ code: 'permit-forged' }),
    );
    // @ts-expect-error so is the approval's
    expect(() => new SendApproval(Symbol('mint'), {}, 'x')).toThrow(/was called from outside/);
    const imitated = { idempotencyKey: 'x', attempt: 1, used: false, take: () => ({}) };
    // @ts-expect-error the class is nominal: an object of the same shape is no permit
    const permit: SendPermit = imitated;
    expect(permit).not.toBeInstanceOf(SendPermit);
  });

  it('is all that a send takes', () => {
    const send: ChannelPlugin['send'] = async () => ({ status: 'rejected', reason: 'not here' });
    // @ts-expect-error a payload is no permit
    void send(samplePayload('egress.preparing'));
    // @ts-expect-error nor is an object
    void send({});
    expect(send).toHaveLength(0);
  });
});

describe('M5: a permit is bound to its host (§14.14)', () => {
  it('no outcome that a handler has dispatched makes one, also where it was granted the family', async () => {
    const { kernel: granted } = createTestKernel({
      grants: { forger: ['dispatch:egress.preparing'] },
    });
    let forged: Outcome<'egress.preparing'> | undefined;
    granted.contribute({
      family: 'ingress.received',
      class: 'observer',
      extensionId: 'forger',
      id: 'own',
      handler: async (call, own) => {
        const payload = { ...samplePayload('egress.preparing'), explicit: true, content: 'FORGED' };
        forged = await own.dispatch(call, 'egress.preparing', payload);
      },
    });
    await granted.dispatch('ingress.received', samplePayload('ingress.received'));
    const outcome = forged;
    expect(outcome?.status).toBe('passed');
    expect(() => approveSend(outcome as Outcome<'egress.preparing'>)).toThrow(
      expect.objectContaining({ code: 'not-approved' }),
    );
  });

  it('no outcome of another kernel makes one for a host', async () => {
    const outcome = await prepare();
    const { kernel: host } = createTestKernel();
    expect(() => approveSend(outcome, host)).toThrow(
      expect.objectContaining({ code: 'not-approved' }),
    );
    expect(SendPermit.isOf(approveSend(outcome, kernel).mintPermit(), kernel)).toBe(true);
  });

  it.each([undefined, null, 'permit', 1, {}])('%j is no permit, and no error (§14.14)', (value) => {
    expect(SendPermit.isOf(value, kernel)).toBe(false);
  });

  it('one of a kernel of somebody’s own is refused by a channel that a host runs: nothing of it goes out', async () => {
    const written: string[] = [];
    const channel = consoleChannel({
      lines: { async *[Symbol.asyncIterator]() {} },
      write: (text) => void written.push(text),
    });
    const { kernel: host } = createTestKernel();
    const inbox = { receive: async () => undefined, ended: () => undefined };
    await channel.startAccount('default', {
      ...inbox,
      owns: (permit) => SendPermit.isOf(permit, host),
    });
    const forged = approveSend(await prepare({ content: 'FORGED' })).mintPermit();
    await expect(
      channel.send(forged, { signal: new AbortController().signal }),
    ).rejects.toMatchObject({ code: 'permit-foreign' });
    expect(forged.used).toBe(false);
    expect(written).toEqual([]);
    const payload = { ...samplePayload('egress.preparing'), explicit: true };
    const sent = approveSend(await host.dispatch('egress.preparing', payload)).mintPermit();
    expect(await channel.send(sent, { signal: new AbortController().signal })).toMatchObject({
      status: 'sent',
    });
    expect(written).toHaveLength(1);
  });
});
