import type { ReplyTrace, TraceEntry } from './reply-program.js';

type Fields = Readonly<Record<string, unknown>>;

/**
 * A trace without the partial texts that do not begin with what was shown of the text before, and each of the others
 * with what it adds to that. An agent event decides for what follows of the same text: the host's event and its reply.
 */
export function onlyGrowing(trace: ReplyTrace): ReplyTrace {
  const calls: TraceEntry[] = [];
  let of: number | undefined;
  let shown = '';
  let added = '';
  let isKept = true;
  trace.calls.forEach((call, at) => {
    const [name, payload] = call;
    const data = assistantData(name, payload);
    if (trace.texts?.[at] !== of) shown = '';
    of = trace.texts?.[at];
    if (name === 'emitAgentEvent' && data !== undefined) {
      const { text, delta } = data;
      isKept = text.startsWith(shown) && (text !== shown || delta === '');
      if (isKept) {
        added = text.slice(shown.length);
        shown = text;
      }
    }
    if (data === undefined) {
      if (isKept || name !== 'onPartialReply') calls.push(call);
    } else if (isKept) {
      calls.push([name, { ...(payload as Fields), data: { ...data, delta: added } }]);
    }
  });
  return { ...trace, calls };
}

/** What an event of the assistant's text holds. */
function assistantData(
  name: string,
  payload: unknown,
): { text: string; delta: string } | undefined {
  if (name !== 'emitAgentEvent' && name !== 'onAgentEvent') return undefined;
  const { stream, data } = payload as { stream: string; data: { text: string; delta: string } }; // of this stream
  return stream === 'assistant' ? data : undefined;
}
