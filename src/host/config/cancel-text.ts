import type { CancelCodeOf } from '../../kernel/index.js';

/** A code of a cancel of which the sender of a message may be told. */
export type CancelReplyCode = CancelCodeOf<'routing.resolving' | 'egress.preparing'>;

/**
 * The texts that senders of cancelled messages get, by the code of the cancel (event-pipeline §16.20). A text wins over the
 * reply of the veto; `false` sends nothing. `other` stands for the code `other` alone.
 *
 * @example
 * const texts: CancelTexts = { 'rate-limited': 'One question a minute, please.', policy: false };
 */
export type CancelTexts = { readonly [code in CancelReplyCode]?: string | false };
