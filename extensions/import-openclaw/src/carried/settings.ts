import { z } from 'zod';

const people = z.array(z.string());
const word = z.string().min(1);

/** The groups of an account by their ids, `*` for all others, and topics of them: who may write there. */
const groups = z.record(
  z.string(),
  z.strictObject({ people, topics: z.record(z.string(), people).exactOptional() }),
);
const access = z.record(z.string(), z.strictObject({ dm: people, groups }));

const chatType = z.enum(['direct', 'dm', 'group', 'channel']);

/** A binding of OpenClaw that has a counterpart here. */
export const binding = z.strictObject({
  type: z.literal('route').exactOptional(),
  agentId: word,
  comment: z.string().exactOptional(),
  match: z.strictObject({
    channel: word.toLowerCase(),
    accountId: word.toLowerCase().exactOptional(),
    peer: z.strictObject({ kind: chatType, id: word.refine((id) => id !== '*') }).exactOptional(),
    guildId: word.exactOptional(),
    teamId: word.exactOptional(),
  }),
});

const match = z.strictObject({
  channel: word.exactOptional(),
  chatType: chatType.exactOptional(),
  keyPrefix: word.exactOptional(),
  rawKeyPrefix: word.exactOptional(),
});
const action = z.enum(['allow', 'deny']);

/** The send policy of OpenClaw. */
export const sendPolicy = z.strictObject({
  default: action.default('allow'),
  rules: z.array(z.strictObject({ action, match: match.default({}) })).default([]),
});

/** The scopes of private messages: who shares a session. */
export const dmScope = z.enum(['main', 'per-peer', 'per-channel-peer', 'per-account-channel-peer']);

const schedule = z.strictObject({
  name: word,
  cron: word.exactOptional(),
  at: word.exactOptional(),
  timeZone: word.exactOptional(),
  agentId: word,
  sessionKey: word,
  text: word,
  /** The address of the answer; without one it stays in the session. */
  to: z.strictObject({ channel: word, to: word, accountId: word.exactOptional() }).exactOptional(),
  /** An answer that has this text is not sent. */
  silent: word.exactOptional(),
});

/** The settings of the extension. The importer writes them. */
export const settings = z
  .strictObject({
    access: z.record(z.string(), access).default({}),
    bindings: z.array(binding).default([]),
    defaultAgent: word.default('main'),
    dmScope: dmScope.default('main'),
    mainKey: word.default('main'),
    /** People by name: their ids, as `telegram:42`. */
    identityLinks: z.record(z.string(), z.array(word)).default({}),
    sendPolicy: sendPolicy.prefault({}),
    schedules: z.array(schedule).default([]),
  })
  .prefault({});

/** The settings, read and complete. */
export type Settings = z.infer<typeof settings>;
export type Groups = z.infer<typeof groups>;
export type Access = z.infer<typeof access>;
export type Schedule = z.infer<typeof schedule>;
