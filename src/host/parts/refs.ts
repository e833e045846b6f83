import type { TrailRefs } from '@sluice/agent';
import type { Ref } from 'sluice-kernel';

/** An id as its channel writes it, for an envelope. */
export function refOf(channel: string, id: string): Ref {
  return { channel, id };
}

/** The refs of a place, for the envelope of each dispatch of a message. */
export function refsOf(
  channel: string,
  conversationId: string | undefined,
  at: { readonly threadId?: string | number; readonly messageId?: string },
): Pick<TrailRefs, 'conversationRef' | 'threadRef' | 'messageRef'> {
  const { threadId, messageId } = at;
  return {
    ...(conversationId !== undefined && { conversationRef: refOf(channel, conversationId) }),
    ...(threadId !== undefined && { threadRef: refOf(channel, String(threadId)) }),
    ...(messageId !== undefined && { messageRef: refOf(channel, messageId) }),
  };
}
