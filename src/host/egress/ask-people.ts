import { type ApprovalAnswer, type ApprovalRequest, type Approvals, Trail } from '@sluice/agent';
import type { SendReport } from '@sluice/journal';
import { digestOf, patiently } from '@sluice/journal/internal';
import { anySignal } from '@sluice/sdk/stream/internal';
import { definedFields, oneLine, type StopSignal } from 'sluice-kernel/internal';
import {
  type ApprovalAddress,
  type ApprovalRow,
  aboutOf,
  digestOfAsked,
  newApproval,
  shortIdOf,
} from '../inquiries/approval-row.js';
import {
  answerText,
  approvalButtons,
  approvalText,
  givenText,
} from '../inquiries/approval-text.js';
import { buttonOf } from '../inquiries/question-row.js';
import type { PeopleWait } from '../lanes/people-wait.js';
import type { FencedParts, HostParts } from '../parts/parts.js';
import type { HostSay } from '../texts/texts.js';
import { boundedJson, secretKeys } from '../timeline/bounded-json.js';
import { deliver } from './delivery.js';
import type { OutgoingMessage } from './prepare-send.js';

/** Milliseconds that a question to a human has if neither its asker nor the config says: one hour. */
const usualApprovalMs = 3_600_000;
/** The most that it may have: one day. */
const longestApprovalMs = 86_400_000;

/** Characters of the JSON of what is asked about: more cannot be asked. */
const payloadAtMost = 1_048_576;
const isSecret = secretKeys();

/** The message on whose way somebody asks. */
interface AskingMessage {
  /** The place of its questions, unless the config says otherwise; absent if it has no conversation. */
  readonly address?: ApprovalAddress;
  /** The language of its sender, if its channel says it. */
  readonly locale?: string | undefined;
  /** Its waits for people; absent if it leaves no place and no slot meanwhile. */
  readonly people?: PeopleWait;
  /** Returns whether the transcript has the result of a tool call. */
  readonly hasResult?: (toolCallId: string) => boolean;
}

/**
 * The port by which the gates of one run of a message ask humans (judgement §4.16). The question and what it is about are in the
 * journal before anybody is asked. A question that a run before this one has asked, and that has its answer, is not asked again.
 */
export function askPeople(parts: FencedParts, message: AskingMessage): Approvals {
  const { approvals, clock, logger } = parts;
  const seen = new Map<string, number>();

  const ask = async (request: ApprovalRequest): Promise<ApprovalAnswer> => {
    const asked = digestOfAsked(request);
    const occurrence = (seen.get(asked) ?? 0) + 1;
    seen.set(asked, occurrence);
    const { row, id, mayHaveRun } = findRow(request, [asked, occurrence]);
    if (row?.state === 'used')
      return { status: 'allowed', use: async () => true, how: answerText(row) };
    if (row !== undefined && row.state !== 'pending') return answerOf(parts, row, request.signal);
    const isNew = row === undefined && !mayHaveRun; // what may have happened is asked about, whatever was granted
    const granted = isNew ? { ...request, about: aboutOf(request) } : undefined;
    const grant = granted && (await approvals.grants.for(granted));
    if (grant !== undefined)
      return {
        status: 'allowed',
        use: () => approvals.grants.use(grant),
        how: givenText(grant),
        isGranted: true,
      };
    const { people } = message;
    const wait = async (): Promise<ApprovalAnswer> => {
      const open = row ?? (await openApproval(request, { id, mayHaveRun }));
      if (typeof open === 'string') return { status: 'denied', reason: open };
      if (row === undefined) await sendApproval(parts, open);
      return untilAnswered(parts, open, request.signal, people);
    };
    return people === undefined ? wait() : people.during(wait);
  };

  return {
    ask: async (request) => {
      try {
        return await ask(request);
      } catch (error) {
        if (parts.suspension?.by(error)) return { status: 'withdrawn' };
        if (!approvals.leaving.aborted && !parts.signal.aborted)
          logger.error('a question to a human could not be asked', { error });
        return { status: 'denied', reason: `nobody could be asked: ${oneLine(error)}` };
      }
    },
  };

  /** Finds the row of a question. What was used, or given up, is asked anew under the next id. */
  function findRow(
    { event, family }: ApprovalRequest,
    of: readonly unknown[],
  ): { readonly row: ApprovalRow | undefined; readonly id: string; readonly mayHaveRun: boolean } {
    let mayHaveRun = false;
    for (let anew = 0; ; anew++) {
      const id = digestOf([...of, anew]);
      const row = approvals.of(event.correlationId).find((one) => one.id === id);
      switch (row?.state) {
        case 'used':
          // the same send, which a host before this one had persisted: its id says that it goes out once
          if (family === 'egress.preparing' && row.eventId === event.eventId)
            return { row, id, mayHaveRun };
          mayHaveRun = row.toolCallId === undefined || message.hasResult?.(row.toolCallId) !== true;
          break;
        case 'unused':
        case 'withdrawn':
          break;
        default:
          return { row, id, mayHaveRun };
      }
    }
  }

  /** Keeps a question. @returns its row, or why it cannot be asked. */
  async function openApproval(
    request: ApprovalRequest,
    { id, mayHaveRun }: { readonly id: string; readonly mayHaveRun: boolean },
  ): Promise<ApprovalRow | string> {
    const { question, payload, principal } = request;
    if (question.of === 'principal' && principal === undefined)
      return 'nobody could be asked: it is not proven on whose behalf it happens';
    const shown = boundedJson(shownOf(request.family, payload), {
      maxLength: payloadAtMost,
      isSecret,
    });
    if (!('json' in shown)) return `nobody could be asked: what it is about is ${shown.problem}`;
    const { timeoutMs = parts.options.approvals?.timeoutMs ?? usualApprovalMs } = question;
    const askedAtMs = clock.now();
    const dueAtMs = askedAtMs + Math.min(timeoutMs, longestApprovalMs);
    const row = newApproval(request, {
      ...{ id, mayHaveRun, askedAtMs, dueAtMs },
      payload: cleanOf(parts)(shown.json),
      ...definedFields({ address: message.address, locale: message.locale }),
    });
    return (await patiently(clock, request.signal, () => approvals.add(row, parts.fence)))
      ? row
      : 'nobody could be asked: too many questions are open, or the host stops';
  }
}

/** How a question ends whose message is not sent. */
export const unsentEnd = { state: 'withdrawn', reason: 'the question could not be sent' } as const;

/** Sends something about a question to where people answer it. @returns how that ended; nothing if it is nowhere. */
export async function notifyApprover(
  parts: FencedParts,
  { address: conversation, correlationId }: ApprovalRow,
  sendId: string,
  message: Pick<OutgoingMessage, 'content' | 'interactive' | 'metadata'>,
): Promise<SendReport | undefined> {
  const to = parts.options.approvals?.to;
  const address = to === undefined ? conversation : { ...to, explicit: to.accountId !== undefined };
  if (address === undefined) return undefined;
  const trail = new Trail(parts.kernel, undefined, { correlationId });
  const outgoing = { ...address, kind: 'approval' as const, ...message };
  return deliver(parts, trail, outgoing, parts.signal, sendId);
}

/** Sends a question to where people answer it. One that is cancelled there, or fails, is withdrawn. */
export async function sendApproval(parts: FencedParts, row: ApprovalRow): Promise<void> {
  const { approvals, logger, signal } = parts;
  const { id } = row;
  const say = sayToApprover(parts, row);
  const buttons = approvalButtons(row, say).map(({ at, label }) => ({
    id: buttonOf('a', id, at),
    label,
  }));
  const sent = await notifyApprover(parts, row, sendIdOfApproval(row), {
    content: approvalText(row, cleanOf(parts), say),
    interactive: { buttons },
    metadata: { approvalId: id },
  });
  if (sent === undefined)
    logger.warn('an approval is asked nowhere: see `sluice approvals`', { approval: id });
  const status = sent?.status ?? 'sent';
  if (signal.aborted) return; // the next host looks what became of it
  const withdraw = () => approvals.end(row, unsentEnd, parts.fence.signal);
  if (parts.suspension?.isSuspended && status !== 'sent')
    await patiently(parts.clock, signal, withdraw); // it is asked anew when its message is claimed again
  else if (status === 'sent') await approvals.noteSent(row);
  else await withdraw();
}

/** Speaks to whoever is asked: in the language of the message if it is asked there, and else in the operator's. */
export function sayToApprover({ texts, options }: HostParts, { locale }: ApprovalRow): HostSay {
  return texts.to(options.approvals?.to === undefined ? { sender: definedFields({ locale }) } : {});
}

/** The id of the send that asks. */
export function sendIdOfApproval({ id }: Pick<ApprovalRow, 'id'>): string {
  return `approval-${id}`;
}

/** Waits for the end of a question. A question that nobody waits for any more is withdrawn, unless its message goes on later. */
async function untilAnswered(
  parts: FencedParts,
  row: ApprovalRow,
  signal: StopSignal,
  people: PeopleWait | undefined,
): Promise<ApprovalAnswer> {
  const { approvals, gate } = parts;
  const left = anySignal(parts.signal, approvals.leaving, gate.closing);
  const either = anySignal(signal, left);
  const ended = await approvals.ended(row, either);
  if (ended !== undefined && ended.state !== 'pending') return answerOf(parts, ended, signal);
  if (parts.suspension?.isSuspended) return { status: 'withdrawn' }; // it stays open
  if (left.aborted) people?.defer();
  else await approvals.end(row, { state: 'withdrawn' }, parts.fence.signal);
  return { status: 'withdrawn' };
}

/** @param signal aborts when nobody waits for the action any more. */
function answerOf(parts: FencedParts, row: ApprovalRow, signal: StopSignal): ApprovalAnswer {
  const { approvals, logger, clock } = parts;
  const { id, state, reason } = row;
  logger.debug('an approval has its answer', { approval: shortIdOf(row), state });
  const use = async (): Promise<boolean> => {
    try {
      return await patiently(clock, signal, (isAgain) => approvals.use(row, parts.fence, isAgain));
    } catch (error) {
      logger.error('an answer could not be noted as used', { id, error });
      return false;
    }
  };
  if (state === 'allowed') return { status: 'allowed', use, how: answerText(row) };
  if (state === 'denied') return { status: state, ...(reason !== undefined && { reason }) };
  return { status: state === 'expired' ? 'expired' : 'withdrawn' };
}

/** The part of a payload that people judge. */
function shownOf(family: ApprovalRequest['family'], payload: object): unknown {
  if (family === 'agent.tool.calling') return (payload as { readonly params?: unknown }).params; // of its family
  if (family === 'subagent.spawning') return payload;
  const { accounts: _, ...message } = payload as { readonly accounts?: unknown }; // of its family
  return message;
}

function cleanOf({ options }: FencedParts): (text: string) => string {
  return options.approvals?.clean ?? ((text) => text);
}
