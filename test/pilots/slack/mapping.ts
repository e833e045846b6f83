import type { TestRef } from '../../parity/ownership/improvements.js';

/** A part of Slack, its counterpart here, and the test that shows it. */
export type SlackPart = readonly [slack: string, here: string, test: TestRef];

const pilot =
  (file: string) =>
  (title: string): TestRef => ({ file: `test/pilots/slack/slack-${file}.test.ts`, title });
const conversation = pilot('conversation');
const faults = pilot('faults');
const events = pilot('events');
const stream = pilot('stream');
const threads = pilot('threads');
const text = (title: string): TestRef => ({ file: 'extensions/slack/test/text.test.ts', title });

const order = conversation(
  'goes through every stage in order, and is answered once, where it was written',
);
const elements = conversation(
  'are blocks under the last of its parts, and come in as interaction.* (§14.16, §19.5)',
);
const command = conversation('is interaction.* and command.*, and is answered (§19)');
const doubles = faults(
  'that come twice, by their number of retries or as a mention, are answered once',
);
const thread = conversation(
  'in a channel is answered in the thread that it begins, and one of a thread in its thread',
);
const edit = conversation(
  'that was edited is answered anew, and a deletion, a join and a bot emit ingress.received alone',
);
const files = conversation(
  'brings its files by their ids, and answers with files of a folder that the settings name',
);

export const slackParts: readonly SlackPart[] = [
  [
    'an envelope of a socket, a request of the Events API',
    '`ingress.received`: both have the same `raw`, a type and a body',
    events('are taken in, answered with 200 when they are done with, and handled once'),
  ],
  ['`message`, `app_mention`', '`ingress.normalized`', order],
  [
    '`channel`',
    '`conversationId` and `conversationRef`, as it is; `from` is `slack:channel:<id>`, in private `slack:<member>`',
    order,
  ],
  ['`ts`', '`messageId` and `messageRef`; `sentAtMs`', order],
  [
    '`thread_ts`',
    '`threadId` and `threadRef`; of a message in a channel that stands in no thread its own `ts`',
    thread,
  ],
  ['`user`', '`sender.id`, proven by the account', order],
  [
    '`text`: entities, links, names of channels',
    '`content`: letters, links as Markdown, names; mentions of members stay',
    text('%s'),
  ],
  [
    '`<@BOT>`; a thread that the bot began',
    '`wasMentioned`; both pass the mention gate',
    threads('answer both where the silent one is mentioned, as Slack writes it'),
  ],
  ['`files`', '`attachments`: id, name, type, size, address', files],
  [
    '`attachments`: shared messages, previews of links, what apps attach; titles of files',
    '`shared`, which each agent reads (§15.13)',
    { file: 'extensions/slack/test/around.test.ts', title: 'is told: %s, also without a comment' },
  ],
  ['`message_changed` by a person', '`ingress.normalized` with `isEdited`', edit],
  ['`message_deleted`, joins, reactions, messages of bots', '`ingress.received` alone', edit],
  [
    '`block_actions` of a button',
    '`interaction.*` of the kind `button`; the name is its `value`',
    elements,
  ],
  ['`block_actions` of a menu', '`interaction.*` of the kind `select`', elements],
  [
    '`block_actions` of the button of a form, with its `state`',
    '`interaction.*` of the kind `modal`, with `fields`',
    elements,
  ],
  [
    'a slash command',
    '`interaction.*` and `command.*`; of `slashCommand` the first word is the command',
    command,
  ],
  [
    '`assistant_thread_started`',
    '`assistant.threads.setSuggestedPrompts`',
    conversation('shows prompts when it begins, and a status while an answer is made'),
  ],
  [
    '`event_id`, `retry_num`, the two events of a mention',
    'one id of the update: `message:<channel>:<ts>`',
    doubles,
  ],
  [
    'three seconds to acknowledge',
    'acknowledged when the journal keeps it',
    faults('are acknowledged when the journal keeps them, and answered once over a restart'),
  ],
  [
    '`X-Slack-Signature` and its time',
    'refused with 401 where it is wrong or five minutes away',
    events('with %s are refused, and nothing comes in'),
  ],
  [
    '`chat.postMessage`',
    '`egress.preparing` to `egress.sent`; each part is a message, the receipt names all',
    faults('of 9,000 units is three messages, in order, in one receipt'),
  ],
  [
    '`chat.update`',
    'a streamed reply, every 1.2 seconds',
    stream('shows an answer while it grows, by edits that Slack allows, in one message'),
  ],
  [
    '`chat.update`, `chat.delete` after a crash',
    'the preview is edited to the answer, or removed',
    stream(
      'a host that dies at any point of a growing reply: the next one answers once, and leaves no preview',
    ),
  ],
  [
    '`rich_text`',
    'Markdown; each letter is shown',
    text('keeps every letter, and is a block that Slack takes, also when it is cut (P)'),
  ],
  [
    '`files.getUploadURLExternal`, `files.completeUploadExternal`',
    '`attachments` with a path in `mediaRoots`',
    files,
  ],
  [
    '429, `ratelimited`',
    '`retry-after`; the host waits',
    faults('that Slack has no time for is sent once, when its time has come'),
  ],
  [
    '`is_archived`, `not_in_channel`, `token_revoked`, ...',
    '`rejected`, with the next step',
    faults('that is refused with %s fails for good, and says what to do'),
  ],
  [
    'no answer, 5xx, `fatal_error`',
    '`ambiguous`; not sent again',
    faults('that meets %s is ambiguous, and not sent again'),
  ],
  [
    '`client_msg_id`',
    'the idempotency key of the part; with `resend` the send is made again',
    faults('with an unknown end that %s is made again under its client_msg_id, and shown once'),
  ],
  [
    '`disconnect`, a broken socket',
    'another connection; what was not acknowledged comes again',
    faults('that were not acknowledged when the connection broke come by the next one'),
  ],
  [
    '5xx, 429, `internal_error`, `too_many_websockets` and no answer at the start',
    'the host starts the account again, after waits that grow (§14.18)',
    faults('is made after waits that grow if the start meets %s, and the reason is named (§14.18)'),
  ],
  [
    '`tokens_revoked`, `app_uninstalled`',
    '`account.stopped`',
    faults('ends the account when the app is taken out of the workspace'),
  ],
  [
    'a thread with two apps in it',
    '`sluice-thread-ownership` asks with Slack’s own ids: one of them answers',
    threads('answer once: the first has the thread, and the other is silent there'),
  ],
];

export const slackDecisions: readonly (readonly [what: string, why: string])[] = [
  [
    'A message in a channel begins its own thread, before anything is answered.',
    'So its session, its lane and its owner are those of all that follows in the thread.',
  ],
  [
    'Text goes out as `rich_text`, and as mrkdwn for notifications alone.',
    'Mrkdwn has no way to write a star that is no markup. In `rich_text` no sign is markup.',
  ],
  [
    'The id of an update comes of the message, not of the event.',
    'A mention comes as two events with two ids, and would be answered twice.',
  ],
  [
    '`resend` is off.',
    'Slack’s pages name errors of `client_msg_id`, not the field. Whoever has tried it in a workspace turns it on.',
  ],
  [
    'The library’s own way of connecting again is off.',
    'It rejects a promise that nobody holds when Slack cannot be reached, which ends the process.',
  ],
  [
    'Streams are edits, not `chat.startStream`.',
    'Those methods need a thread and the member who reads it; an edit works everywhere, and can be taken back after a crash.',
  ],
  [
    'A form is input blocks in the message, with a button of its own.',
    'A modal needs a press within three seconds before it; blocks need nothing.',
  ],
  [
    'Names of members are not fetched.',
    'It would be a call for each message. An extension can, on `ingress.normalized`.',
  ],
  [
    'Access is judged while decoding, from the settings alone.',
    'So `ingress.normalized` is only ever of who may write, and a replay judges the same.',
  ],
];
