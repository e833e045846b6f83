import type { ApprovalRequest } from '@sluice/agent';
import { digestOf } from '@sluice/journal/internal';
import {
  type ApprovalQuestion,
  type ApprovalScope,
  type AskingFamily,
  definedFields,
  type PayloadOf,
  type Principal,
} from 'sluice-kernel/internal';
import { inEnglish } from '../texts/texts.js';
import type { KeptItem } from './kept-items.js';

/** The states of a question to a human (judgement §4.14). */
export type ApprovalState =
  | 'pending'
  | 'allowed'
  | 'denied'
  | 'expired'
  | 'withdrawn'
  | 'used'
  | 'unused';

/** The one who has answered: a sender that a channel has proven, or an operator at the file of the journal. */
export type AnsweredBy = Principal | 'operator';

/** The conversation that a question belongs to. */
export type ApprovalAddress = Pick<
  PayloadOf<'egress.preparing'>,
  | 'channel'
  | 'accountId'
  | 'to'
  | 'explicit'
  | 'conversationId'
  | 'threadId'
  | 'isGroup'
  | 'groupId'
>;

/** A question to a human as the journal keeps it: one row. */
export interface ApprovalRow extends KeptItem {
  readonly state: ApprovalState;
  /** The message that it belongs to. */
  readonly correlationId: string;
  /** The dispatch that asked. */
  readonly eventId: string;
  readonly family: AskingFamily;
  readonly question: ApprovalQuestion;
  /** The tool that is asked about, the agent that is to start, or where a message goes. */
  readonly about: string;
  /** The data that is acted on, as JSON: without secrets, and otherwise whole. */
  readonly payload: string;
  readonly toolCallId?: string;
  readonly sessionKey?: string;
  readonly subagentId?: string;
  readonly principal?: Principal;
  /** It was allowed before, and may have happened. */
  readonly mayHaveRun?: true;
  /** The conversation that it belongs to; absent if there is none. */
  readonly address?: ApprovalAddress;
  /** The language of the message's sender. */
  readonly locale?: string;
  /** Its message is not known to be sent. */
  readonly isUnsent?: true;
  readonly answeredBy?: AnsweredBy;
  /** The answer holds for later questions, too, as far as this says. */
  readonly always?: ApprovalScope;
  /** The update that brought the answer. */
  readonly answeredIn?: string;
  readonly endedAtMs?: number;
  /** The words of the one who has denied it. */
  readonly reason?: string;
}

/** Fields of a payload that another run of the same message has otherwise. */
const ofOneRun: ReadonlySet<string> = new Set([
  'toolCallId',
  'runId',
  'sessionId',
  'childSessionKey',
  'requesterSessionKey',
  'accounts',
  'openedBy',
]);

/** The digest of what is asked: another run of the same message that asks the same has the same (judgement §4.15). */
export function digestOfAsked(request: ApprovalRequest): string {
  const { event, sessionKey, subagentId, family, question, payload } = request;
  const { extensionId, contributionId } = question.asker;
  const asked = Object.entries(payload).filter(([field]) => !ofOneRun.has(field));
  return digestOf([
    ...[event.correlationId, sessionKey ?? null, subagentId ?? null],
    ...[family, extensionId, contributionId, aboutOf(request), sorted(Object.fromEntries(asked))],
  ]);
}

/** The same data has the same text, in whatever order its fields were written. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([key, item]) => [key, sorted(item)]);
}

/** The tool that is asked about, the agent that is to start, or where a message goes: in English, since grants are found by it. */
export function aboutOf({ family, payload }: Pick<ApprovalRequest, 'family' | 'payload'>): string {
  const { toolName, agentId, channel, to } = payload as Readonly<Record<string, unknown>>; // its family says which are there
  switch (family) {
    case 'agent.tool.calling':
      return inEnglish('asked-tool', { name: String(toolName) });
    case 'subagent.spawning':
      return inEnglish('asked-subagent', { name: String(agentId) });
    case 'egress.preparing':
      return inEnglish('asked-message', { name: `${String(channel)} ${String(to)}` });
  }
}

/** Makes the row of a question that nobody was asked yet. */
export function newApproval(
  request: ApprovalRequest,
  given: Pick<ApprovalRow, 'id' | 'payload' | 'askedAtMs' | 'dueAtMs' | 'address' | 'locale'> & {
    readonly mayHaveRun: boolean;
  },
): ApprovalRow {
  const { question, family, event, payload, sessionKey, subagentId, principal } = request;
  const { mayHaveRun, ...persisted } = given;
  const toolCallId = (payload as { readonly toolCallId?: string }).toolCallId; // of a tool call alone
  return {
    ...persisted,
    state: 'pending',
    ...{ family, question, about: aboutOf(request), isUnsent: true },
    ...{ correlationId: event.correlationId, eventId: event.eventId },
    ...definedFields({ toolCallId, sessionKey, subagentId, principal }),
    ...(mayHaveRun && { mayHaveRun }),
  };
}

/** The beginning of an id, as people type it. */
export function shortIdOf({ id }: Pick<ApprovalRow, 'id'>): string {
  return id.slice(0, 8);
}

/** Questions to humans that a host keeps: those of messages that have not ended. */
export const approvalsAtMost = 1_000;

/** The end of a question, and who gave it. */
export type ApprovalEnd = Pick<ApprovalRow, 'state'> &
  Partial<Pick<ApprovalRow, 'answeredBy' | 'answeredIn' | 'always' | 'reason'>>;
