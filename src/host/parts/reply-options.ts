import type { AgentTurnCallbacks } from '../../agent/index.js';

/** The things that people see of a turn besides its answers, and how its answers are cut. */
export type ReplyOptions = Pick<
  AgentTurnCallbacks,
  'verboseLevel' | 'reasoningMode' | 'blockReplyBreak' | 'blockReplyChunking'
>;
