import type { TestRef } from '../ownership/improvements.js';

/** What one thing of the legacy channel became. */
export interface MappedPart {
  readonly legacy: string;
  readonly canonical: string;
  readonly test: TestRef;
}

const unit =
  (file: string) =>
  (title: string): TestRef => ({ file: `extensions/telegram/test/${file}.test.ts`, title });
const decode = unit('decode');
const stream = unit('stream-sender');
const text = unit('text');
const around = unit('around');
const places = (title: string): TestRef => ({
  file: 'test/pilots/telegram-places.test.ts',
  title,
});
const account = unit('account');
const pilot =
  (file: string) =>
  (title: string): TestRef => ({ file: `test/pilots/telegram-${file}.test.ts`, title });
const conversation = pilot('conversation');
const faults = pilot('faults');
const parity: TestRef = {
  file: 'test/parity/telegram/telegram.parity.ts',
  title:
    'tells plugins the same of what goes out, and does the same with their answers, but for named rows',
};

const everything = decode(
  'has everything that the legacy system tells of it, and where it was written',
);
const once = pilot('egress')(
  'for every message that egress.preparing has judged there is one end, and what was sent is shown once (fault 26, fault 44)',
);

/** Every field and step of the legacy path of 2026.3, with what stands in its place. */
export const mappedParts: readonly MappedPart[] = [
  {
    legacy: 'an update, before anything is decided about it',
    canonical: '`ingress.received`, with the update as `raw`',
    test: conversation(
      'takes a message through every stage in order, and answers it once, under it',
    ),
  },
  {
    legacy: '`message_received`, `message:received`',
    canonical: '`ingress.normalized`',
    test: everything,
  },
  {
    legacy: '`from`: `telegram:<chat>`, `telegram:group:<chat>`, `…:topic:<thread>`',
    canonical: '`from`, in the same words',
    test: decode('of %s says so'),
  },
  {
    legacy: '`content`: the text or caption, links as Markdown, without an envelope',
    canonical: '`content`, likewise',
    test: decode('says where its links go, as Markdown: that is not in the text itself'),
  },
  { legacy: '`timestamp`, in milliseconds', canonical: '`sentAtMs`', test: everything },
  {
    legacy: '`metadata.to`, `originatingTo`, `originatingChannel`, `provider`, `surface`',
    canonical: 'the fields of these names',
    test: everything,
  },
  {
    legacy:
      '`metadata.threadId`: the topic of a private chat or a forum, 1 for General, none in an ordinary group',
    canonical: '`threadId`, and the ref `threadRef`',
    test: decode('in the thread of replies of %s is in no thread of its own'),
  },
  {
    legacy: '`metadata.messageId`, `senderId`, `senderName`, `senderUsername`',
    canonical: '`messageId` and `messageRef`; `sender`',
    test: everything,
  },
  {
    legacy: '`ctx.channelId`, `accountId`, `conversationId`',
    canonical: '`channel`, `accountId`, `conversationId`, and the refs',
    test: everything,
  },
  {
    legacy: '`isGroup` and `groupId` of `message:preprocessed`',
    canonical: '`isGroup`, `groupId`',
    test: decode('of %s says so'),
  },
  {
    legacy: '`ReplyToId`, `ReplyToBody`, `ReplyToSender` of the message context',
    canonical: '`replyTo`, also of another chat or a story; each agent reads it (§15.13)',
    test: decode('that answers another says which, and what of it was quoted'),
  },
  {
    legacy: '`ForwardedFrom` and its like; venues and locations as text',
    canonical: '`forwardedFrom`; `shared`: contacts, places, polls, stories',
    test: around('a message that is forwarded from %s says so'),
  },
  {
    legacy: 'bold, code and quotes, of which the legacy system keeps the letters alone',
    canonical: '`promptText`, as Markdown; `content` has the letters',
    test: around('is Markdown for the agent, and no part of the content: %s'),
  },
  {
    legacy: '`MediaPath`, `MediaType`, `MediaUrl`',
    canonical: '`attachments`, by the id of the file',
    test: decode('with %s has it by its id, and what is written under it'),
  },
  {
    legacy:
      'dm policy, group policy, allow-lists, the mention gate; who is not admitted fires no hook',
    canonical:
      'the same settings, judged while decoding; `ingress.received` alone tells of the rest',
    test: conversation(
      'emits nothing but ingress.received of who may not write, and of a group that does not name the bot',
    ),
  },
  {
    legacy: 'a press of a button, re-injected as a message',
    canonical: '`interaction.received`, `interaction.resolved`, `interaction.completed`',
    test: conversation(
      'takes a press as interaction.* alone, and a slash command as interaction.* and command.* (§19)',
    ),
  },
  {
    legacy:
      'a native command: `message_received` with `To` `slash:<sender>`; `command:new` and the like',
    canonical:
      '`interaction.*` and, under the same correlation, `command.*` with the source `native`',
    test: conversation(
      'takes a press as interaction.* alone, and a slash command as interaction.* and command.* (§19)',
    ),
  },
  {
    legacy: '`update_id`, remembered so that an update is not taken twice',
    canonical: 'the same, and it is confirmed only when the host has done with it',
    test: faults('that come twice, and in the wrong order, are each taken once and in their order'),
  },
  {
    legacy: '`message_sending`: `to`, `content`, `metadata.threadId`, `metadata.mediaUrls`',
    canonical: '`egress.preparing`: `to`, `content`, `threadId`, `attachments`',
    test: parity,
  },
  {
    legacy: '`{ cancel: true }`: the payload is skipped, and nothing tells of it',
    canonical: '`cancel()`, then `egress.cancelled`',
    test: parity,
  },
  { legacy: '`{ content }`', canonical: 'a patch of `content`', test: parity },
  {
    legacy: '`message_sent`, `message:sent`: `success`, `error`',
    canonical: '`egress.sent` or `egress.failed`',
    test: parity,
  },
  {
    legacy: '`messageId` of `message:sent`',
    canonical: '`receipt.messageId`; of a message in parts also `receipt.messageIds`',
    test: faults('of %i units is %i messages, in order, and only the first answers'),
  },
  {
    legacy: 'replies to the message, in its topic; General without its id',
    canonical: '`replyToId`, `threadId`',
    test: conversation('answers in the topic that was written in, and in General without its id'),
  },
  {
    legacy: 'Markdown sent as HTML, plain where Telegram refuses that',
    canonical: 'the same; cut with its markup, so that each part is well-formed',
    test: text('keeps its markup in each piece, and loses nothing but white space at the cuts (P)'),
  },
  {
    legacy: '`textChunkLimit` 4000',
    canonical: '4,096 units of what people see, between characters',
    test: text('is never cut within an emoji, however many code points it has'),
  },
  {
    legacy: '`gateway.startAccount`, `logoutAccount`',
    canonical: '`account.started`, `account.stopped`',
    test: conversation('keeps the accounts of two bots apart'),
  },
  {
    legacy: '`botToken`, `tokenFile`, `TELEGRAM_BOT_TOKEN`',
    canonical: '`accounts.<name>.token` (a named secret), `tokenFile`, `tokenEnv`',
    test: account(
      'comes from the settings, a file or the environment, and its absence says where it was looked for',
    ),
  },
];

/** What differs beyond the calls that are compared. */
export const furtherRows: readonly MappedPart[] = [
  {
    legacy:
      'A final that is placed by editing its preview runs neither `message_sending` nor `message_sent`.',
    canonical:
      'It is judged at its opening and as a whole, and has one end like any send (§14.6, §14.8).',
    test: once,
  },
  {
    legacy: 'A send whose end nobody knows is retried by what sends.',
    canonical: 'It is not made again: `egress.failed`, `ambiguous`.',
    test: faults('that meets %s is ambiguous, and not sent again'),
  },
  {
    legacy: 'A message that breaks off in its middle fails as a whole.',
    canonical: 'It says how much of it is out, and is not sent anew.',
    test: faults('that breaks off in its middle is told as such (%s), and not sent anew'),
  },
  {
    legacy: 'An abort while the first part is on its way leaves it behind.',
    canonical: 'It is waited for, and taken back.',
    test: stream('an abort while the first message is on its way leaves none behind'),
  },
  {
    legacy: 'Two parts at once send two first messages.',
    canonical: 'One call is under way at a time.',
    test: stream('two parts at once send one first message'),
  },
  {
    legacy: 'The tail of a long preview may begin within a character or an entity.',
    canonical: 'It begins with a whole character, and its markup is whole.',
    test: stream('the tail of a long text begins with a whole character, and its markup is whole'),
  },
  {
    legacy: 'A second final sends again.',
    canonical: 'It sends nothing.',
    test: stream('a second final sends nothing'),
  },
  {
    legacy: 'Later parts of an HTML final are sent plain, and escaped all the same.',
    canonical: 'Each part is escaped once, or not at all.',
    test: stream('every part of a long final is escaped once'),
  },
  {
    legacy:
      'An edit that changes nothing counts as failed: the preview is deleted, and all sent anew.',
    canonical: 'It is there already.',
    test: stream('a final that changes nothing is no failure'),
  },
  {
    legacy: 'Edited messages are not read.',
    canonical: 'They are messages with `isEdited`; `edits: "ignore"` leaves them.',
    test: decode('that was edited says so, and is left where the settings say'),
  },
  {
    legacy: 'A thread of replies in a forum is taken for a topic.',
    canonical: 'Only a message of a topic is in one (`is_topic_message`).',
    test: places('that was made up of a thread of replies is written to by nobody'),
  },
  {
    legacy: 'An answer to a topic that is gone or closed fails.',
    canonical: 'It is in the chat, once.',
    test: places('that is %s: the whole answer is in the chat, once, and the topic is tried once'),
  },
  {
    legacy: 'A group that becomes another is rewritten in the config.',
    canonical: 'It is followed, kept in the store of the extension, and told with both ids.',
    test: places('is known after a restart, so that a message that waits is answered'),
  },
  {
    legacy: 'A webhook that is set is removed when polling begins.',
    canonical: 'The account does not start, unless `replaceWebhook` says so: it may be somebody’s.',
    test: faults(
      'of a bot that has a webhook are not polled: the account says so, and touches nothing',
    ),
  },
  {
    legacy: 'Errors of the client may hold the URL, and the token in it.',
    canonical: 'The token is in no log, event or error.',
    test: faults('the token is in no log, event, outcome or error, whatever goes wrong (fault 49)'),
  },
];

/** What was open, and what was chosen. */
export const decisions: readonly (readonly [string, string])[] = [
  [
    'A slash command belongs to the session of its conversation.',
    'The legacy channel gives each sender a session of commands, and names the one that is meant beside it. One conversation has one session here, so nothing has to be named.',
  ],
  [
    'A command without the name of the bot is for it, also in a group.',
    'Telegram gives such a command to every bot that is there; `/x@other` is left.',
  ],
  [
    '`/start` is answered as `/help`.',
    'Every chat with a bot begins with it, and it is no question for an agent. `interaction.received` keeps its name.',
  ],
  [
    'An edit with the text, the links and the files of before is left. Digests of the last 1,000 messages are kept in memory: after a restart such an edit is answered.',
    'Telegram tells of the preview of a link in the same way. What is forgotten is answered once more, and not lost.',
  ],
  [
    'Access is judged while decoding, from the settings and the moves of groups alone.',
    'So `ingress.normalized` is only ever of who may write, and a replay judges the same.',
  ],
  [
    'While an update is unfinished the offset stays, and Telegram is asked every half second instead of once.',
    'Telegram gives everything from the offset on, at once. Going past it would lose the message in a crash.',
  ],
  [
    'Without a journal, if Telegram gives 100 updates, those that were taken a second ago and those before the newest ten of a chat are confirmed before they are done with. A webhook answers after two seconds, and the oldest of more than four of a chat.',
    'Telegram gives the oldest 100 updates and no others, and has 40 connections to a webhook. While these hang, nobody else would be answered. The log says how many updates a crash would lose.',
  ],
  [
    'No call is made again by the client. An account that Telegram keeps from starting is started again by the host (§14.18).',
    'A client’s own retries would wait beside the host’s policy, and resend what nobody knows the end of.',
  ],
  [
    'A 5xx is ambiguous, and so is an answer that cannot be read.',
    'What stands between may answer after the message was delivered. A connection that was never made is not: that is tried again.',
  ],
  [
    'An answer that says "ok" and names no message is ambiguous. A poll that is answered with no list of updates is asked again after a growing wait.',
    'A proxy can answer in place of Telegram. One such answer neither doubles a message nor ends the account.',
  ],
  [
    'A group that has moved is followed once. A `retry_after` counts from one second to one hour; anything else says nothing.',
    'A chat that moves on and on is never reached, and a wait of zero is a hot loop.',
  ],
  [
    'Reasoning stands above a streamed answer only where it has lasted two seconds.',
    'As upstream. It is shown under the opening’s permit, which exists only where all who judge texts let parts be seen (§14.7).',
  ],
  [
    'A preview that cannot be edited any more is deleted before the answer is sent anew.',
    'Half an answer beside a whole one is worse than a short gap.',
  ],
  [
    'A preview is noted by its message id in the journal. After a crash it is deleted, or edited to the final.',
    'Both may be done twice. Only a first message whose id never came back, and a final of several messages that was half sent, stay ambiguous.',
  ],
  [
    'Files go out by id or web address, and from disk only from `mediaRoots`.',
    'An agent can be talked into naming any file.',
  ],
];

/** What has no successor. */
export const retiredParts: readonly (readonly [string, string])[] = [
  [
    'button presses as synthetic messages, with the id of the press as `MessageSid`',
    'A press is no message. Who acts on presses observes `interaction.received`; what it replies goes out as a message.',
  ],
  [
    '`slash:<sender>` as an address, `CommandTargetSessionKey`',
    'A command says where it was given; its session is that of the conversation.',
  ],
  [
    'the bare chat id as an address on the way out',
    '`telegram:<chat>` both ways. `42`, `tg:42` and `telegram:group:-5:topic:7` are still read.',
  ],
  ['`<media:image>` and its like in the text', 'Attachments are a field of their own.'],
  [
    'debouncing, text fragments and albums as one message in the channel',
    'Each message that Telegram sends is one update. The host joins quick ones by `ingress.joinWithinMs`, those of an album among them.',
  ],
  [
    'pairing of unknown senders',
    'An operator names who may write. Codes by chat are an extension’s work.',
  ],
];
