import { definedFields, type Given } from 'sluice-kernel/internal';

/** The agent, the session and the places that a payload names, for the envelope of its event. */
export function refsOf(payload: Readonly<Record<string, unknown>>): Given {
  const { channel } = payload;
  const textOf = (value: unknown) => (typeof value === 'string' ? value : undefined);
  const ref = (id: unknown) =>
    typeof channel === 'string' && (typeof id === 'string' || typeof id === 'number')
      ? { channel, id: String(id) }
      : undefined;
  return definedFields({
    agentId: textOf(payload['agentId']),
    sessionId: textOf(payload['sessionId']),
    accountRef: ref(payload['accountId']),
    conversationRef: ref(payload['conversationId']),
    threadRef: ref(payload['threadId']),
    messageRef: ref(payload['messageId']),
  });
}
