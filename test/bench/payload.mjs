/**
 * What every contender is given: a fresh object per dispatch, as in real life. Freezing the same object twice
 * would cost next to nothing and flatter whoever freezes.
 */
let made = 0;

/** The text that handlers read and change. */
export const text = 'the quick brown fox';

/** Eleven flat fields. */
export function freshPayload() {
  made = (made + 1) | 0;
  return {
    content: text,
    channel: 'console',
    accountId: 'main',
    senderId: 'u-17',
    senderName: 'Ada',
    conversationId: 'c-4',
    messageId: 'm-1',
    threadId: 't-1',
    isGroup: false,
    receivedAt: made,
    replyTo: null,
  };
}

/** Eleven fields of which two hold objects: three objects to freeze instead of one. */
export function nestedPayload() {
  made = (made + 1) | 0;
  return {
    content: text,
    channel: 'console',
    accountId: 'main',
    sender: { id: 'u-17', name: 'Ada' },
    conversationId: 'c-4',
    messageId: 'm-1',
    threadId: 't-1',
    isGroup: false,
    receivedAt: made,
    replyTo: null,
    attachments: ['a.png'],
  };
}
