import type { RunError } from '@sluice/agent/run';
import type { CancelCodeOf } from 'sluice-kernel';

/**
 * Says why a message could not be answered. `routing`: no agent was chosen. `session`: its session could not be opened, or the
 * store failed. `busy`: too many messages waited. The others are those of an agent's turn.
 */
export type FailureCode = 'routing' | 'session' | 'busy' | RunError['code'];

/** A message that could not be answered, for the text that its sender gets. */
export interface AnswerFailure {
  readonly code: FailureCode;
  /** In one line, for operators: it may name what a sender should not see. */
  readonly message: string;
}

/**
 * The texts that senders get, by the code of the failure. `other` stands for each code that is left out; `false` sends nothing.
 *
 * @example
 * const texts: FailureTexts = { busy: 'Please try again in a minute.', routing: false, other: 'Something went wrong.' };
 */
export type FailureTexts = { readonly [code in FailureCode | 'other']?: string | false };

/** The words to the sender of a message about a failure: the texts, or a function that returns `undefined` to send nothing. */
export type FailureTextOption = FailureTexts | ((failure: AnswerFailure) => string | undefined);

/**
 * Gives the text for the sender of a message (event-pipeline §16.19); `undefined` sends nothing. It does not hold the message
 * of the failure, which a sender should not see.
 *
 * @param otherwise the text if the option has none.
 */
export function failureTextOf(
  failure: AnswerFailure,
  option: FailureTextOption = {},
  otherwise?: string,
): string | undefined {
  if (typeof option === 'function') return option(failure);
  const { [failure.code]: text = option.other } = option;
  if (text === false) return undefined;
  return text ?? otherwise;
}

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
