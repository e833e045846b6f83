import type { AgentRequest } from '@sluice/sdk/stream';

/** The part of a request in which nobody judges what models are asked, and what they and tools answer. */
export const unjudged: Pick<AgentRequest, 'llmCalling' | 'llmReturning' | 'toolReturning'> = {
  llmCalling: () => undefined,
  llmReturning: (message) => message,
  toolReturning: async (_call, result) => result,
};
