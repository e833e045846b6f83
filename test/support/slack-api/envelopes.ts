import type { Envelope } from './slack-server.js';

/** When everything in tests is said, in seconds since 1970. */
export const saidAtS = 1_773_532_800;

/** The `ts` of a message, by its number. */
export function tsOf(number: number): string {
  return `${saidAtS}.${String(number).padStart(6, '0')}`;
}

/** A person writes. In `C…` in a channel, in `D…` to the bot alone. */
export function said(
  number: number,
  text: string,
  more: Readonly<Record<string, unknown>> = {},
): Envelope {
  const channel = String(more['channel'] ?? 'D001');
  return event(`Ev${number}`, {
    type: 'message',
    channel,
    channel_type: channel.startsWith('D') ? 'im' : 'channel',
    user: 'U00ADA',
    text,
    ts: tsOf(number),
    client_msg_id: `m-${number}`,
    ...more,
  });
}

/** An event, as Slack wraps it. */
export function event(eventId: string, inside: object): Envelope {
  return {
    type: 'events_api',
    payload: {
      ...{ token: 'an-old-secret', team_id: 'T1', api_app_id: 'A1', type: 'event_callback' },
      event: inside,
      event_id: eventId,
      event_time: saidAtS,
    },
  };
}

/** Somebody edits a message. */
export function edited(number: number, text: string, before: string): Envelope {
  return event(`Ev${number}e`, {
    type: 'message',
    subtype: 'message_changed',
    channel: 'D001',
    channel_type: 'im',
    ts: tsOf(number + 1),
    message: {
      type: 'message',
      user: 'U00ADA',
      text,
      ts: tsOf(number),
      edited: { user: 'U00ADA', ts: tsOf(number + 1) },
    },
    previous_message: { type: 'message', user: 'U00ADA', text: before, ts: tsOf(number) },
  });
}

/** Somebody gives a slash command. */
export function slash(number: number, command: string, text = '', channel = 'D001'): Envelope {
  return {
    type: 'slash_commands',
    payload: {
      ...{ token: 'an-old-secret', team_id: 'T1', command, text, channel_id: channel },
      ...{ user_id: 'U00ADA', user_name: 'ada', trigger_id: `trigger-${number}` },
      response_url: 'https://hooks.slack.com/commands/none',
    },
  };
}

/** Somebody presses a button, or chooses, under a message. */
export function pressed(
  number: number,
  action: Readonly<Record<string, unknown>>,
  more: Readonly<Record<string, unknown>> = {},
): Envelope {
  return {
    type: 'interactive',
    payload: {
      type: 'block_actions',
      user: { id: 'U00ADA', username: 'ada', team_id: 'T1' },
      channel: { id: 'D001', name: 'directmessage' },
      message: { type: 'message', ts: tsOf(900), text: 'choose' },
      actions: [{ type: 'button', block_id: 'b', action_ts: tsOf(number), ...action }],
      trigger_id: `trigger-${number}`,
      ...more,
    },
  };
}
