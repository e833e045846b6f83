/** A test: its file, and its title as it stands there. */
export interface TestRef {
  readonly file: string;
  readonly title: string;
}

/** What the native extension does otherwise, on purpose. */
export interface Improvement {
  /** What the plugin did. */
  readonly legacy: string;
  /** What is done now, and why where that is not plain. */
  readonly native: string;
  readonly test: TestRef;
}

const unit = (file: string, title: string): TestRef => ({
  file: `extensions/thread-ownership/test/${file}.test.ts`,
  title,
});
const main = (title: string): TestRef => unit('thread-ownership', title);
const mentions = (title: string): TestRef => unit('mentions', title);
const faults = (title: string): TestRef => unit('service-faults', title);

/** Those that generated sequences come across: nothing else may differ in one. */
export const generatedRows = {
  'status-is-verdict': {
    legacy: 'A 409 whose body is absent, malformed, `null` or endless lets the message go out.',
    native:
      'A 409 cancels, whatever its body is. The body is read for the name alone, up to 64 KiB.',
    test: faults('a 409 is the verdict, whatever its body is (fault 45)'),
  },
  marked: {
    legacy: 'A check that failed is a warning.',
    native: "It is that, and a failure in the outcome and in the kernel's counters.",
    test: faults('a service of no help lets the message go, and it is marked (fault 45)'),
  },
  reason: {
    legacy: 'A cancel says that there was one; the bridge gives it the code `policy`.',
    native: 'The code is `owned-elsewhere`; text and details name the thread and its owner.',
    test: main('is cancelled where another agent owns the thread, and the reason names the owner'),
  },
  'whole-mention': {
    legacy: '`@TestBotany` and `ada@TestBot.example` mention TestBot.',
    native: 'They do not: a mention is a whole one.',
    test: mentions('is not made by %s'),
  },
  'labelled-mention': {
    legacy: '`<@U999|name>` is no mention of U999.',
    native: 'It is: Slack writes mentions in both forms.',
    test: mentions('lets the agent answer there unasked: %s'),
  },
  'was-mentioned': {
    legacy: 'Only the text is looked at.',
    native:
      "The channel's own word, `wasMentioned`, counts as well: other channels mention without a text.",
    test: mentions('counts where its channel says so'),
  },
  'joined-ids': {
    legacy:
      'Conversation and thread are joined by a colon, so that two threads may share their mentions.',
    native: 'They do not.',
    test: mentions('is not mixed up with one whose ids join to the same text'),
  },
  'encoded-ids': {
    legacy: 'Ids go into the URL as they are.',
    native: 'They are encoded.',
    test: main('of a channel beside Slack carries the channel, and its ids are encoded'),
  },
  'dot-ids': {
    legacy: 'The id `..` asks about another path.',
    native: 'Nothing is asked, and the failure is marked: no URL can hold it.',
    test: main('with the id %j cannot be asked about, and is marked'),
  },
  'speaking-agent': {
    legacy: 'The main agent asks, and is mentioned, whichever agent of the host speaks.',
    native: 'The agent that speaks does, where the list has it.',
    test: mentions('counts for the agent that it names alone'),
  },
  'no-agents': {
    legacy: 'Where no agent is configured, `unknown` asks.',
    native: "The event's own agent asks, and `unknown` where there is none; it is warned about.",
    test: main('without a name of its own is warned about'),
  },
} as const satisfies Readonly<Record<string, Improvement>>;

/** The name of such a row. */
export type GeneratedRow = keyof typeof generatedRows;

/** Those that a sequence of messages does not show. */
export const furtherRows: readonly Improvement[] = [
  {
    legacy: 'Mentions are kept per process: all registrations share them.',
    native: 'They are kept per kernel.',
    test: mentions('in one kernel is unknown in another'),
  },
  {
    legacy: 'There may be any number of them.',
    native: 'There are 2,000 at most; the oldest are forgotten.',
    test: mentions(
      'is forgotten, the oldest first, where there are more than can be kept (fault 45)',
    ),
  },
  {
    legacy: 'A mention ages by the wall clock.',
    native: 'It ages by a clock that is never set back.',
    test: mentions('counts for exactly its time, and not a millisecond more (fault 45)'),
  },
  {
    legacy: 'Threads of Slack alone.',
    native: 'Of the channels that the configuration lists. The path carries every other channel.',
    test: main('of a channel beside Slack carries the channel, and its ids are encoded'),
  },
  {
    legacy: 'It fails open.',
    native: 'It fails open, or closed where the configuration says so.',
    test: main('failClosed keeps a message back where the service is of no help'),
  },
  {
    legacy: 'There is no token.',
    native:
      'A bearer token, by the config (from a file, say) or the environment; in no log and no error.',
    test: main('is told the token of %s, and nobody else is'),
  },
  {
    legacy: 'A redirect is followed, with the body.',
    native: 'It is an answer that says nothing: only the configured address is asked.',
    test: main('is not followed to another address'),
  },
  {
    legacy: 'The bridged veto cannot judge again (§17.2).',
    native: 'Where a resolver sends the message elsewhere, that thread is asked about (§8.3).',
    test: main('is asked about anew where a resolver sends it elsewhere'),
  },
  {
    legacy: 'A wrong setting shows when the first message goes out, if ever.',
    native: 'It disables the extension when it is loaded, in one line.',
    test: main('%j is refused'),
  },
  {
    legacy: 'The service is not part of the product.',
    native: '`sluice-ownership` is.',
    test: unit('races', 'never both send, and one of them always does: 1,000 races'),
  },
];
