import { randomUUID } from 'node:crypto';
import { againMs, digestOf, eventIdOf, openUpdates, slotOf } from '@sluice/journal/internal';
import type {
  AskedQuestion,
  ExtensionHost,
  ExtensionMessage,
  QuestionOption,
  QuestionToAsk,
} from '@sluice/sdk/extension';
import { notPlain } from '@sluice/sdk/extension/internal';
import { nodeSignal } from '@sluice/sdk/stream/internal';
import { definedFields, isSluiceError, pause } from 'sluice-kernel/internal';
import { endOf, sendIdOf } from '../egress/extension-sends.js';
import { hostError } from '../errors.js';
import { buttonOf, type QuestionRow } from '../inquiries/question-row.js';
import type { QuestionActs } from '../inquiries/questions.js';
import type { QuestionJob } from '../jobs/job.js';
import type { HostParts } from '../parts/parts.js';
import { underAnyFence } from '../parts/under-fence.js';
import { accountOfJobs } from '../provided/jobs-channel.js';
import { receiveUpdate } from './receive-update.js';

type Send = ExtensionHost['send'];

/**
 * Asks the questions of extensions (extensions-that-act §7.2).
 *
 * @param send sends their messages, as `api.send` does.
 */
export function extensionQuestions(parts: HostParts, send: Send): ExtensionHost['ask'] {
  const { questions, clock, journal, signal } = parts;
  const asking = new Map<
    string,
    { readonly digest: string; readonly made: Promise<AskedQuestion> }
  >();

  const ask = async (
    extensionId: string,
    row: QuestionRow,
    message: ExtensionMessage,
    key: string,
  ): Promise<AskedQuestion> => {
    const { id, name, digest } = row;
    const asked = { id, sendId: sendIdOf(extensionId, sendKeyOf(id)) };
    const eventId = eventIdOf('sluice', accountOfJobs({ ...row, kind: 'question' }).accountId, id);
    const hasEnded = async () =>
      questions.isClosing(id) || (await journal.updates({ eventId, limit: 1 })).length > 0;
    for (;;) {
      if (await hasEnded()) return asked;
      const open = await questions.add(row); // another host may ask as well
      if (open.id !== id) throw hostError('question-open', { extensionId, name, open: open.id });
      if (open.digest !== digest) throw hostError('key-conflict', { extensionId, key });
      if (open.message === undefined) return asked;
      try {
        // also one that another host has persisted: that host may be dead
        if ((await sendQuestion(parts, send, row, message)) || (await hasEnded())) return asked;
      } catch (error) {
        const isOther = isSluiceError(error, 'key-conflict'); // its id has a send of other words
        const isSent =
          !isOther && (await journal.sends({ eventId: asked.sendId, limit: 1 })).length > 0; // by another call
        if (!isSent && (await questions.withdraw(row))) throw error;
      }
      await pause(clock, againMs, signal);
      nodeSignal(signal).throwIfAborted();
    }
  };

  return async (extensionId, asked) => {
    const { key, after } = asked.options;
    const { place, options, takesText, content, timeoutMs } = checkedQuestion(
      parts,
      extensionId,
      asked,
    );
    const { name } = asked;
    const { data } = asked.options;
    const id =
      key === undefined
        ? randomUUID().replaceAll('-', '')
        : digestOf(['question', extensionId, name, key, place]);
    const digest = digestOf([content, options, takesText, data ?? null]);
    const buttons = options.map(({ label }, at) => ({ id: buttonOf('q', id, at), label }));
    const message: ExtensionMessage = {
      ...content,
      ...place,
      ...(buttons.length > 0 && { interactive: { buttons } }),
      key: sendKeyOf(id),
    };
    const row: QuestionRow = {
      ...{ id, extensionId, name, place, options, takesText },
      ...definedFields({ data, slot: underAnyFence(parts, slotOf(id))?.fence.slot }),
      ...{ message, digest, askedAtMs: clock.now(), dueAtMs: clock.now() + timeoutMs },
    };
    const known = asking.get(id);
    if (known !== undefined && known.digest !== digest)
      throw hostError('key-conflict', { extensionId, key: String(key) });
    if (known !== undefined) return known.made;
    const made = ask(extensionId, row, { ...message, ...definedFields({ after }) }, String(key));
    asking.set(id, { digest, made });
    try {
      return await made;
    } finally {
      asking.delete(id);
    }
  };
}

/** Sends the message of a question. @returns whether it is noted; not if another host has taken the question back meanwhile. */
async function sendQuestion(
  parts: HostParts,
  send: Send,
  row: QuestionRow,
  message: ExtensionMessage,
): Promise<boolean> {
  const { questions, journal, logger, signal } = parts;
  const { extensionId, name } = row;
  const { ended, sendId } = await send(extensionId, message);
  const closeUnsent = async (): Promise<void> => {
    const report = await ended;
    if (report.status === 'sent' || signal.aborted) return;
    const [record] = await journal.sends({ eventId: sendId });
    const { status } = record === undefined ? report : await endOf(parts, record); // another host may send it
    if (status !== 'sent' && !signal.aborted) await questions.close(row, { status: 'not-sent' });
  };
  void closeUnsent().catch((error: unknown) => {
    logger.error('the end of a question could not be persisted', {
      extensionId,
      question: name,
      error,
    });
  });
  return questions.noteSent(row);
}

/** Takes over the questions of the slots that this host has taken, and sends those that were left unsent. */
export async function takeQuestions(
  parts: HostParts,
  send: Send,
  isTaken: (slot: number) => boolean,
): Promise<void> {
  for (const row of await parts.questions.take(isTaken))
    if (row.message !== undefined)
      void sendQuestion(parts, send, row, row.message).catch((error: unknown) => {
        const { extensionId, name } = row;
        parts.logger.error('a question could not be asked', { extensionId, question: name, error });
      });
}

/** Takes the ends of questions in, as updates of the host (extensions-that-act §7.6). */
export function questionActs(parts: HostParts): QuestionActs {
  return {
    accept: async (row) => {
      const { extensionId, name, id, place, data, end } = row;
      const { by: _, sender: by, ...told } = end;
      const about = { kind: 'question', extensionId, name, questionId: id, place } as const;
      const raw: QuestionJob = { ...about, ...definedFields({ data, by }), end: told };
      const taken = await receiveUpdate(parts, accountOfJobs(about), { raw, updateId: id });
      return taken === undefined;
    },
    isOpen: async (eventId) => {
      const open = { eventId, states: openUpdates, limit: 1, withoutBody: true };
      return (await parts.journal.updates(open)).length > 0;
    },
  };
}

function sendKeyOf(questionId: string): string {
  return `/question/${questionId}`;
}

const dayMs = 86_400_000;
const yearMs = 366 * dayMs;
/** Options that a question may have: each is a button. */
const optionsAtMost = 50;
/** Characters of JSON that the data of a question may have. */
const dataAtMost = 65_536;

/** Checks a question: it comes from outside the types. @throws SluiceError `bad-question`. */
function checkedQuestion(
  { accounts }: Pick<HostParts, 'accounts'>,
  extensionId: string,
  { name, place, message, options: { data, timeoutMs = dayMs } }: QuestionToAsk,
) {
  const { channel, to, threadId } = place;
  const accountId =
    place.accountId ?? accounts.all().find((one) => one.channel.id === channel)?.accountId;
  const { options: given = [], takesText = given.length === 0, ...content } = message;
  const options = given.map((one) => (typeof one === 'string' ? { id: one, label: one } : one));
  const problem = problemOf({ content: content.content, options, takesText, data, timeoutMs });
  if (accountId === undefined || problem !== undefined)
    throw hostError('bad-question', {
      ...{ extensionId, name },
      problem: problem ?? `no account of channel "${channel}" is running`,
    });
  const at = { channel, accountId, to, ...(threadId !== undefined && { threadId }) };
  return { place: at, options, takesText, content, timeoutMs };
}

/** Names the fault of a question. */
function problemOf(asked: {
  readonly content: unknown;
  readonly options: readonly QuestionOption[];
  readonly takesText: boolean;
  readonly data: unknown;
  readonly timeoutMs: number;
}): string | undefined {
  const { content, options, takesText, data, timeoutMs } = asked;
  if (typeof content !== 'string' || content.trim() === '')
    return 'it has no text: give it as content';
  if (options.length === 0 && !takesText) return 'it has no options and takes no text';
  if (options.length > optionsAtMost)
    return `it has ${options.length} options, of at most ${optionsAtMost}`;
  if (options.some(({ id, label }) => id === '' || label.trim() === ''))
    return 'an option has no id or no label';
  const folded = (text: string): string => text.trim().toLowerCase(); // as answers are compared
  const texts = options.flatMap(({ id, label }) => [...new Set([id, label].map(folded))]);
  const twice = texts.find((text, at) => texts.indexOf(text) !== at);
  if (twice !== undefined) return `two options are "${twice}"`;
  const found = data === undefined ? undefined : notPlain(data, 'data');
  if (found !== undefined) return `${found.path}: ${found.problem}`;
  const { length } = JSON.stringify(data ?? null);
  if (length > dataAtMost) return `its data has ${length} characters, of at most ${dataAtMost}`;
  if (timeoutMs > 0 && timeoutMs <= yearMs) return undefined;
  return `timeoutMs is ${timeoutMs}, and must be above 0 and at most a year`;
}
