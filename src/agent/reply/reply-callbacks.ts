import type { SessionEvent } from '@sluice/sdk/stream';
import type { MessagingTarget } from './tools/messaging-sends.js';
import type { ToolFailure } from './tools/tool-failures.js';
import type { ToolMeta } from './tools/tool-replies.js';
import type { UsageTotals } from './usage-totals.js';

/** A run's callbacks at work. */
export interface ReplyCallbacks {
  /** The texts of the model, as they were handed over. Live: the same array for the whole run. */
  readonly assistantTexts: readonly string[];
  /** The tool calls that are done. Live. */
  readonly toolMetas: readonly ToolMeta[];
  /** Takes an event. Returns a promise where it, or one before it, waits for `onBlockReplyFlush`; it never rejects. */
  handle(event: SessionEvent): Promise<void> | undefined;
  /** Resolves once every event that came so far is handled. */
  settled(): Promise<void>;
  /** Ends it: no callback is called any more, and who waits for a compaction is told. May be called again. */
  unsubscribe(): void;
  /**
   * Resolves once no compaction is in flight and no run is tried again after one.
   *
   * @throws an `AbortError` once `unsubscribe` was called.
   */
  waitForCompactionRetry(): Promise<void>;
  /** A compaction is in flight, or the run that follows one is not over. */
  isCompacting(): boolean;
  isCompactionInFlight(): boolean;
  /** How many compactions made room. */
  getCompactionCount(): number;
  /** The usage of all messages; nothing if no message named its usage. */
  getUsageTotals(): UsageTotals | undefined;
  /** The last tool call that failed and was not made good. */
  getLastToolError(): ToolFailure | undefined;
  getMessagingToolSentTexts(): readonly string[];
  getMessagingToolSentMediaUrls(): readonly string[];
  getMessagingToolSentTargets(): readonly MessagingTarget[];
  didSendViaMessagingTool(): boolean;
  /** A tool asked people for approval: the model's texts are held back since. */
  didSendDeterministicApprovalPrompt(): boolean;
}
