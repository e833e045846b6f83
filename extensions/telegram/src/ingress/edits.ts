import { createHash } from 'node:crypto';
import type { Update } from 'grammy/types';
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

  /** Looks at an update when it is taken in. */
  note(update: Update): void {
    const { key, digest } = saidIn(update) ?? {};
    if (key === undefined || digest === undefined) return;
    const last = this.#said.get(key);
    this.#said.delete(key);
    const isSame = last?.digest === digest;
    this.#said.set(key, isSame ? last : { digest, updateId: update.update_id });
    const [oldest = ''] = this.#said.keys();
    if (this.#said.size > remembered) this.#said.delete(oldest);
  }

  /** Tells whether an update is an edit that changes nothing; one that comes again is none. */
  isUnchanged(update: Update): boolean {
    const { key = '', digest } = saidIn(update) ?? {};
    const last = this.#said.get(key);
    return last !== undefined && last.digest === digest && last.updateId < update.update_id;
  }
}

function saidIn(update: Update) {
  const edited = update.edited_message ?? update.edited_channel_post;
  const message = edited ?? update.message ?? update.channel_post;
  if (message?.chat === undefined) return undefined;
  const { reply_to_message: _replied, ...own } = message;
  const files = JSON.stringify(own).match(/"file_unique_id":"[^"]*"/g);
  const said = JSON.stringify([linkedTextOf(message), files]);
  const digest = createHash('sha256').update(said).digest('base64');
  return { key: `${message.chat.id}:${message.message_id}`, digest };
}
