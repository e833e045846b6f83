import { type Static, Type } from 'typebox';
import { count, object, optional, text } from './field.js';

/** Which session an event belongs to. */
export const sessionFields = {
  agentId: optional(text('The agent.')),
  sessionKey: optional(text('The session by its lasting key; a reset keeps it.')),
  sessionId: optional(text('The session by its id; a reset makes a new one.')),
};

/** Which agent run an event belongs to, and how the run came about. */
export const runFields = {
  ...sessionFields,
  runId: optional(text('The agent run.')),
  workspaceDir: optional(text('The directory the agent works in.')),
  channel: optional(text('The channel whose message started the run.')),
  messageProvider: optional(
    text("The provider of that message, where it is not the channel's name."),
  ),
  trigger: optional(text('What started the run: user, heartbeat, cron, memory, ...')),
  sourceSeq: optional(count('The number that a bridged source gave this event within its run.')),
};

/** A run that has begun: it has an id. */
export const startedRunFields = { ...runFields, runId: text('The agent run.') };

/** A call of a model provider. */
export const callFields = {
  ...runFields,
  runId: text('The agent run.'),
  provider: text('The model provider that is called.'),
  model: text('The model that is called.'),
};

/** Tokens and money that a provider reported. */
export const usage = object(
  {
    inputTokens: optional(count('Tokens read, without those from the cache.')),
    outputTokens: optional(count('Tokens written.')),
    cacheReadTokens: optional(count('Tokens read from the cache.')),
    cacheWriteTokens: optional(count('Tokens written to the cache.')),
    totalTokens: optional(count('All tokens, as the provider adds them up.')),
    costUsd: optional(Type.Number({ description: 'The price in US dollars.' })),
  },
  'What the provider counted.',
);
export interface Usage extends Static<typeof usage> {}
