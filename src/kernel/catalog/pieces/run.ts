import type { Infer } from '../../schema/schema.js';
import * as f from './field.js';

/** Which session an event belongs to. */
export const sessionFields = {
  agentId: f.optional(f.text('The agent.')),
  sessionKey: f.optional(f.text('The session by its lasting key; a reset keeps it.')),
  sessionId: f.optional(f.text('The session by its id; a reset makes a new one.')),
};

/** Which agent run an event belongs to, and how the run came about. */
export const runFields = {
  ...sessionFields,
  runId: f.optional(f.text('The agent run.')),
  workspaceDir: f.optional(f.text('The directory the agent works in.')),
  channel: f.optional(f.text('The channel whose message started the run.')),
  messageProvider: f.optional(
    f.text("The provider of that message, where it is not the channel's name."),
  ),
  trigger: f.optional(f.text('What started the run: user, heartbeat, cron, memory, ...')),
  sourceSeq: f.optional(
    f.count('The number that a bridged source gave this event within its run.'),
  ),
};

/** A run that has begun: it has an id. */
export const startedRunFields = { ...runFields, runId: f.text('The agent run.') };

/** A call of a model provider. */
export const callFields = {
  ...runFields,
  runId: f.text('The agent run.'),
  provider: f.text('The model provider that is called.'),
  model: f.text('The model that is called.'),
};

/** Tokens and money that a provider reported. */
export const usage = f.object(
  {
    inputTokens: f.optional(f.count('Tokens read, without those from the cache.')),
    outputTokens: f.optional(f.count('Tokens written.')),
    cacheReadTokens: f.optional(f.count('Tokens read from the cache.')),
    cacheWriteTokens: f.optional(f.count('Tokens written to the cache.')),
    totalTokens: f.optional(f.count('All tokens, as the provider adds them up.')),
    costUsd: f.optional(f.number('The price in US dollars.')),
  },
  'What the provider counted.',
);
export interface Usage extends Infer<typeof usage> {}
