import { createHash } from 'node:crypto';
import type { Update } from 'grammy/types';
import { fileIdsOf } from './attachments.js';
import { linkedTextOf } from './mention.js';

/** Messages whose words are remembered, and edits that are known to change nothing. */
const remembered = 1_000;

/**
 * Knows an edit that changes nothing: Telegram tells of the preview of a link, of a reaction of the server and of a button in the
 * same way. Text, links and files are compared with those of the message as it came last; no message is kept, only its digest. A
 * message that came before the process began is not known: its next edit counts as one.
 */
export class Edits {
  readonly #last = new Map<string, { readonly digest: string; readonly updateId: number }>();
  readonly #unchanged = new Set<number>();

  /** Looks at an update when it is taken in, each in its order; one that comes again is judged as before. */
  note(update: Update): void {
    const edited = update.edited_message ?? update.edited_channel_post;
    const message = edited ?? update.message ?? update.channel_post;
    if (message?.chat === undefined) return;
    const { update_id: updateId } = update;
    const key = `${message.chat.id}:${message.message_id}`;
    const said = JSON.stringify([linkedTextOf(message), fileIdsOf(message)]);
    const digest = createHash('sha256').update(said).digest('base64');
    const last = this.#last.get(key);
    this.#last.delete(key);
    const isSame = last?.digest === digest;
    this.#last.set(key, isSame ? last : { digest, updateId });
    if (edited !== undefined && isSame && last.updateId !== updateId) this.#unchanged.add(updateId);
    for (const all of [this.#last, this.#unchanged])
      for (const oldest of all.keys()) {
        if (all.size <= remembered) break;
        all.delete(oldest as never); // it is a key of this one
      }
  }

  /** Tells whether an update is an edit that changes nothing. */
  isUnchanged({ update_id: updateId }: Update): boolean {
    return this.#unchanged.has(updateId);
  }
}
