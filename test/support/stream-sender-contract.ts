import { describe, expect, it } from 'vitest';
import { approveSend, StreamApproval, type StreamSender } from '../../src/channel/index.js';
import type { PayloadOf } from '../../src/kernel/index.js';
import { createTestKernel, samplePayload } from '../../src/testing/index.js';

/** A stream sender in a test's hands, and what a person sees of it. */
export interface SenderLab {
  readonly sender: StreamSender;
  /** Lets everything happen that the sender has put off: throttled edits, retries. */
  settle(): Promise<void>;
  /** The messages that a person sees now, in order, without what marks them as unfinished. */
  visible(): readonly string[] | Promise<readonly string[]>;
}

/** What the contract is tried on. */
export interface SenderSubject {
  /** Makes a sender on a provider where nothing was shown yet. */
  open(permits: StreamApproval['permits']): SenderLab | Promise<SenderLab>;
  /** What the messages are prepared with, where the sender needs an address of its own kind. */
  readonly message?: Partial<PayloadOf<'egress.preparing'>>;
}

const { kernel } = createTestKernel();

/**
 * What every stream sender has to keep, whatever its channel: spec §14.6 to §14.10.
 *
 * @example
 * describeStreamSender('a sender of acme', { open: (permits) => acmeLab(permits) });
 */
export function describeStreamSender(name: string, subject: SenderSubject): void {
  const approve = async (changes: Partial<PayloadOf<'egress.preparing'>>) =>
    approveSend(
      await kernel.dispatch('egress.preparing', {
        ...{ ...samplePayload('egress.preparing'), explicit: true, ...subject.message },
        ...changes,
      }),
    );

  async function labOf() {
    const stream = new StreamApproval(await approve({ streaming: true, content: 'Hel' }));
    const lab = await subject.open(stream.permits);
    const content = async (text: string) => {
      await lab.sender.onContentDelta({ phase: 'content', content: text });
      await lab.settle();
    };
    /** Lets the final be shown as `approved`, and calls the sender with another text. */
    const final = async (approved: string, said = approved) => {
      stream.admitFinal(await approve({ content: approved }));
      const showing = lab.sender.onFinal({ phase: 'final', content: said });
      await lab.settle();
      await showing;
    };
    return { ...lab, stream, content, final };
  }

  describe(name, () => {
    it('shows nothing, and takes no permit, before its first part', async () => {
      const { visible, stream, settle } = await labOf();
      await settle();
      expect(await visible()).toEqual([]);
      expect(stream.permits.opening.used).toBe(false);
    });

    it('shows parts under the permit of the opening, each in place of the one before (§14.6)', async () => {
      const { content, visible, stream } = await labOf();
      await content('Hello');
      expect(stream.permits.opening.used).toBe(true);
      await content('Hello wor');
      expect(await visible()).toEqual(['Hello wor']);
    });

    it('shows as its final what was approved, not what it is called with, once, and reports it (§14.6)', async () => {
      const { content, final, visible, stream } = await labOf();
      await content('Hello wor');
      await final('HELLO WORLD', 'Hello world');
      expect(await visible()).toEqual(['HELLO WORLD']);
      expect(stream.permits.final()?.used).toBe(true);
      expect(stream.reported).toMatchObject({ status: 'sent' });
    });

    it('shows a final without parts before it', async () => {
      const { final, visible } = await labOf();
      await final('Hello world');
      expect(await visible()).toEqual(['Hello world']);
    });

    it('shows no final that nobody has approved', async () => {
      const { sender, content, settle, visible } = await labOf();
      await content('Hello wor');
      await sender.onFinal({ phase: 'final', content: 'Hello world' }).catch(() => undefined);
      await sender.abort();
      await settle();
      expect(await visible()).toEqual([]);
    });

    it.each(['abort', 'onError'] as const)(
      'takes back what it has shown at %s, and shows nothing more (§14.8)',
      async (how) => {
        const { sender, content, settle, visible } = await labOf();
        await content('Hello wor');
        await (how === 'abort'
          ? sender.abort()
          : sender.onError({ phase: 'error', error: 'overloaded' }));
        await sender.abort();
        await content('Hello world');
        await settle();
        expect(await visible()).toEqual([]);
      },
    );

    it('takes back thoughts as well', async () => {
      const { sender, settle, visible } = await labOf();
      await sender.onThinkingDelta({
        phase: 'thinking',
        thinking: 'Hm.',
        thinkingElapsedMs: 5_000,
      });
      await settle();
      await sender.abort();
      await settle();
      expect(await visible()).toEqual([]);
    });

    it('shows nothing after its final, and its final once', async () => {
      const { sender, content, final, settle, visible } = await labOf();
      await content('Hello');
      await final('Hello world');
      await content('Hello world, again');
      await sender.onFinal({ phase: 'final', content: 'Hello world' }).catch(() => undefined);
      await sender.abort();
      await settle();
      expect(await visible()).toEqual(['Hello world']);
    });

    it('leaves nothing behind where it is aborted while a part is on its way', async () => {
      const { sender, settle, visible } = await labOf();
      const showing = sender.onContentDelta({ phase: 'content', content: 'Hello' });
      const aborting = sender.abort();
      await settle();
      await Promise.all([showing, aborting]);
      await settle();
      expect(await visible()).toEqual([]);
    });
  });
}
