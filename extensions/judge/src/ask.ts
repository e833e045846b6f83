import type { ApprovalQuestion, AskAnswer, Clock } from 'sluice-kernel';
import type { AskReply, JudgeOptions, ToolCall } from './options.js';
import { oneLine } from './text.js';

/** Milliseconds that a question waits if it does not say: one hour, as in a host. */
const usualAskMs = 3_600_000;
const gone = 'nobody waits for the answer of a human any more';

/** A yes, or the words of a refusal. */
export type Asked = { readonly how?: string } | { readonly refusal: string };

/** The parts that a question is asked with. */
export interface Asking {
  readonly onAsk: JudgeOptions['onAsk'];
  readonly clock: Clock;
  readonly call: ToolCall;
  readonly signal: AbortSignal;
  /** An error that the framework needs to suspend the run: it passes through. */
  readonly suspends: (error: unknown) => boolean;
}

/** Asks about a call once. Rejects only with an error that suspends. */
export async function ask(question: ApprovalQuestion, asking: Asking): Promise<Asked> {
  const told = (answer: AskAnswer, refusal: string): Asked => {
    question.onAnswer?.(answer);
    return { refusal };
  };
  if (asking.onAsk === undefined)
    return told('withdrawn', `an approval is needed: ${question.title}`);
  let reply: AskReply | 'expired' | 'withdrawn';
  try {
    reply = await answerOf(question, asking, asking.onAsk);
  } catch (error) {
    if (asking.suspends(error)) throw error;
    return told('withdrawn', `nobody could be asked: ${oneLine(error)}`);
  }
  if (asking.signal.aborted || reply === 'withdrawn') return told('withdrawn', gone);
  if (reply === 'expired') return told('expired', 'no human allowed it in time');
  if (!reply.allowed)
    return told(
      'denied',
      `a human denied it${reply.reason === undefined ? '' : `: ${reply.reason}`}`,
    );
  question.onAnswer?.('allowed');
  return reply.how === undefined ? {} : { how: reply.how };
}

function answerOf(
  question: ApprovalQuestion,
  { clock, call, signal }: Asking,
  onAsk: NonNullable<JudgeOptions['onAsk']>,
): Promise<AskReply | 'expired' | 'withdrawn'> {
  const over = new AbortController();
  const { promise, resolve } = withResolvers<AskReply | 'expired' | 'withdrawn'>();
  const withdraw = (): void => resolve('withdrawn');
  signal.addEventListener('abort', withdraw, { once: true });
  if (signal.aborted) withdraw();
  const timer = clock.setTimeout(() => resolve('expired'), question.timeoutMs ?? usualAskMs);
  const asked = async (): Promise<AskReply> =>
    readReply(signal.aborted ? false : await onAsk(question, { call, signal: over.signal }));
  return Promise.race([promise, asked()]).finally(() => {
    clock.clearTimeout(timer);
    signal.removeEventListener('abort', withdraw);
    over.abort();
  });
}

/** Reads an answer: all but a clear yes is a no. */
function readReply(reply: unknown): AskReply {
  const { allowed, reason, how }: { readonly [Key in keyof AskReply]?: unknown } = Object(reply);
  return {
    allowed: reply === true || allowed === true,
    ...(typeof reason === 'string' && { reason }),
    ...(typeof how === 'string' && { how }),
  };
}

function withResolvers<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
