import { badPattern } from '@sluice/journal/internal';
import { z } from 'zod';
import { atOnce, count, duration, name, setting } from './setting.js';

/** The time that the steps of a host may take. */
export const budgets = z.strictObject({
  drainTimeoutMs: duration(
    'how long running messages may take to end after SIGTERM, before they are aborted',
  ),
  sendTimeoutMs: duration('how long one send may take before it counts as ambiguous'),
  setupTimeoutMs: duration('how long the setup of one extension may take'),
  reloadTimeoutMs: duration(
    'how long messages under way may go on before an extension is replaced all the same, by default 10000',
  ),
});

/** The log. */
export const logging = z.strictObject({
  level: setting(
    z.enum(['debug', 'info', 'warn', 'error']),
    '"debug", "info", "warn" or "error"; at "debug" texts of messages and errors are in it',
  ),
  format: setting(
    z.enum(['text', 'json']),
    '"text" for people, or "json": a line of JSON per entry',
  ),
  file: setting(name, 'the path of a file that gets the log, as JSON'),
});

/** The bounds of the messages that wait. */
export const lanes = z.strictObject({
  maxRunning: atOnce('messages that run at once, of all conversations; by default 64'),
  capacity: atOnce('messages of one conversation that may wait before it is full; by default 100'),
  total: atOnce(
    'messages of all conversations that may wait before the host is full; by default 10000',
  ),
  whenFull: setting(
    z.enum(['refuse', 'drop', 'wait']),
    '"refuse", "drop" or "wait": what is done with a message whose conversation is full; by default it waits in the journal, or is refused if there is none',
  ),
});

/** How messages come in. */
export const ingress = z.strictObject({
  joinWithinMs: setting(
    z.record(
      z
        .string()
        .regex(/^[^:/\s]+(?:\/[^:\s]+)?$/, 'expected the name of a channel, or "channel/account"'),
      z
        .number()
        .min(0)
        .max(60_000)
        .describe('milliseconds from 0 to 60000, such as 1500; 0 where no message waits'),
    ),
    'an object: by "channel" or "channel/account", the milliseconds that a message waits for the next one of its sender, so that one turn answers both; by default none waits',
  ),
});

/** How humans are asked before something happens. */
export const approvals = z.strictObject({
  to: setting(
    z.strictObject({
      channel: name.describe('the name of a channel, such as "console"'),
      accountId: setting(name, 'the name of an account of the channel; by default its first'),
      to: name.describe('the address of a conversation, as its channel writes it'),
      threadId: setting(
        z.union([z.string(), z.number()]),
        'the id of a thread of the conversation',
      ),
    }),
    'an object with the conversation that all questions go to; by default each goes to the conversation of its message',
  ),
  timeoutMs: setting(
    z.number().positive().max(86_400_000),
    'milliseconds, at most 86400000: how long a question waits if its asker does not say; by default 3600000',
  ),
});

/** The patterns of texts that are not kept. */
const scrub = z.strictObject({
  patterns: setting(
    z
      .record(name, z.union([z.literal(true), z.string()]))
      .refine((all) => badPattern(all) === undefined, {
        error: ({ input }) => `expected a regular expression of "${badPattern(Object(input))}"`,
      }),
    'an object: by the name that takes its place, a regular expression; or true for "email", "card", "iban", "phone"',
  ),
  fn: setting(
    z.custom<(text: string) => string>((fn) => typeof fn === 'function', 'expected a function'),
    'a function, which a config in TypeScript or JavaScript may hold: it gets each text after the patterns, and returns it cleaned at once',
  ),
});

/** The proof that the records of the journal are as they were written (record §1). */
const record = z.strictObject({
  key: name.describe(
    'the path of the file with the key of this host, which signs; it is made with mode 0600 if it is not there',
  ),
  checkpoints: setting(
    name,
    'the path of a file to which each checkpoint is appended, such as one on another machine',
  ),
});

/** The file of the journal, or its database. */
const journalSettings = z.strictObject({
  path: setting(name, 'the path of the journal, a file that is made where it is missing'),
  url: setting(
    z.string(),
    'the address of a database that keeps the journal instead of a file, as { "env": "DATABASE_URL" }',
  ),
  leaseMs: setting(
    z.number().min(500).max(600_000),
    'milliseconds, from 500 to 600000: how long a host that is not heard of keeps a journal in a database, by default 5000',
  ),
  partitions: setting(
    z.number().int().min(1).max(1_024),
    'a number from 1 to 1024: the partitions of the conversations that several hosts share in a database, such as 64; by default 1, for one host',
  ),
  listen: setting(
    z.boolean(),
    'false, if hosts that share a journal are not to tell each other of work (NOTIFY): each looks twice a second',
  ),
  maxAttempts: setting(
    count,
    'how often a message may be begun before it is a dead letter, such as 3',
  ),
  keepForMs: setting(
    z.number().positive(),
    'milliseconds, such as 604800000: how long what has ended is kept',
  ),
  keepBytes: setting(
    z.number().positive(),
    'bytes, such as 268435456: from how large a file on the oldest is dropped',
  ),
  dispatches: setting(
    z.boolean(),
    'false, if what was dispatched is not to be kept: then nothing can be explained',
  ),
  hotPathPayloads: setting(
    z.boolean(),
    'true, if payloads of families on a hot path are to be kept as well',
  ),
  rawUpdates: setting(
    z.boolean(),
    'true, if dispatches are to hold what a provider sent as it came',
  ),
  redact: setting(
    z.array(name),
    'a list of field names whose values are never written, besides those of secrets',
  ),
  record: setting(
    record,
    'an object: each record is in a chain that the host signs, so that `sluice verify` finds what was changed, removed, added or moved',
  ),
  scrub: setting(
    scrub,
    'an object: what is taken out of all texts that are kept for reading, here, in the log and in traces; what is needed to go on stays until its end',
  ),
});

/** The settings that one kind of journal lacks, each with its message. */
const ofOneKind = [
  ['url', 'keepBytes', 'expected no bound of bytes for a journal in a database'],
  ['path', 'leaseMs', 'expected no lease for a journal in a file'],
  ['path', 'partitions', 'expected no partitions of a journal in a file'],
  ['path', 'listen', 'expected no "listen" for a journal in a file'],
] as const;

export const journal = journalSettings
  .refine(({ path, url }) => (path === undefined) !== (url === undefined), {
    message: 'expected either "path" or "url"',
  })
  .superRefine((given, check) => {
    for (const [kind, setting, message] of ofOneKind)
      if (given[kind] !== undefined && given[setting] !== undefined)
        check.addIssue({ code: 'custom', path: [setting], message });
  });

/** The place at which a server of the host listens. */
const listening = {
  address: setting(
    name,
    'the address to listen at, by default "127.0.0.1"; any other lets others see it',
  ),
  hosts: setting(
    z.array(name),
    'names that it may be asked by at a loopback address, beside "localhost": of a proxy before it, say',
  ),
  connectionsPerAddress: setting(
    z.number().int().min(1).max(8_192),
    'connections of one address whose sender is not known yet, by default 64: more for a proxy, whose address all have',
  ),
};

const port = z.number().int().min(0).max(65_535);

/** The port that a monitor asks. */
export const health = z.strictObject({
  port: port.describe('the number of a port, or 0 for one that is free'),
  ...listening,
  events: setting(
    z.strictObject({
      token: z
        .string()
        .min(16)
        .describe(
          'the token that a program has to know, of 16 characters or more, as { "env": "NAME" }',
        ),
      source: setting(name, 'the source that the events name, by default "/sluice"'),
    }),
    'a feed of CloudEvents at /events, for other programs: { "token": { "env": "NAME" } }',
  ),
});

/** The page of the package sluice-inspector. */
export const inspect = z.strictObject({
  port: setting(port, 'the number of a port; by default one that is free'),
  ...listening,
  write: setting(
    z.boolean(),
    'true, if the page may change things: retry, purge, answer, reload, stop a turn',
  ),
  text: setting(z.boolean(), 'true, if the page may search in the texts of messages'),
});
