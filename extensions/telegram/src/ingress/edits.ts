import { createHash } from 'node:crypto';
import type { Message } from 'grammy/types';
import { linkedTextOf } from './mention.js';

/** Messages whose words are remembered. */
const remembered = 1_000;

/**
 * Knows an edit that changes nothing: Telegram tells of the preview of a link, of a reaction and of a button in the same way. Text,
 * links and files are compared with those of the message as it came last, by a digest. A message that came before the process began is
 * not known, and its edit counts as one: what is forgotten is answered, and not lost.
 */
export class Edits {
  /** The words by message, and the first update that had them; the message that came last comes last. */
  readonly #said = new Map<string, { readonly digest: string; readonly updateId: number }>();

  /**
   * Returns whether an update says what its message has said before, and remembers its words. An update that comes again is judged
   * alike.
   */
  isUnchanged(updateId: number, message: Message): boolean {
    const key = `${message.chat.id}:${message.message_id}`;
    const { reply_to_message: _replied, ...own } = message;
    const files = JSON.stringify(own).match(/"file_unique_id":"[^"]*"/g);
    const words = JSON.stringify([linkedTextOf(message), files]);
    const digest = createHash('sha256').update(words).digest('base64');
    const last = this.#said.get(key);
    if (last !== undefined && last.updateId >= updateId) return false;
    const isSame = last?.digest === digest;
    this.#said.delete(key);
    this.#said.set(key, isSame ? last : { digest, updateId });
    const [oldest = ''] = this.#said.keys();
    if (this.#said.size > remembered) this.#said.delete(oldest);
    return isSame;
  }
}
