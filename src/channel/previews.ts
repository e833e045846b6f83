import type { SendPermit } from './permit.js';
import type { SendResult } from './send-result.js';

/** A preview that a host before this one has left. */
export interface LeftPreview {
  /** The last note that its stream sender gave to `permits.noteShown`: read it as something from outside. */
  readonly shown: unknown;
  /** As `permits.noteShown`: it takes the place of what was noted before. */
  readonly noteShown: (shown: unknown) => Promise<void>;
}

/**
 * Brings previews to an end that a host has left when it died (durability §7.2). A channel has it where it can edit or
 * remove what a stream sender has shown, by what the sender has noted. Both may be called again for the same preview,
 * after a further death: what was done before is done then.
 *
 * @example
 * previews: {
 *   takeBack: async (shown) => (await remove(idIn(shown))) === 'gone',
 *   complete: async (permit, { shown }) => {
 *     const { content } = permit.take();
 *     return (await edit(idIn(shown), content)) === 'there'
 *       ? { status: 'sent', receipt: { messageId: idIn(shown) } }
 *       : { status: 'ambiguous', reason: 'it could not be edited' };
 *   },
 * }
 */
export interface ChannelPreviews {
  /** Takes a preview back. @returns whether nothing of it is shown any more, also if somebody else has removed it. */
  takeBack(shown: unknown, accountId: string): Promise<boolean>;
  /**
   * Puts the permit's message in the place of a preview, which may show it already. It may go elsewhere than the preview:
   * then the preview is taken back. If a message takes several sends, note before the first of them that they have
   * begun: whoever finds it half done must not send again.
   */
  complete(permit: SendPermit, preview: LeftPreview): Promise<SendResult>;
}
