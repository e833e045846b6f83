import type { QuestionMessage, QuestionOption, QuestionToAsk } from '../../extension/index.js';
import { notPlain } from '../../extension/internal.js';
import { hostError } from '../errors.js';
import type { HostParts } from '../parts/parts.js';
import type { QuestionRow } from '../questions/open-questions.js';

const dayMs = 86_400_000;
const yearMs = 366 * dayMs;
/** Options that a question may have: each is a button. */
const optionsAtMost = 50;
/** Characters of JSON that the data of a question may have. */
const dataAtMost = 65_536;

/** A question whose parts are as they must be. */
export interface CheckedQuestion extends Pick<QuestionRow, 'place' | 'options' | 'takesText'> {
  readonly content: Omit<QuestionMessage, 'options' | 'takesText'>;
  readonly timeoutMs: number;
}

/** Checks a question: it comes from outside the types. @throws SluiceError `bad-question`. */
export function checkedQuestion(
  { accounts }: Pick<HostParts, 'accounts'>,
  extensionId: string,
  { name, place, message, options: { data, timeoutMs = dayMs } }: QuestionToAsk,
): CheckedQuestion {
  const { channel, to, threadId } = place;
  const accountId =
    place.accountId ?? accounts.all().find((one) => one.channel.id === channel)?.accountId;
  const { options: given = [], takesText = given.length === 0, ...content } = message;
  const options = given.map((one) => (typeof one === 'string' ? { id: one, label: one } : one));
  const problem =
    accountId === undefined
      ? `no account of channel "${channel}" is running`
      : (problemOfText(content.content) ??
        problemOfOptions(options, takesText) ??
        problemOfData(data) ??
        problemOfTime(timeoutMs));
  if (problem !== undefined || accountId === undefined)
    throw hostError('bad-question', { extensionId, name, problem: problem ?? '' });
  const at = { channel, accountId, to, ...(threadId !== undefined && { threadId }) };
  return { place: at, options, takesText, content, timeoutMs };
}

function problemOfText(content: unknown): string | undefined {
  const isText = typeof content === 'string' && content.trim() !== '';
  return isText ? undefined : 'it has no text: give it as content';
}

function problemOfOptions(
  options: readonly QuestionOption[],
  takesText: boolean,
): string | undefined {
  if (options.length === 0 && !takesText) return 'it has no options and takes no text';
  if (options.length > optionsAtMost)
    return `it has ${options.length} options, of at most ${optionsAtMost}`;
  const isEmpty = options.some(({ id, label }) => id === '' || label.trim() === '');
  if (isEmpty) return 'an option has no id or no label';
  const texts = options.flatMap(({ id, label }) => [...new Set([id, label].map(folded))]);
  const twice = texts.find((text, at) => texts.indexOf(text) !== at);
  return twice === undefined ? undefined : `two options are "${twice}"`;
}

/** A text as answers are compared with it. */
function folded(text: string): string {
  return text.trim().toLowerCase();
}

function problemOfData(data: unknown): string | undefined {
  if (data === undefined) return undefined;
  const found = notPlain(data, 'data');
  if (found !== undefined) return `${found.path}: ${found.problem}`;
  const { length } = JSON.stringify(data);
  return length > dataAtMost
    ? `its data has ${length} characters, of at most ${dataAtMost}`
    : undefined;
}

function problemOfTime(timeoutMs: number): string | undefined {
  if (Number.isFinite(timeoutMs) && timeoutMs > 0 && timeoutMs <= yearMs) return undefined;
  return `timeoutMs is ${timeoutMs}, and must be above 0 and at most a year`;
}
