import type { Logger } from 'sluice';
import {
  type AgentRequest,
  MessageWriter,
  promptText,
  type SessionEvent,
  type SessionUsage,
} from 'sluice/stream';
import { readAnswer } from './answer/chat-answer.js';
import type { ChatPart } from './answer/chat-end.js';
import { type ChatMessage, tokensOf } from './chat-messages.js';
import type { AgentSettings } from './config.js';
import type { KeptHistory } from './kept-history.js';

/** The parts that a compaction works with. */
export interface Compacting {
  readonly request: Pick<
    AgentRequest,
    'keepSession' | 'signal' | 'runId' | 'sessionId' | 'llmCalling' | 'llmReturning'
  >;
  readonly settings: Pick<AgentSettings, 'compaction' | 'contextTokens'>;
  readonly history: KeptHistory;
  readonly logger: Logger;
  /** Asks the model, without tools. */
  readonly ask: (messages: readonly ChatMessage[]) => AsyncIterable<ChatPart>;
}

/** Characters of a summary that are kept. */
const maxSummaryChars = 8_000;

const task =
  'Summarize the conversation for the assistant that goes on with it: facts, decisions, names, numbers, open questions and wishes. Write no answer to it. At most 400 words.';

/**
 * Leaves the oldest turns out of the history, so that the others have so many tokens at most, but one turn at least. The model sums
 * them up, if the settings say so; what was left out is kept with the session.
 *
 * @returns what the summary has cost.
 */
export async function* compact(
  { request, settings, history, logger, ask }: Compacting,
  reason: 'threshold' | 'overflow',
  tokens: number,
): AsyncGenerator<SessionEvent, SessionUsage | undefined> {
  // a cancel ends the turn (§16.33), and nothing is left out
  if (settings.compaction === 'summary') await request.llmCalling();
  yield { type: 'auto_compaction_start', reason };
  const tokensBefore = tokensOf(history.messages());
  const dropped = history.drop(Math.max(1, history.tooMany(tokens)));
  const { summary: before } = history.leftOut;
  let usage: SessionUsage | undefined;
  let errorMessage: string | undefined;
  if (settings.compaction === 'summary') {
    const prompt = before === undefined ? task : `${task}\n\nKnown from before:\n${before}`;
    const all = promptText({ prompt, attachments: [] }, dropped);
    const content = all.slice(-3 * settings.contextTokens); // its end, which has the task: three quarters of the context
    const writer = new MessageWriter({});
    try {
      const events = readAnswer(ask([{ role: 'user', content }]), writer, (id) => id);
      for await (const _ of events); // nobody sees it grow
      const last = writer.messages.at(-1); // one before it has its thoughts
      usage = last?.usage;
      const said = last && (await request.llmReturning(last));
      const text = (said?.content ?? []).flatMap((one) => (one.type === 'text' ? one.text : []));
      const summary = text.join('').trim().slice(0, maxSummaryChars);
      if (summary !== '') history.leftOut = { ...history.leftOut, summary };
    } catch (thrown) {
      errorMessage = String(Object(thrown).message ?? thrown);
      const { runId, sessionId } = request;
      logger.warn('a conversation was not summed up', { runId, sessionId, error: thrown });
    }
  }
  // without its summary it is kept for this turn alone: the next one tries again
  if (errorMessage === undefined) request.keepSession(JSON.stringify(history.leftOut));
  const { summary } = history.leftOut;
  const counts = { tokensBefore, tokensAfter: tokensOf(history.messages()) };
  const result = { ...counts, compactedCount: dropped.length };
  yield {
    type: 'auto_compaction_end',
    result: { ...result, ...(summary !== undefined && { summary }) },
    aborted: request.signal.aborted,
    willRetry: reason === 'overflow',
    ...(errorMessage !== undefined && { errorMessage }),
  };
  return usage;
}
