/**
 * A streamed reply as a channel renders it (seed 003). Texts are cumulative: each replaces the one before.
 * Narrow by `phase`.
 *
 * @example
 * if (delta.phase === 'thinking') show(delta.thinking, delta.thinkingElapsedMs);
 */
export type StreamDelta =
  | { phase: 'thinking'; thinking: string; thinkingElapsedMs: number }
  | { phase: 'content'; content: string; thinking?: string; thinkingDurationMs?: number }
  | { phase: 'final'; content: string; thinking?: string; thinkingDurationMs?: number }
  | { phase: 'error'; error: string };

/**
 * Renders one streamed reply, phase by phase. It owns what it has shown; who drives it owns the order: one call at a
 * time, each waited for. After `onFinal`, `onError` or `abort` it shows nothing more.
 */
export interface StreamSender {
  onThinkingDelta(delta: StreamDelta & { phase: 'thinking' }): Promise<void>;
  onContentDelta(delta: StreamDelta & { phase: 'content' }): Promise<void>;
  onFinal(delta: StreamDelta & { phase: 'final' }): Promise<void>;
  onError(delta: StreamDelta & { phase: 'error' }): Promise<void>;
  /** Takes back what was shown and is no final. Also called where `onFinal` has failed. */
  abort(): Promise<void>;
}
