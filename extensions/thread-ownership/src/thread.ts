import type { Call, Ref } from 'sluice';

/** A thread: of a conversation, on a channel. */
export interface Thread {
  readonly channel: string;
  readonly conversationId: string;
  readonly threadId: string;
}

/** A thread as one text, the same for no other. */
export function keyOf({ channel, conversationId, threadId }: Thread): string {
  return JSON.stringify([channel, conversationId, threadId]);
}

/** Returns the thread that a message was written in; nothing if it stands outside of a thread. */
export function threadHeard({ event }: Call<'ingress.normalized'>): Thread | undefined {
  const { channel, conversationId, threadId } = event.payload;
  return threadOf(
    channel,
    idIn(event.conversationRef, channel) ?? conversationId,
    idIn(event.threadRef, channel) ?? threadId,
  );
}

/**
 * The thread that a message goes to. The envelope's refs name it; a thread that the payload names beside them, and
 * whatever a resolver has chosen, is where the message really goes, so that counts before them.
 */
export function threadAddressed(call: Call<'egress.preparing'>): Thread | undefined {
  const { event, payload, selection } = call;
  const chosen = selection?.target;
  const channel = chosen?.channel ?? payload.channel ?? event.threadRef?.channel;
  if (channel === undefined) return undefined;
  const threadId = idIn(event.threadRef, channel);
  const isElsewhere = payload.threadId !== undefined && String(payload.threadId) !== threadId;
  const conversationId = isElsewhere ? undefined : idIn(event.conversationRef, channel);
  return threadOf(
    channel,
    chosen?.to ?? conversationId ?? payload.conversationId ?? payload.to,
    chosen?.threadId ?? payload.threadId ?? threadId,
  );
}

/** A ref is of one channel; a message that goes by another is not in its place. */
function idIn(ref: Ref | null, channel: string): string | undefined {
  return ref?.channel === channel ? ref.id : undefined;
}

function threadOf(
  channel: string,
  conversationId: string | undefined,
  threadId: string | number | undefined,
): Thread | undefined {
  if (!conversationId || threadId === undefined || threadId === '') return undefined;
  return { channel, conversationId, threadId: String(threadId) };
}
