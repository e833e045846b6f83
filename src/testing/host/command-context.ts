import type { ChatCommandContext } from '@sluice/host';
import { placeOf } from '@sluice/sdk/extension';
import { samplePayload } from '../samples.js';

/**
 * Makes the context of a chat command, for a test that calls `run` by itself.
 *
 * @param fields those that the test is about; the others are a plain message of an authorized sender without arguments.
 * @example
 * expect(await remind.run(commandContext({ args: ['10', 'tea'] }))).toBe('I will remind you in 10 minutes.');
 */
export function commandContext(fields: Partial<ChatCommandContext> = {}): ChatCommandContext {
  const { message } = samplePayload('routing.resolving');
  return {
    args: [],
    sessionKey: 'agent:main:fake:ada',
    agentId: 'main',
    accountId: 'default',
    eventId: 'fake/default/1',
    message,
    place: placeOf({ ...message, accountId: 'default' }),
    signal: new AbortController().signal,
    reply: async (content) => ({ status: 'sent', content, attempts: 1, indexKeys: [] }),
    isAuthorized: true,
    resetSession: async () => undefined,
    stopTurn: () => false,
    commands: [],
    ...fields,
  };
}
