import { describe, expect, it } from 'vitest';
import type { PayloadOf } from '../../src/kernel/internal.js';
import {
  approveSend,
  type ChannelPreviews,
  StreamApproval,
  type StreamSender,
} from '../../src/sdk/channel/index.js';
import { createTestKernel, samplePayload } from '../../src/testing/index.js';

/** A stream sender in a test's hands, and what a person sees of it. */
export interface SenderLab {
  readonly sender: StreamSender;
  /** Lets everything happen that the sender has deferred: throttled edits, retries. */
  settle(): Promise<void>;
  /** The messages that a person sees now, in order, without what marks them as unfinished. */
  visible(): readonly string[] | Promise<readonly string[]>;
  /** The part that ends previews of such a sender after a crash, if its channel has one. */
  readonly previews?: ChannelPreviews;
}

/** What the contract is tried on. */
export interface SenderSubject {
  /** Makes a sender on a provider where nothing was shown yet. */
  open(permits: StreamApproval['permits']): SenderLab | Promise<SenderLab>;
  /** What the messages are prepared with, where the sender needs an address of its own kind. */
  readonly message?: Partial<PayloadOf<'egress.preparing'>>;
  /** Its channel ends previews that a crash has left: its sender notes what it shows. */
  readonly endsPreviews?: boolean;
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
    const noted: unknown[] = [];
    const noteShown = async (shown: unknown): Promise<void> => {
      noted.push(JSON.parse(JSON.stringify(shown)));
    };
    const opening = await approve({ streaming: true, content: 'Hel' });
    let isOurs = true;
    const mayTakeBack = async () => isOurs;
    const stream = new StreamApproval(opening, { noteShown, mayTakeBack });
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
    const loseToNext = (): void => {
      isOurs = false;
    };
    return { ...lab, stream, content, final, noted, loseToNext };
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

    describe.runIf(subject.endsPreviews === true)('that has died', () => {
      /** Its last note, as the next host finds it. */
      async function leftBehind() {
        const lab = await labOf();
        await lab.content('Hello wor');
        const { previews, noted, settle } = lab;
        if (previews === undefined) throw new Error('the subject gives no previews');
        const settled = async <T>(work: Promise<T>): Promise<T> => {
          await settle();
          return work;
        };
        const shown = noted.at(-1);
        return {
          ...lab,
          takeBack: () => settled(previews.takeBack(shown, opening.accountId ?? 'default')),
          complete: async (changes: Partial<PayloadOf<'egress.preparing'>>) => {
            const permit = (await approve(changes)).mintPermit();
            const noteShown = async (): Promise<void> => undefined;
            return settled(previews.complete(permit, { shown, noteShown }));
          },
        };
      }
      const opening = { ...samplePayload('egress.preparing'), ...subject.message };

      it('has noted what it shows before it shows more: by it that is taken back, also twice (durability §7.2)', async () => {
        const { takeBack, visible } = await leftBehind();
        expect(await visible()).toEqual(['Hello wor']);
        expect(await takeBack()).toBe(true);
        expect(await visible()).toEqual([]);
        expect(await takeBack()).toBe(true);
      });

      it('has its preview made the final, also twice (durability §7.2)', async () => {
        const { complete, visible } = await leftBehind();
        expect(await complete({ content: 'HELLO WORLD' })).toMatchObject({ status: 'sent' });
        expect(await visible()).toEqual(['HELLO WORLD']);
        expect(await complete({ content: 'HELLO WORLD' })).toMatchObject({ status: 'sent' });
        expect(await visible()).toEqual(['HELLO WORLD']);
      });

      it('has a final that answers something else sent, and its preview taken back', async () => {
        const { complete, visible } = await leftBehind();
        const moved = await complete({ content: 'Hello world', replyToId: '77' });
        expect(moved).toMatchObject({ status: 'sent' });
        expect(await visible()).toEqual(['Hello world']);
      });

      it.each(['abort', 'onError'] as const)(
        'leaves what it has shown to a host that has its message by then, at %s, and shows nothing more (durability §12.3)',
        async (how) => {
          const { sender, content, settle, complete, loseToNext, visible } = await leftBehind();
          loseToNext();
          await complete({ content: 'Hello world' });
          await (how === 'abort'
            ? sender.abort()
            : sender.onError({ phase: 'error', error: 'overloaded' }));
          await content('Hello, later');
          await settle();
          expect(await visible()).toEqual(['Hello world']);
        },
      );

      it('sends nothing where nobody knows what its note means', async () => {
        const { previews, visible } = await leftBehind();
        for (const shown of [null, 7, 'x', {}, { isSending: true }]) {
          expect(await previews?.takeBack(shown, 'default')).toBe(false);
          const permit = (await approve({ content: 'Hello' })).mintPermit();
          const noteShown = async (): Promise<void> => undefined;
          const end = await previews?.complete(permit, { shown, noteShown });
          expect(end).toMatchObject({ status: 'ambiguous' });
        }
        expect(await visible()).toEqual(['Hello wor']);
      });
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
