import { LogLevel } from '@slack/web-api';

const say = (): void => undefined;

/** The log of Slack's libraries: it would hold messages and addresses with tickets. Failures are told by this channel. */
export const silentSlackLogger = {
  ...{ debug: say, info: say, warn: say, error: say, setLevel: say, setName: say },
  getLevel: () => LogLevel.ERROR,
};
