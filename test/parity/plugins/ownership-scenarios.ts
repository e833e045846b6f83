type Fields = Readonly<Record<string, unknown>>;

/** What the plugin does next: it hears of a message, or is asked about one; or time passes. */
export type Step =
  | { readonly hears: Fields; readonly ctx?: Fields }
  | { readonly sends: Fields; readonly ctx?: Fields }
  | { readonly passMs: number };

/** What the forwarder answers: a status and a body, or no answer. */
export type Reply = readonly [status: number, body?: string] | 'unreachable' | 'silent';

/** One behaviour of the plugin, as facts of it. */
export interface OwnershipScenario {
  readonly name: string;
  readonly config?: Fields;
  readonly pluginConfig?: Fields;
  readonly env?: Readonly<Record<string, string>>;
  readonly reply?: Reply;
  readonly steps: readonly Step[];
  /** What each `sends` came to. */
  readonly results: readonly unknown[];
  /** The requests: `POST <url>` and the body. */
  readonly asked?: readonly string[];
  /** What it wrote: level, and words of the line. */
  readonly wrote?: readonly (readonly [level: string, words: string])[];
}

const agents = {
  agents: { list: [{ id: 'test-agent', default: true, identity: { name: 'TestBot' } }] },
};
const forwarder = { forwarderUrl: 'http://forwarder' };
const thread = { threadTs: '1234.5678', channelId: 'C123' };
const send = (metadata: Fields = thread): Step => ({
  sends: { to: 'C123', content: 'hi', metadata },
});
const hear = (content: string, metadata: Fields = thread): Step => ({
  hears: { from: 'U1', content, metadata },
});
const ask = (path = 'C123/1234.5678', agent = 'test-agent', base = 'http://forwarder') =>
  `POST ${base}/api/v1/ownership/${path} {"agent_id":"${agent}"}`;
const owned: Reply = [409, '{"owner":"other"}'];
const base = { config: agents, pluginConfig: forwarder };
const later = { threadTs: '9.9', channelId: 'C123' };

/** The 300,000 ms that a mention counts. */
const ttlMs = 300_000;

export const ownershipScenarios: readonly OwnershipScenario[] = [
  {
    ...base,
    name: 'lets other channels pass unasked',
    reply: owned,
    steps: [
      { sends: { to: 'C1', content: 'hi', metadata: thread }, ctx: { channelId: 'discord' } },
    ],
    results: [undefined],
  },
  {
    ...base,
    name: 'lets top-level messages pass unasked',
    reply: owned,
    steps: [send({}), { sends: { to: 'C1', content: 'hi' } }],
    results: [undefined, undefined],
  },
  {
    ...base,
    name: 'sends where it owns the thread',
    steps: [send()],
    results: [undefined],
    asked: [ask()],
  },
  {
    ...base,
    name: 'cancels where another agent owns the thread',
    reply: owned,
    steps: [send()],
    results: [{ cancel: true }],
    asked: [ask()],
    wrote: [['info', 'cancelled send to C123:1234.5678']],
  },
  {
    ...base,
    name: 'allows a 409 whose body is no JSON',
    reply: [409, 'not json'],
    steps: [send()],
    results: [undefined],
    asked: [ask()],
    wrote: [['warn', 'ownership check failed']],
  },
  {
    ...base,
    name: 'allows any other status',
    reply: [500],
    steps: [send()],
    results: [undefined],
    asked: [ask()],
    wrote: [['warn', 'unexpected status 500']],
  },
  {
    ...base,
    name: 'allows where the forwarder cannot be reached',
    reply: 'unreachable',
    steps: [send()],
    results: [undefined],
    asked: [ask()],
    wrote: [['warn', 'ownership check failed']],
  },
  {
    ...base,
    name: 'allows where the forwarder does not answer in 3 seconds',
    reply: 'silent',
    steps: [send()],
    results: [undefined],
    asked: [ask()],
    wrote: [['warn', 'ownership check failed']],
  },
  {
    ...base,
    name: 'does not ask after it was mentioned by name, also within a longer word',
    reply: owned,
    steps: [hear('hey @TestBot'), send(), hear('@TestBotany', later), send(later)],
    results: [undefined, undefined],
  },
  {
    ...base,
    name: 'reads a mention with its case',
    reply: owned,
    steps: [hear('hey @testbot'), send()],
    results: [{ cancel: true }],
    asked: [ask()],
    wrote: [['info', 'cancelled send']],
  },
  {
    ...base,
    name: 'does not ask after its bot id was mentioned',
    env: { SLACK_BOT_USER_ID: 'U999' },
    reply: owned,
    steps: [hear('hey <@U999>'), send()],
    results: [undefined],
  },
  {
    ...base,
    name: 'remembers a mention for one thread only',
    reply: owned,
    steps: [hear('@TestBot'), send(later)],
    results: [{ cancel: true }],
    asked: [ask('C123/9.9')],
    wrote: [['info', 'cancelled send to C123:9.9']],
  },
  {
    ...base,
    name: 'remembers a mention for 300,000 ms, and not a millisecond more',
    reply: owned,
    steps: [hear('@TestBot'), { passMs: ttlMs }, send(), { passMs: 1 }, send()],
    results: [undefined, { cancel: true }],
    asked: [ask()],
    wrote: [['info', 'cancelled send']],
  },
  {
    ...base,
    name: 'does not remember a mention on another channel',
    steps: [
      {
        hears: { from: 'U1', content: '@TestBot', metadata: thread },
        ctx: { channelId: 'discord' },
      },
      send(),
    ],
    results: [undefined],
    asked: [ask()],
  },
  {
    ...base,
    name: 'takes the conversation for the channel of a mention, and the address for that of a send',
    reply: owned,
    steps: [
      {
        hears: { from: 'U1', content: '@TestBot', metadata: { threadTs: '1' } },
        ctx: { channelId: 'slack', conversationId: 'C7' },
      },
      { sends: { to: 'C7', content: 'hi', metadata: { threadTs: '1' } } },
      { sends: { to: 'C8', content: 'hi', metadata: { threadTs: '1' } } },
    ],
    results: [undefined, { cancel: true }],
    asked: [ask('C8/1')],
    wrote: [['info', 'cancelled send to C8:1']],
  },
  {
    ...base,
    name: 'asks about the channels of its list only',
    pluginConfig: { ...forwarder, abTestChannels: ['C123'] },
    reply: owned,
    steps: [send(), send({ ...thread, channelId: 'C9' })],
    results: [{ cancel: true }, undefined],
    asked: [ask()],
    wrote: [['info', 'cancelled send']],
  },
  {
    ...base,
    name: 'reads its list and its forwarder from the environment where the configuration has none',
    pluginConfig: {},
    env: { THREAD_OWNERSHIP_CHANNELS: 'C123,,C5', SLACK_FORWARDER_URL: 'http://from-env/' },
    reply: owned,
    steps: [send(), send({ ...thread, channelId: 'C9' })],
    results: [{ cancel: true }, undefined],
    asked: [ask('C123/1234.5678', 'test-agent', 'http://from-env')],
    wrote: [['info', 'cancelled send']],
  },
  {
    ...base,
    name: 'asks http://slack-forwarder:8750 where nothing names a forwarder',
    pluginConfig: {},
    steps: [send()],
    results: [undefined],
    asked: [ask('C123/1234.5678', 'test-agent', 'http://slack-forwarder:8750')],
  },
  {
    name: 'removes one trailing slash of its forwarder, and encodes nothing',
    config: agents,
    pluginConfig: { forwarderUrl: 'http://forwarder/x//' },
    steps: [send({ threadTs: 'a b', channelId: 'C/1' })],
    results: [undefined],
    asked: [ask('C/1/a b', 'test-agent', 'http://forwarder/x/')],
  },
  ...[
    [
      'the first agent where none is the default',
      [{ id: ' one ', name: 'One' }, { id: 'two' }],
      'one',
    ],
    ['the default agent', [{ id: 'one' }, null, { id: 'two', default: true }], 'two'],
    ['unknown where there is no agent', [], 'unknown'],
    ['unknown where its id is blank', [{ id: '  ' }], 'unknown'],
  ].map(
    ([who, list, agent]): OwnershipScenario => ({
      name: `asks as ${String(who)}`,
      config: { agents: { list } },
      pluginConfig: forwarder,
      steps: [send()],
      results: [undefined],
      asked: [ask('C123/1234.5678', String(agent))],
    }),
  ),
  {
    name: 'goes by the name of the agent where it has no other',
    config: { agents: { list: [{ id: 'a', name: ' Other ', identity: { name: '  ' } }] } },
    pluginConfig: forwarder,
    reply: owned,
    steps: [hear('@Other'), send()],
    results: [undefined],
  },
];
