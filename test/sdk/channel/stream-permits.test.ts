import { describe, expect, it } from 'vitest';
import type { PayloadOf } from '../../../src/kernel/internal.js';
import { approveSend, StreamApproval } from '../../../src/sdk/channel/index.js';
import { createTestKernel, samplePayload } from '../../../src/testing/index.js';

const { kernel } = createTestKernel();

async function approve(changes: Partial<PayloadOf<'egress.preparing'>> = {}) {
  const payload = { ...samplePayload('egress.preparing'), explicit: true, ...changes };
  return approveSend(await kernel.dispatch('egress.preparing', payload));
}

const opened = async () => new StreamApproval(await approve({ streaming: true, content: 'Li' }));

describe('the permits of a streamed reply (§14.6)', () => {
  it('are two: one for what is shown before the final, one for the final, each used once', async () => {
    const stream = await opened();
    const { permits } = stream;
    expect(permits.final()).toBeUndefined();
    expect(permits.opening.take()).toMatchObject({ content: 'Li', streaming: true });
    expect(() => permits.opening.take()).toThrow(expect.objectContaining({ code: 'permit-used' }));
    stream.admitFinal(await approve({ content: 'Lima!' }));
    expect(permits.final()?.take().content).toBe('Lima!');
    expect(() => permits.final()?.take()).toThrow(expect.objectContaining({ code: 'permit-used' }));
  });

  it('are not minted where nobody was asked whether parts may be shown', async () => {
    const whole = await approve();
    expect(() => new StreamApproval(whole)).toThrow(
      expect.objectContaining({ code: 'not-streaming' }),
    );
    expect(whole.mintPermit().take().content).toBe('Lima.'); // it is no worse for that
  });

  it('of the opening cannot begin to show when the final is there', async () => {
    const stream = await opened();
    stream.admitFinal(await approve());
    expect(() => stream.permits.opening.take()).toThrow(/has been used already/);
  });

  it.each([
    ['another address', { to: 'console:bob' }],
    ['another account', { accountId: 'night' }],
    ['another channel', { channel: 'pager' }],
    ['another thread', { threadId: '9' }],
  ])('do not let a final go to %s', async (_, elsewhere) => {
    const stream = await opened();
    const final = await approve(elsewhere);
    expect(stream.fits(final)).toBe(false);
    expect(() => stream.admitFinal(final)).toThrow(
      expect.objectContaining({ code: 'stream-moved' }),
    );
    expect(stream.permits.final()).toBeUndefined();
  });

  it('are used up together when the stream is over', async () => {
    const stream = await opened();
    stream.admitFinal(await approve());
    stream[Symbol.dispose]();
    expect(stream.permits.opening.used).toBe(true);
    expect(stream.permits.final()?.used).toBe(true);
  });

  it('carry what the sender says of the final', async () => {
    const stream = await opened();
    stream.admitFinal(await approve());
    expect(stream.reported).toBeUndefined();
    stream.permits.report({ status: 'sent', receipt: { messageId: 'm-7' } });
    expect(stream.reported).toEqual({ status: 'sent', receipt: { messageId: 'm-7' } });
  });
});
