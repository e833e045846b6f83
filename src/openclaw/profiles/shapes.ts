import type {
  LegacyAgentContext,
  LegacyMessageContext,
  LegacyPromptResult,
} from '../hooks/shapes.js';

/** The shapes of the hooks of OpenClaw, profile 2026.9, where they differ from those of 2026.3. */

/** The context of every hook of an agent run. */
export interface LegacyRunContext extends LegacyAgentContext {
  runId?: string;
}

/** The context of the message hooks. */
export interface LegacyTurnMessageContext extends LegacyMessageContext {
  sessionKey?: string;
  runId?: string;
  messageId?: string;
  senderId?: string;
  replyToId?: string;
}

/** The result of the hooks that add context to a prompt. */
export interface LegacyContextResult {
  prependContext?: string;
  appendContext?: string;
}

/** The result of `before_prompt_build`. */
export interface LegacyPromptBuildResult extends LegacyPromptResult {
  appendContext?: string;
  toolsAllow?: string[];
}

/** A reply of a plugin: what it says of files is not sent. */
export interface LegacyReplyPayload {
  text?: string;
  mediaUrl?: string;
  mediaUrls?: string[];
  [field: string]: unknown;
}

/** The result of a hook that may take an action over. */
export interface LegacyClaimResult {
  handled: boolean;
  reply?: LegacyReplyPayload;
  reason?: string;
}

/** The decision of `before_agent_run`. */
export type LegacyGateDecision =
  | { outcome: 'pass' }
  | {
      outcome: 'block';
      reason: string;
      message?: string;
      category?: string;
      metadata?: Record<string, unknown>;
    };
