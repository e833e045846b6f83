import fc from 'fast-check';

/** Where a message is: a thread of a conversation, on a channel. Without a thread it is at top level. */
export interface Place {
  readonly channel: 'slack' | 'discord';
  readonly conversationId: string;
  readonly threadId?: string | number;
}

/** What somebody says, and whom that names: as the plugin reads it, and as it was meant. */
export interface Saying {
  readonly content: string;
  readonly names: 'nobody' | 'main' | 'main within a word' | 'main with a label' | 'second';
}

/** What the service does when it is asked. `verdict` is what its status says. */
export interface Reply {
  readonly name: string;
  readonly verdict: 'ours' | 'others' | 'none';
  readonly status?: number;
  readonly body?: string;
  /** It does not end before the time is up: the answer, or only its body. */
  readonly hangs?: 'answer' | 'body';
  /** Who owns the thread, where the body says it. */
  readonly owner?: string;
}

/** A step of a sequence. */
export type OwnershipStep =
  | { readonly hears: Saying; readonly at: Place; readonly wasMentioned: boolean }
  | {
      readonly sends: Reply;
      readonly at: Place;
      readonly agentId: string | null;
      readonly kind: 'reply' | 'stream-opening' | 'stream-final';
    }
  | { readonly passMs: number };

/** What happens to one host, and how it is set up. */
export interface OwnershipSequence {
  readonly agents: readonly Readonly<Record<string, unknown>>[];
  readonly abTestChannels: readonly string[] | undefined;
  readonly steps: readonly OwnershipStep[];
}

/** How long a mention counts, and how long the service may take. */
export const ttlMs = 300_000;
export const timeoutMs = 3_000;

const main = { id: 'main-agent', identity: { name: 'TestBot' } };
const second = { id: 'second-agent', name: 'Second' };

/** The bot id that the environment names. */
export const botUserId = 'U999';

const sayings: readonly Saying[] = [
  { content: 'hello', names: 'nobody' },
  { content: '@testbot @ TestBot', names: 'nobody' },
  { content: 'hey @TestBot, look', names: 'main' },
  { content: '@TestBot', names: 'main' },
  { content: `<@${botUserId}> please`, names: 'main' },
  { content: 'ask @TestBotany', names: 'main within a word' },
  { content: 'mail ada@TestBot.example', names: 'main within a word' },
  { content: `<@${botUserId}|testbot> please`, names: 'main with a label' },
  { content: '@Second?', names: 'second' },
];

const owner = 'other-agent';
const json = JSON.stringify({ owner });

export const replies: readonly Reply[] = [
  { name: '200', verdict: 'ours', status: 200, body: '{}' },
  { name: '201 without a body', verdict: 'ours', status: 201 },
  { name: '204', verdict: 'ours', status: 204 },
  { name: '409', verdict: 'others', status: 409, body: json, owner },
  { name: '409 without an owner', verdict: 'others', status: 409, body: '[]' },
  { name: '409, absent', verdict: 'others', status: 409 },
  { name: '409, no JSON', verdict: 'others', status: 409, body: '<html>' },
  { name: '409, cut off', verdict: 'others', status: 409, body: '{"owner":' },
  { name: '409, null', verdict: 'others', status: 409, body: 'null' },
  { name: '409, huge', verdict: 'others', status: 409, body: `${json}${' '.repeat(70_000)}` },
  { name: '409, endless', verdict: 'others', status: 409, body: '{"own', hangs: 'body' },
  ...[301, 400, 401, 403, 404, 429, 500, 503].map(
    (status): Reply => ({ name: String(status), verdict: 'none', status, body: json }),
  ),
  { name: 'no answer', verdict: 'none', hangs: 'answer' },
  { name: 'unreachable', verdict: 'none' },
];

const slack = (conversationId: string, threadId?: string | number): Place => ({
  channel: 'slack',
  conversationId,
  ...(threadId !== undefined && { threadId }),
});

/** Few, so that they meet. Two join to one text, one has to be encoded, one cannot be. */
const places: fc.Arbitrary<Place> = fc.constantFrom(
  slack('C1', '17.5'),
  slack('C1', '17.5'),
  slack('C1', '17.5'),
  slack('C1', 7),
  slack('C1', '..'),
  slack('C1'),
  slack('a', 'b:c'),
  slack('a:b', 'c'),
  slack('C 2/?', '17.5'),
  { ...slack('C1', '17.5'), channel: 'discord' },
);

const steps: fc.Arbitrary<OwnershipStep> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      hears: fc.constantFrom(...sayings),
      at: places,
      wasMentioned: fc.constantFrom(false, false, false, false, false, false, false, true),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      sends: fc.constantFrom(...replies),
      at: places,
      agentId: fc.constantFrom(null, null, 'main-agent', 'second-agent', 'third-agent'),
      kind: fc.constantFrom('reply', 'stream-opening', 'stream-final'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ passMs: fc.constantFrom(1, 1_000, ttlMs - 1, ttlMs, ttlMs + 1) }),
  },
);

/** Sequences of messages that come in and go out while time passes. */
export const sequences: fc.Arbitrary<OwnershipSequence> = fc.record({
  agents: fc.constantFrom(
    [main],
    [main],
    [second, { ...main, default: true }],
    [{ ...main, id: ' main-agent ', note: 'more than is read' }, second],
    [],
  ),
  abTestChannels: fc.constantFrom(undefined, undefined, [], ['C1', 'a:b']),
  steps: fc.array(steps, { minLength: 1, maxLength: 14 }),
});
