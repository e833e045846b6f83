import type { Clock, PayloadOf } from 'sluice';
import { approveSend, type SendResult, StreamApproval } from 'sluice/channel';
import { chatStreamSender } from 'sluice/chat';
import { collectingLogger, createTestKernel, samplePayload, virtualClock } from 'sluice/testing';
import type { ApiAnswer, BotApi } from '../src/api/bot-api.js';
import { telegramSurface } from '../src/egress/surface.js';

/** A call that a sender made. */
export interface Call {
  readonly method: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly atMs: number;
}

type Answer = ApiAnswer<unknown>;

export const tooMany = (retryAfterMs?: number): Answer => ({
  status: 'refused',
  code: 429,
  reason: '429: Too Many Requests',
  ...(retryAfterMs !== undefined && { retryAfterMs }),
});
export const refused = (code: number, reason: string): Answer => ({
  status: 'refused',
  code,
  reason: `${code}: ${reason}`,
});
export const unknown: Answer = { status: 'unknown', reason: 'no readable answer (ECONNRESET)' };

/** A chat behind a Bot API that answers as the test says, and in the order of the calls. */
export function chatApi(
  clock: Clock,
  /** What a call is answered with in place of success; it may take its time. */
  answer: (call: Call, at: number) => Answer | Promise<Answer> | undefined = () => undefined,
) {
  const calls: Call[] = [];
  /** What the chat shows, by id. */
  const shown = new Map<number, string>();
  let lastId = 100;

  const succeed = ({ method, payload }: Call): Answer => {
    const text = String(payload['text']);
    const id = Number(payload['message_id']);
    if (method === 'sendMessage') {
      shown.set(++lastId, text);
      return { status: 'done', result: { message_id: lastId, date: 1, chat: { id: 42 } } };
    }
    if (!shown.has(id))
      return refused(
        400,
        `Bad Request: message to ${method === 'deleteMessage' ? 'delete' : 'edit'} not found`,
      );
    if (method === 'deleteMessage') shown.delete(id);
    else shown.set(id, text);
    return { status: 'done', result: true };
  };
  const api = {
    redact: (text: string) => text,
    call: async (method: string, payload: Call['payload']) => {
      const call = { method, payload, atMs: clock.monotonicMs() };
      calls.push(call);
      const instead = answer(call, calls.length);
      return instead === undefined ? succeed(call) : instead;
    },
  } as unknown as BotApi; // the methods of a stream, which are all that is called
  return { api, calls, shown };
}

/** A stream sender in a test's hands: the permits are real, the Bot API answers as the test says. */
export async function streamLab(
  message: Partial<PayloadOf<'egress.preparing'>> = {},
  /** What a call is answered with in place of success; it may take its time. */
  answer: (call: Call, at: number) => Answer | Promise<Answer> | undefined = () => undefined,
) {
  const clock = virtualClock();
  const { kernel } = createTestKernel({ clock });
  const { api, calls, shown } = chatApi(clock, answer);

  const prepare = async (fields: Partial<PayloadOf<'egress.preparing'>>) =>
    approveSend(
      await kernel.dispatch('egress.preparing', {
        ...samplePayload('egress.preparing'),
        channel: 'telegram',
        accountId: 'default',
        to: 'telegram:42',
        replyToId: '9',
        interactive: {},
        explicit: true,
        ...message,
        ...fields,
      }),
    );
  const approval = new StreamApproval(await prepare({ streaming: true, content: '' }));
  const reports: SendResult[] = [];
  const log = collectingLogger();
  const config = { format: 'markdown' as const, mediaRoots: [] };
  const sender = chatStreamSender(
    {
      surface: telegramSurface({ apiOf: () => api, config }),
      clock,
      log,
      signal: new AbortController().signal,
    },
    {
      ...approval.permits,
      report: (result) => {
        reports.push(result);
      },
    },
  );

  return {
    sender,
    clock,
    calls,
    shown,
    reports,
    log,
    approval,
    /** The methods that were called, in order. */
    methods: () => calls.map(({ method }) => method),
    texts: () => [...shown.values()],
    thinking: async (thinking: string) => {
      await sender.onThinkingDelta({ phase: 'thinking', thinking, thinkingElapsedMs: 0 });
      await clock.advance(0);
    },
    content: async (content: string) => {
      await sender.onContentDelta({ phase: 'content', content });
      await clock.advance(0);
    },
    /** A final passes egress.preparing. */
    admit: async (content: string) => approval.admitFinal(await prepare({ content })),
    /** The final passes egress.preparing as a message of its own, and the sender gets it. */
    final: async (
      content: string,
      more: { readonly thinking?: string; readonly thinkingDurationMs?: number } = {},
    ) => {
      approval.admitFinal(await prepare({ content }));
      const ended = sender.onFinal({ phase: 'final', content, ...more });
      await clock.advance(60_000);
      await ended;
    },
  };
}
