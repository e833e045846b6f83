import type { ChannelDeclaration } from 'sluice/channel';
import { defaultTokenEnv, tokenShape } from './token.js';

/** The facts about this channel that the command line reads. */
export const declaration: ChannelDeclaration = {
  id: 'telegram',
  options: [
    {
      flags: '--api-root <url>',
      description: "a Bot API server to use instead of Telegram's",
      setting: 'apiRoot',
    },
  ],
  credentials: [
    {
      name: 'a Telegram bot token',
      setting: 'token',
      env: defaultTokenEnv,
      shape: tokenShape,
      looksLike: 'digits, a colon and 35 characters',
      hint: '@BotFather makes a bot, and gives you its token.',
    },
  ],
  starter: {
    config: `{
        // The people who may write to the bot, by user id. If this list is empty, anyone may.
        allowFrom: [],
      }`,
  },
};
