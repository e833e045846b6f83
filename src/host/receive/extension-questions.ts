import { randomUUID } from 'node:crypto';
import { againMs, digestOf, eventIdOf, openUpdates } from '@sluice/journal/internal';
import type {
  AskedQuestion,
  ExtensionHost,
  ExtensionMessage,
  QuestionOption,
  QuestionToAsk,
} from '@sluice/sdk/extension';
import { notPlain } from '@sluice/sdk/extension/internal';
import { definedFields, isSluiceError, pause, Timer } from 'sluice-kernel/internal';
import { endOf, sendIdOf } from '../egress/extension-sends.js';
import { hostError } from '../errors.js';
import type { QuestionJob } from '../jobs/job.js';
import type { HostParts } from '../parts/parts.js';
import { accountOfJobs } from '../provided/jobs-channel.js';
import { type AcceptEnd, buttonOf, type QuestionRow } from '../questions/open-questions.js';
import { receiveUpdate } from './receive-update.js';

type Send = ExtensionHost['send'];

/**
 * Asks the questions of extensions (extensions-that-act §7.2).
 *
 * @param send sends their messages, as `api.send` does.
 */
export function extensionQuestions(parts: HostParts, send: Send): ExtensionHost['ask'] {
  const { questions, clock, journal, signal } = parts;
  const asking = new Map<string, Promise<AskedQuestion>>();

  const ask = async (
    extensionId: string,
    row: QuestionRow,
    message: ExtensionMessage,
    key: string,
  ): Promise<AskedQuestion> => {
    const { id, name, place, digest } = row;
    const asked = { id, sendId: sendIdOf(extensionId, sendKeyOf(id)) };
    const eventId = eventIdOf('sluice', accountOfJobs({ ...row, kind: 'question' }).accountId, id);
    for (;;) {
      if (questions.isClosing(id) || (await journal.updates({ eventId, limit: 1 })).length > 0)
        return asked; // and it has its end
      const open = questions.open.openOf(extensionId, name, place);
      const other = open ?? (await questions.add(row)); // another host may ask as well
      if (other !== undefined && other.id !== id)
        throw hostError('question-open', { extensionId, name, open: other.id });
      if (other !== undefined && other.digest !== digest)
        throw hostError('key-conflict', { extensionId, key });
      if (open !== undefined && open.message === undefined) return asked;
      try {
        // also one that another host has persisted: that host may be dead
        if (await sendQuestion(parts, send, row, message)) return asked;
      } catch (error) {
        const isOther = isSluiceError(error, 'key-conflict'); // its id has a send of other words
        const isSent =
          !isOther && (await journal.sends({ eventId: asked.sendId, limit: 1 })).length > 0; // by another call
        if (!isSent && (await questions.withdraw(row))) throw error;
      }
      await pause(clock, againMs, signal);
      signal.throwIfAborted();
      await questions.look({ ...place, conversationId: place.to });
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
    const buttons = options.map(({ label }, at) => ({ id: buttonOf(id, at), label }));
    const message: ExtensionMessage = {
      ...content,
      ...place,
      ...(buttons.length > 0 && { interactive: { buttons } }),
      key: sendKeyOf(id),
    };
    const row: QuestionRow = {
      ...{ id, extensionId, name, place, options, takesText },
      ...definedFields({ data }),
      ...{ message, digest, askedAtMs: clock.now(), dueAtMs: clock.now() + timeoutMs },
    };
    await questions.look({ ...place, conversationId: place.to });
    const before = questions.open.get(id);
    if (before !== undefined && before.digest !== digest)
      throw hostError('key-conflict', { extensionId, key: String(key) });
    const known = asking.get(id);
    if (known !== undefined) return known;
    const made = ask(extensionId, row, { ...message, ...definedFields({ after }) }, String(key));
    asking.set(id, made);
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
  const told = { extensionId, question: name };
  const { ended, sendId } = await send(extensionId, message);
  const closeUnsent = async (): Promise<void> => {
    const report = await ended;
    if (report.status === 'sent' || signal.aborted) return;
    const [record] = await journal.sends({ eventId: sendId });
    const { status } = record === undefined ? report : await endOf(parts, record); // another host may send it
    if (status !== 'sent' && !signal.aborted) await questions.close(row, { status: 'not-sent' });
  };
  void closeUnsent().catch((error: unknown) => {
    logger.error('the end of a question could not be persisted', { ...told, error });
  });
  return questions.noteSent(row).catch((error: unknown) => {
    logger.warn('a question is asked, and the journal could not note it', { ...told, error });
    return true;
  });
}

/** Sends the questions that the host before this one has left unsent in the journal, and waits for the deadlines. */
export async function beginQuestions(parts: HostParts, send: Send): Promise<Disposable> {
  const { questions, clock, journal, logger } = parts;
  await sendLeft(parts, send, questions.open.all());
  const isOpen = async (eventId: string): Promise<boolean> => {
    const open = { eventId, states: openUpdates, limit: 1, withoutBody: true };
    return (await journal.updates(open)).length > 0;
  };
  await questions.begin(isOpen);
  const timer = new Timer(clock);
  const sweep = async (): Promise<void> => {
    try {
      await sendLeft(parts, send, await questions.sweep(isOpen));
    } catch (error) {
      logger.warn('the questions of other hosts could not be read', { error });
    }
    if (!isOver) timer.setIdly(sweepEveryMs, () => void sweep());
  };
  let isOver = journal.ownership.partitionCount === 1;
  if (!isOver) void sweep();
  return {
    [Symbol.dispose]: () => {
      isOver = true;
      timer.clear();
      questions.stop();
    },
  };
}

/** Sends the messages of the questions that were left unsent in the journal. */
async function sendLeft(parts: HostParts, send: Send, rows: readonly QuestionRow[]): Promise<void> {
  for (const row of rows)
    if (row.message !== undefined)
      await sendQuestion(parts, send, row, row.message).catch((error: unknown) => {
        const { extensionId, name } = row;
        parts.logger.error('a question could not be asked', { extensionId, question: name, error });
      });
}

/** Takes the ends of questions in, as updates of the host (extensions-that-act §7.6). */
export function acceptEnds(parts: HostParts): AcceptEnd {
  return async (row) => {
    const { extensionId, name, id, place, data, end } = row;
    const { by: _, sender: by, ...told } = end;
    const about = { kind: 'question', extensionId, name, questionId: id, place } as const;
    const raw: QuestionJob = { ...about, ...definedFields({ data, by }), end: told };
    const taken = await receiveUpdate(parts, accountOfJobs(about), { raw, updateId: id });
    return taken === undefined;
  };
}

function sendKeyOf(questionId: string): string {
  return `/question/${questionId}`;
}

/** Milliseconds between two looks for the questions of dead hosts. */
const sweepEveryMs = 30_000;
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
  const folded = (text: string): string => text.trim().toLowerCase(); // as answers are compared
  const texts = options.flatMap(({ id, label }) => [...new Set([id, label].map(folded))]);
  const twice = texts.find((text, at) => texts.indexOf(text) !== at);
  return twice === undefined ? undefined : `two options are "${twice}"`;
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
