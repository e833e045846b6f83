import { z } from 'zod';

const id = z.string().min(1);
const maybe = id.optional().catch(undefined);

const file = z.object({
  id: maybe,
  name: maybe,
  title: maybe,
  mimetype: maybe,
  url_private: maybe,
  size: z.number().int().nonnegative().optional().catch(undefined),
});

/** A message that was shared, the preview of a link, or what an app has attached. */
const attached = z.object({
  ...{ text: maybe, fallback: maybe, pretext: maybe, title: maybe, title_link: maybe },
  ...{ from_url: maybe, original_url: maybe, author_name: maybe, service_name: maybe },
  is_share: z.boolean().optional().catch(undefined),
  is_msg_unfurl: z.boolean().optional().catch(undefined),
  fields: z.array(z.object({ title: maybe, value: maybe })).catch([]),
  files: z.array(file).catch([]),
});
export type Attached = z.infer<typeof attached>;

const spoken = z.object({
  ts: id,
  user: maybe,
  bot_id: maybe,
  text: z.string().catch(''),
  subtype: maybe,
  thread_ts: maybe,
  parent_user_id: maybe,
  edited: z.object({ ts: id }).optional().catch(undefined),
  files: z.array(file).catch([]),
  attachments: z.array(attached).catch([]),
});

/** A message, as an event tells of it. */
export const messageEvent = spoken.extend({ channel: id, channel_type: maybe });
export type MessageEvent = z.infer<typeof messageEvent>;

/** An edit of a message. */
export const changeEvent = z.object({
  channel: id,
  channel_type: maybe,
  message: spoken,
  previous_message: z
    .object({ text: z.string().catch('') })
    .optional()
    .catch(undefined),
});

/** A slash command. */
export const slashCommand = z.object({
  command: z.string().startsWith('/').min(2),
  text: z.string().catch(''),
  user_id: id,
  user_name: maybe,
  channel_id: id,
  channel_name: maybe,
  team_id: maybe,
  thread_ts: maybe,
  trigger_id: maybe,
});

/** A press of a button, or a choice, under a message. */
export const blockActions = z.object({
  user: z.object({ id, username: maybe, name: maybe }),
  channel: z.object({ id }),
  message: z.object({ ts: id, thread_ts: maybe }).optional().catch(undefined),
  actions: z
    .array(
      z.object({
        action_id: id,
        value: z.string().optional().catch(undefined),
        selected_option: z.object({ value: z.string() }).optional().catch(undefined),
        action_ts: maybe,
      }),
    )
    .min(1),
  state: z
    .object({ values: z.record(z.string(), z.record(z.string(), z.object({ value: maybe }))) })
    .optional()
    .catch(undefined),
  trigger_id: maybe,
});
export type BlockActions = z.infer<typeof blockActions>;

/** Something that Slack brought, by socket or over HTTP: both bring the same. */
export const slackUpdate = z.object({
  type: z.enum(['events_api', 'interactive', 'slash_commands']),
  body: z.looseObject({
    event_id: maybe,
    type: maybe,
    team_id: maybe,
    event: z.looseObject({ type: id, subtype: maybe }).optional().catch(undefined),
  }),
});
export type SlackUpdate = z.infer<typeof slackUpdate>;

/**
 * The id of an update: the same whenever Slack brings it, by whatever way. A message that names the bot comes as two
 * events; it has one id.
 */
export function updateIdOf({ type, body }: SlackUpdate): string | undefined {
  if (type !== 'events_api') {
    const { trigger_id: trigger } = body;
    return typeof trigger === 'string' ? `${type}:${trigger}` : undefined;
  }
  const { event, event_id: eventId } = body;
  const change = changeEvent.safeParse(event);
  if (change.success && change.data.message.edited !== undefined) {
    const { channel, message } = change.data;
    return `edit:${channel}:${message.ts}:${message.edited?.ts}`;
  }
  const isMessage = event?.type === 'message' || event?.type === 'app_mention';
  const message = messageEvent.safeParse(event);
  const isSpoken = isMessage && event?.subtype !== 'message_deleted' && message.success;
  if (isSpoken) return `message:${message.data.channel}:${message.data.ts}`;
  return eventId === undefined ? undefined : `event:${eventId}`;
}
