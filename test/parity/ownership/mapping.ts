import type { TestRef } from './improvements.js';

/** What one thing of the plugin became. */
export interface MappedPart {
  readonly legacy: string;
  readonly canonical: string;
  readonly test: TestRef;
}

const unit = (file: string, title: string): TestRef => ({
  file: `extensions/thread-ownership/test/${file}.test.ts`,
  title,
});
const main = (title: string): TestRef => unit('thread-ownership', title);
const mentions = (title: string): TestRef => unit('mentions', title);
const faults = (title: string): TestRef => unit('service-faults', title);

/** Every hook, field, setting and effect of the plugin of 2026.3, with what the extension has in its place. */
export const mappedParts: readonly MappedPart[] = [
  {
    legacy: '`message_received` handler',
    canonical: '`ingress.normalized`, observer `mentions`',
    test: mentions('lets the agent answer there unasked: %s'),
  },
  {
    legacy: '`message_sending` handler',
    canonical:
      '`egress.preparing`, veto `owner`, `preview: "ok"`: it judges the thread, not the text',
    test: main('goes out where the service gives the thread to its agent'),
  },
  {
    legacy: '`{ cancel: true }`',
    canonical: '`cancel("owned-elsewhere", { text, details })`',
    test: main('is cancelled where another agent owns the thread, and the reason names the owner'),
  },
  {
    legacy: '`undefined`',
    canonical: '`allow()`',
    test: main('goes out unasked %s'),
  },
  {
    legacy: '`ctx.channelId`, which is `slack`',
    canonical: '`payload.channel`, or the channel that was chosen; one of `config.channels`',
    test: mentions('is not heard on other channels, and not outside of a thread'),
  },
  {
    legacy: '`metadata.threadTs`, of both hooks',
    canonical: '`event.threadRef`, else `payload.threadId`; a chosen thread before both',
    test: main('is what the refs of the envelope name'),
  },
  {
    legacy: '`metadata.channelId`, else `ctx.conversationId` (received) or `event.to` (sending)',
    canonical:
      '`event.conversationRef`, else `payload.conversationId`, else `payload.to` (sending)',
    test: main('is the one that the payload names, where that is another'),
  },
  {
    legacy: '`event.content` of a received message',
    canonical: '`event.payload.content`: as it was written, before any patch',
    test: mentions('is made by what was written, whatever others make of it'),
  },
  {
    legacy: '`@<name>` and `<@BOTID>` in a text',
    canonical: 'the same, as whole mentions',
    test: mentions('is not made by %s'),
  },
  {
    legacy: 'a mention counts while it is not older than 300,000 ms',
    canonical: 'the same, to the millisecond; `config.mentionTtlMs`',
    test: mentions('counts for exactly its time, and not a millisecond more (fault 45)'),
  },
  {
    legacy:
      '`api.config.agents.list`: the entry with `default`, else the first; its id, trimmed; `identity.name`, else `name`',
    canonical: '`config.agents`, read by the same rules',
    test: main('is %s'),
  },
  {
    legacy: '`SLACK_BOT_USER_ID`',
    canonical: 'the same, for the main agent; `botUserId` of an entry before it',
    test: mentions('lets the agent answer there unasked: %s'),
  },
  {
    legacy:
      '`pluginConfig.forwarderUrl`, else `SLACK_FORWARDER_URL`, else `http://slack-forwarder:8750`; one slash at the end removed',
    canonical: 'the same; a blank variable counts as unset',
    test: main('is where the environment says, where the configuration does not'),
  },
  {
    legacy: '`pluginConfig.abTestChannels`, else `THREAD_OWNERSHIP_CHANNELS`; none means all',
    canonical: 'the same',
    test: main('comes from the environment where the configuration has none'),
  },
  {
    legacy: '`additionalProperties: false`',
    canonical: 'a strict schema; what it does not know disables the extension',
    test: main('%j is refused'),
  },
  {
    legacy: '`POST <url>/api/v1/ownership/<channel>/<thread>`, body `{"agent_id"}`',
    canonical: 'the same, ids encoded',
    test: main('goes out where the service gives the thread to its agent'),
  },
  {
    legacy: '`AbortSignal.timeout(3000)`',
    canonical: "`config.timeoutMs`, on the host's clock",
    test: faults('one that does not answer, after 3 seconds and not before'),
  },
  {
    legacy: '2xx allows',
    canonical: 'the same; asked about once per dispatch and thread',
    test: main('is asked about once, however often it is changed afterwards'),
  },
  {
    legacy: '409 cancels',
    canonical: 'the same, whatever its body is',
    test: faults('a 409 is the verdict, whatever its body is (fault 45)'),
  },
  {
    legacy: 'anything else allows, with a warning',
    canonical: 'a failure of the veto, by its policy: allowed, warned of, and marked',
    test: faults('a service of no help lets the message go, and it is marked (fault 45)'),
  },
  {
    legacy: '`logger.info` of a cancel, with the owner',
    canonical: '`own.log.info`, the same words',
    test: main('is cancelled where another agent owns the thread, and the reason names the owner'),
  },
];

/** What nothing has taken the place of, and why. */
export const retiredParts: readonly (readonly [what: string, why: string])[] = [
  [
    'the names `metadata.threadTs` and `metadata.channelId`',
    'The envelope has a ref for each. Nothing in 2026.3.13 set them, so that the plugin did nothing there; the bridge still gives them to plugins that are not moved yet.',
  ],
  [
    'the map of mentions in the module',
    'It outlived every registration. The state is of one load, and ends with it.',
  ],
  [
    '`register(api)` and `openclaw.plugin.json`',
    'An extension is defined with its schema, and loaded or disabled as a whole.',
  ],
];

/** What neither the plugin nor the seed says, what was chosen, and why. */
export const decisions: readonly (readonly [what: string, why: string])[] = [
  [
    'The refs of the envelope name the thread. A thread that the payload names beside them counts before them, and what a resolver chose before both.',
    'Refs go on from what was heard; payload and choice are where the message really goes. What a veto judged is what happens.',
  ],
  [
    'An answer to a mention claims nothing.',
    'As in the plugin: who is mentioned is a guest in the thread.',
  ],
  [
    'A streamed reply is judged at its opening and at its final; the veto declares `preview: "ok"`.',
    'It judges the thread, which parts do not change. A reply that loses its thread in between is taken back.',
  ],
  [
    'Within one dispatch a thread is asked about once. Judging again (§8.3) asks only about another thread.',
    'A patch of the text does not change the owner; a choice of another place may.',
  ],
  [
    'The veto has a deadline of its own, and the kernel a later one.',
    'At its own it still knows that the status was 409 and only the body was missing. Given up by the kernel it could not say so, and would fail open.',
  ],
  [
    'A URL cannot hold the ids `.` and `..`: such a send is a failure of the veto.',
    'They would ask about another path, encoded or not.',
  ],
  [
    'Settings keep the names of the plugin, the misleading `abTestChannels` (conversations) among them.',
    'Its configuration and its environment are read as they are.',
  ],
  [
    'A claim lasts a day after its owner last asked, to the millisecond, and is on the disk before it is answered.',
    'Upstream’s time is not known. A thread that is quiet for a day is anybody’s; one that is alive stays with its owner, over restarts.',
  ],
  [
    '`DELETE` without an `agent_id` gives a thread up whoever owns it.',
    'An operator has to be able to. A token says who may ask; there is no second one for operators.',
  ],
  [
    'The service answers no browser, and no other machine without a token.',
    'A page may send requests to loopback in the name of whoever looks at it.',
  ],
];
