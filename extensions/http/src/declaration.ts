import type { ChannelDeclaration } from 'sluice/channel';

/** The facts about this channel that the command line reads. */
export const declaration: ChannelDeclaration = {
  id: 'http',
  options: [
    {
      flags: '--http-port <number>',
      description: 'the port of the chat page and of /v1 (default: 8642)',
      setting: 'port',
    },
    {
      flags: '--http-address <address>',
      description: 'the address to listen at (default: 127.0.0.1)',
      setting: 'address',
    },
  ],
  starter: {
    config: `{
        // The chat page is at http://127.0.0.1:8642. Who else may write has a key, by its SHA-256:
        keys: [],
      }`,
  },
};
