/** How a gateway answers a message. */
export type Acknowledgement =
  | { readonly kind: 'started'; readonly runId: string }
  /** It was no message for an agent: a word that stops the session's runs. */
  | { readonly kind: 'handled' }
  | { readonly kind: 'failed'; readonly message: string };

/** Reads the answer to `chat.send`. @param runId the id that was proposed, where it names none. */
export function acknowledgementOf(payload: unknown, runId: string): Acknowledgement {
  const answer: Record<string, unknown> = Object(payload);
  const { status, summary, aborted } = answer;
  if (status === 'error')
    return {
      kind: 'failed',
      message: typeof summary === 'string' && summary !== '' ? summary : 'the agent failed',
    };
  if (typeof answer.runId === 'string' && answer.runId !== '')
    return { kind: 'started', runId: answer.runId };
  return aborted === undefined ? { kind: 'started', runId } : { kind: 'handled' };
}
