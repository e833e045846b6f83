import { isLoopback } from 'sluice/host';
import { z } from 'zod';
import { secretOf, sha256 } from './keys.js';
import { problemOfTemplate } from './template.js';

const name = z.string().regex(/^[\w.-]{1,64}$/, 'must be 1 to 64 letters, digits, ".", "-" or "_"');
const template = z
  .string()
  .min(1)
  .superRefine((text, { addIssue }) => {
    const problem = problemOfTemplate(text);
    if (problem !== undefined) addIssue(problem);
  });

const secret = z
  .string()
  .refine((text) => secretOf(text).length >= 16, 'must have 16 bytes or more');

const key = z.strictObject({
  /** The person that the key stands for. */
  name,
  sha256: z
    .string()
    .toLowerCase()
    .regex(/^[0-9a-f]{64}$/, 'must be the SHA-256 of the key, as 64 hexadecimal digits')
    .refine((digest) => digest !== sha256('').toString('hex'), 'is that of an empty key'),
  /** It is the key of a front end for several people: each request names its person in `user`. */
  frontEnd: z.boolean().default(false),
});

const holds = (text: string, place: string): boolean => text.toLowerCase().includes(`{${place}}`);

const webhook = z.strictObject({
  /** The secret of its signature: in a config file the name of a secret. */
  secret,
  signature: z
    .strictObject({
      header: z.string().min(1).default('x-hub-signature-256'),
      format: template.default('sha256={hex}'),
      over: template.default('{body}'),
      /** The header with the time in seconds since 1970: a request older than five minutes is refused. */
      timestamp: z.string().min(1).toLowerCase().exactOptional(),
    })
    .refine(({ format }) => /\{(hex|base64)\}/.test(format), {
      path: ['format'],
      error: 'must hold {hex} or {base64}',
    })
    .refine(
      ({ over, timestamp: at }) => holds(over, 'body') && (!at || holds(over, `header:${at}`)),
      { path: ['over'], error: 'must hold {body}, and the header of "timestamp" if there is one' },
    )
    .prefault({}),
  /** The id of a delivery: one that has come before is not handled again. */
  idempotencyKey: template.exactOptional(),
  text: template,
  sender: template.exactOptional(),
  conversation: template.exactOptional(),
  agent: z.string().min(1).exactOptional(),
  /** The place that answers are posted to; without it nobody is answered. */
  callback: z
    .strictObject({
      url: z.url({ protocol: /^https?$/, error: 'must be an http address' }),
      secret,
    })
    .exactOptional(),
});

/** The settings of the extension. A key that is not here is refused. The README explains each. */
export const config = z
  .strictObject({
    address: z.string().min(1).default('127.0.0.1'),
    port: z.coerce.number().int().min(0).max(65_535).default(8_642),
    /** Names beside `localhost` that it may be asked by at a loopback address: a proxy's. */
    hosts: z.array(z.string().min(1)).default([]),
    keys: z.array(key).default([]),
    models: z
      .record(z.string().min(1), z.strictObject({ agent: z.string().min(1).exactOptional() }))
      .refine((all) => Object.keys(all).length > 0, 'must name a model')
      .default({ sluice: {} }),
    conversationHeader: z.string().min(1).toLowerCase().default('x-sluice-conversation'),
    /** The tasks of a chat front end, such as titles: refused, said as a message of the person, or done by an agent. */
    tasks: z
      .union([z.enum(['refuse', 'say']), z.strictObject({ agent: z.string().min(1) })])
      .default('refuse'),
    page: z.boolean().default(true),
    streaming: z.boolean().default(true),
    webhooks: z.record(name, webhook).default({}),
    keepAnswersHours: z.number().positive().max(8_760).default(24),
    /** Connections of one address whose key is not known yet: more for a proxy, whose address all have. */
    connectionsPerAddress: z.number().int().min(1).max(8_192).default(64),
    maxBodyBytes: z.number().int().min(1_024).max(67_108_864).default(1_048_576),
  })
  .prefault({})
  .refine(({ address, keys }) => isLoopback(address) || keys.length > 0, {
    path: ['keys'],
    error: ({ input }) =>
      `must name a key: others can reach ${String(Object(input).address)}, and anyone could write`,
  })
  .refine(
    ({ keys }) => new Set(keys.flatMap((one) => [one.name, one.sha256])).size === 2 * keys.length,
    { path: ['keys'], error: 'must have a name and a key of its own for each' },
  );

/** The settings, read and complete. */
export type HttpConfig = z.infer<typeof config>;

/** The settings of one webhook. */
export type WebhookConfig = HttpConfig['webhooks'][string];
