import {
  type DispatchEntry,
  foldTimeline,
  type QuestionEntry,
  type TimelineEntry,
} from 'sluice/host';

/** A message as a list shows it. What its journal does not tell is absent. */
export interface Message {
  /** The number of its first step. */
  readonly seq: number;
  /** The id of its event. */
  readonly id: string;
  /** The times of its first and its newest step. */
  readonly fromMs: number;
  readonly toMs: number;
  /** How it ended, or its newest step. */
  readonly state: string;
  readonly reason?: string | undefined;
  readonly channel?: string | undefined;
  /** The writer, for people, and the conversation in words. */
  readonly sender?: string | undefined;
  readonly conversation?: string | undefined;
  readonly agentId?: string | undefined;
  /** The first line of what was said, if texts may be shown. */
  readonly text?: string | undefined;
  /** Its newest question to a human, and who may answer that: `owner`, `principal` or a role. */
  readonly question?: Pick<QuestionEntry, 'state' | 'of' | 'atMs'> | undefined;
  readonly approver?: string | undefined;
  readonly cancels: number;
  readonly failures: number;
  /** Milliseconds of its runs without those of their tools. */
  readonly modelMs: number;
}

/** Makes the line of a message of all of its entries; nothing if they are of none. */
export function messageOf(
  entries: readonly TimelineEntry[],
  mayText: boolean,
): Message | undefined {
  const { update, dispatches, questions } = foldTimeline(entries);
  const first = entries.find(({ kind }) => kind === 'update');
  const newest = update.at(-1);
  if (first === undefined || newest === undefined) return undefined;
  const outcomes = dispatches.map(({ outcome }) => outcome);
  const heard = dispatches.findLast(({ outcome }) => outcome.event.family === 'ingress.normalized');
  const said = heard === undefined ? {} : payloadOf(heard);
  const asker = outcomes.findLast(({ cancel }) => cancel?.question !== undefined);
  const approver = asker?.cancel?.question?.of;
  return {
    ...{ seq: first.seq, id: first.correlationId, fromMs: first.atMs, toMs: newest.atMs },
    state: newest.state === 'dead' ? 'dead' : (newest.outcome ?? newest.state),
    reason: lineOf(newest.reason),
    channel: update.find(({ channel }) => channel !== undefined)?.channel,
    sender: senderOf(said),
    conversation: heard && conversationOf(said),
    agentId: outcomes.findLast(({ event }) => event.agentId !== null)?.event.agentId ?? undefined,
    text: mayText ? lineOf(said['content']) : undefined,
    question: questions.at(-1),
    approver: typeof approver === 'object' ? approver.role : approver,
    // one that asks a human cancels nothing
    cancels: outcomes.filter(({ cancel }) => cancel && cancel.question === undefined).length,
    failures: outcomes.reduce((sum, { failures }) => sum + failures.length, 0),
    modelMs: dispatches.reduce((sum, one) => sum + modelMsOf(one), 0),
  };
}

/** The payload of a dispatch, as it was emitted. One that was left out is empty. */
export function payloadOf({ outcome }: DispatchEntry): Readonly<Record<string, unknown>> {
  return { ...outcome.event.payload };
}

/** The payload of a dispatch after every patch. */
export function payloadAfter({ outcome }: DispatchEntry): Readonly<Record<string, unknown>> {
  return { ...Object('payload' in outcome ? outcome.payload : outcome.event.payload) };
}

const longest = 200;

/** A text or a number of a payload, as a text of one line. */
export function lineOf(value: unknown): string | undefined {
  const [line = ''] = (
    typeof value === 'number' ? `${value}` : typeof value === 'string' ? value : ''
  )
    .trim()
    .split('\n');
  if (line === '') return undefined;
  return line.length > longest ? `${line.slice(0, longest)}…` : line;
}

/** The writer of a normalized message, for people. */
function senderOf({ sender, from }: Readonly<Record<string, unknown>>): string | undefined {
  const { name, username, id } = Object(sender);
  return lineOf(name) ?? lineOf(username) ?? lineOf(id) ?? lineOf(from);
}

function conversationOf(message: Readonly<Record<string, unknown>>): string {
  const { channel, accountId, conversationId, from, threadId, channelName, isGroup } = message;
  return conversationWords({
    ...{ channel: String(channel), accountId: lineOf(accountId), isGroup: isGroup === true },
    ...{ id: lineOf(conversationId ?? from) ?? '', threadId: lineOf(threadId) },
    name: lineOf(channelName),
  });
}

/** Milliseconds that a dispatch adds to the model's time: a run's, and those of a tool off it. */
function modelMsOf(entry: DispatchEntry): number {
  const { family } = entry.outcome.event;
  if (family !== 'agent.completed' && family !== 'agent.tool.called') return 0;
  const ms = Number(payloadOf(entry)['durationMs']) || 0;
  return family === 'agent.completed' ? ms : -ms;
}

/** A conversation, as far as it is known. */
interface Conversation {
  readonly channel: string;
  readonly accountId?: string | undefined;
  readonly id: string;
  readonly threadId?: string | undefined;
  /** Its name, where it has one. */
  readonly name?: string | undefined;
  readonly isGroup?: boolean;
}

/**
 * Says a conversation in words.
 *
 * @example
 * conversationWords({ channel: 'telegram', id: 'telegram:-7', name: 'Ops', isGroup: true }); // 'telegram, group Ops'
 */
function conversationWords({
  channel,
  accountId = 'default',
  id,
  threadId = '',
  name,
  isGroup = false,
}: Conversation): string {
  const account = accountId === 'default' || accountId === '' ? '' : ` (${accountId})`;
  const own = id.startsWith(`${channel}:`) ? id.slice(channel.length + 1) : id;
  const thread = threadId === '' ? '' : `, thread ${threadId}`;
  return `${channel}${account}, ${isGroup ? 'group' : 'chat'} ${name ?? own}${thread}`;
}

/** Says the lane of an update in words. A lane that no host of this kind has written is left as it is. */
export function laneWords(lane: string): string {
  let parts: unknown;
  try {
    parts = JSON.parse(lane);
  } catch {
    return lane;
  }
  if (!Array.isArray(parts)) return lane;
  const [channel, accountId, id, threadId] = parts.map(String);
  if (channel === undefined || id === undefined) return lane;
  return conversationWords({ channel, accountId, id, threadId });
}
