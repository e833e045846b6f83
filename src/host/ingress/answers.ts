import type { Trail } from '@sluice/agent';
import { type Ending, patiently, stopped } from '@sluice/journal/internal';
import {
  definedFields,
  oneLine,
  type PayloadOf,
  type Principal,
  type ProvenSender,
} from 'sluice-kernel/internal';
import { endFailed } from '../egress/reply.js';
import { answerApproval } from '../inquiries/answer-approval.js';
import { buttonAnswers } from '../inquiries/approval-text.js';
import {
  type Found,
  isAnsweredBy,
  pressedOf,
  readButton,
  writtenOf,
} from '../inquiries/question-row.js';
import type { FencedParts } from '../parts/parts.js';
import { conversationOf, type RoutedMessage } from '../session/routing.js';
import type { HostSay } from '../texts/texts.js';
import { provenSender } from './principal.js';
import type { ReceivedUpdate } from './received-update.js';

/** The update that brings an answer, and its sender if his channel has proven who he is. */
interface By {
  readonly eventId: string;
  readonly sender: ProvenSender | undefined;
  readonly principal?: Principal | undefined;
}

const answered: Ending = { status: 'answer', sends: [] };

/** Takes a message as the answer to an open question (extensions-that-act §7.4). @returns its end, if it is one. */
export async function takeAnswer(
  parts: FencedParts,
  trail: Trail,
  { eventId, account, decoded }: Pick<ReceivedUpdate, 'eventId' | 'account' | 'decoded'>,
  message: RoutedMessage,
): Promise<Ending | undefined> {
  const { questions, clock, signal } = parts;
  if (message.sender?.isBot === true) return undefined;
  const { channel, accountId = account.accountId, threadId, content, from } = message;
  const place = { channel, accountId, conversationId: conversationOf(message), threadId };
  const by = { eventId, sender: provenSender(account, decoded) };
  try {
    for (;;) {
      const there = await patiently(clock, signal, () => questions.at(place));
      if (isAnsweredBy(there, eventId)) return answered; // to the host before this one
      const found = writtenOf(there, content, place);
      if (found === undefined) return undefined;
      if (await close(parts, found, by, message.sender, from)) return answered;
    }
  } catch (error) {
    if (parts.suspension?.by(error)) return stopped;
    return endFailed(parts, trail, message, { code: 'session', message: oneLine(error) });
  }
}

/** A press of a button of a question: `questionId` if it is the answer, and nothing if the question is not open. */
interface AnswerPress {
  readonly questionId?: string;
  /** The text for the one who has pressed. */
  readonly text?: string;
}

/**
 * Takes a press as the answer to its question. @param by the update, and its proven sender.
 *
 * @returns nothing if it is no button of a question.
 * @throws as the journal does.
 */
export async function takePress(
  parts: FencedParts,
  by: By,
  pressed: Omit<PayloadOf<'interaction.received'>, 'raw'>,
): Promise<AnswerPress | undefined> {
  const { questions, clock, signal } = parts;
  const { kind, name, channel, accountId, conversationId = '', sender } = pressed;
  const button = kind === 'button' ? readButton(name) : undefined;
  if (button === undefined) return undefined;
  const { id: questionId } = button;
  const place = { channel, accountId, conversationId };
  return patiently(clock, signal, async () => {
    if (button.kind === 'a') return pressApproval(parts, by, button, parts.texts.to(pressed));
    const there = await questions.at(place, questionId);
    if (isAnsweredBy(there, by.eventId)) return { questionId };
    const found = pressedOf(there, button);
    const isOpen = found !== undefined && (await close(parts, found, by, sender, conversationId));
    return isOpen ? { questionId } : { text: parts.texts.to(pressed)('question-closed') };
  });
}

/** Takes the press of a button of an approval. */
async function pressApproval(
  { approvals }: FencedParts,
  { eventId, principal }: By,
  { id: questionId, at }: { readonly id: string; readonly at: number },
  say: HostSay,
): Promise<AnswerPress> {
  const answer = buttonAnswers[at];
  const row = answer && (await approvals.byId(questionId));
  const by = definedFields({ answeredBy: principal, answeredIn: eventId });
  const given = { ...(answer ?? { state: 'denied' as const }), ...by };
  const { ended, text } = await answerApproval(approvals, row, given, say);
  return ended === undefined ? { text } : { questionId, text };
}

function close(
  { questions }: FencedParts,
  { row, answer }: Found,
  { eventId: by, sender: proven }: By,
  sender: RoutedMessage['sender'],
  otherwise: string,
): Promise<boolean> {
  const from = { id: sender?.id ?? otherwise, ...definedFields({ name: sender?.name }) };
  const end = { status: 'answered', answer, from, by } as const;
  return questions.close(row, { ...end, ...definedFields({ sender: proven }) });
}
