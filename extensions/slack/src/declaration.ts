import type { ChannelDeclaration } from 'sluice/channel';
import { secrets } from './secrets.js';

/** The facts about this channel that the command line reads. */
export const declaration: ChannelDeclaration = {
  id: 'slack',
  options: [
    {
      flags: '--api-root <url>',
      description: "a Web API server to use instead of Slack's",
      setting: 'apiRoot',
    },
  ],
  credentials: [secrets.botToken, secrets.appToken],
  starter: {
    config: `{
        // The people who may write to the bot, by user id. If this list is empty, anyone may.
        allowFrom: [],
      }`,
  },
};
