import type { SessionEvent, SubagentAnswer } from '@sluice/sdk/stream';
import type { ReplyCallbackOptions } from '../reply/emit/reply-options.js';

/**
 * The options that the turn itself gives to the reply callbacks, and the hooks whose stages it dispatches in their
 * place.
 */
type TurnsOwn =
  | 'runId'
  | 'sessionId'
  | 'sessionKey'
  | 'logger'
  | 'now'
  | 'onBeforeCompaction'
  | 'onAfterCompaction'
  | 'onAfterToolCall';

/**
 * The callbacks of a host while a turn runs: the reply callbacks, with the names and payloads of the legacy system and
 * the options that gate them; and the session events as they are. Each attempt of a turn begins them anew.
 */
export interface AgentTurnCallbacks extends Omit<ReplyCallbackOptions, TurnsOwn> {
  /** Each session event, when the reply callbacks have had it. Awaited. One that throws is logged and stops nothing. */
  readonly onEvent?: (event: SessionEvent) => void | Promise<void>;
  /** The message has been answered, and subagents go on in the background. Awaited. */
  readonly onAnswered?: () => void | Promise<void>;
  /**
   * The agent's words from now on tell of the answers of these subagents, which came after the message's own. If the list is
   * empty, it tells of none again. Awaited.
   */
  readonly onSubagentAnswers?: (answers: readonly SubagentAnswer[]) => void | Promise<void>;
}
