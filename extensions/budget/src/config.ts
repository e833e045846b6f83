import { z } from 'zod';
import type { CapName } from './places.js';

/** Money is counted in millionths of a dollar. */
const microUsdPerUsd = 1_000_000;
/** The most tokens, and the most millionths of a dollar. The bound keeps all figures whole numbers that are exact. */
export const maxFigure = 1_000_000_000_000;
const maxUsd = maxFigure / microUsdPerUsd;

/** Tokens and money. A token at a price of 1 dollar for a million tokens costs one millionth. */
export interface Amount {
  readonly tokens: number;
  readonly microUsd: number;
}

/** The most of a day. A unit that is absent has no cap. */
export interface Cap {
  readonly tokens?: number;
  readonly microUsd?: number;
}

/** Turns dollars into millionths, rounded up. */
export function microUsdOf(usd: number): number {
  return Math.ceil(Number((usd * microUsdPerUsd).toFixed(3))); // 0.07 * 1e6 is 70,000.00000000001
}

const tokens = z.int('must be a whole number of tokens').min(1).max(maxFigure);
const usd = z.number('must be a number of dollars').min(0.000001).max(maxUsd);

const cap = z
  .strictObject({ tokens: tokens.optional(), usd: usd.optional() })
  .refine((made) => made.tokens ?? made.usd, { message: 'must have tokens, usd or both' })
  .transform(
    (made): Cap => ({
      ...(made.tokens !== undefined && { tokens: made.tokens }),
      ...(made.usd !== undefined && { microUsd: microUsdOf(made.usd) }),
    }),
  );
const capOrNone = z.union([z.literal(false), cap], 'must be { tokens, usd } or false');
const name = z.string().min(1, 'must not be blank');

const perMillion = z.number('must be a number of dollars for a million tokens').min(0).max(maxUsd);
const price = z.strictObject({
  input: perMillion,
  output: perMillion,
  cacheRead: perMillion.optional(),
  cacheWrite: perMillion.optional(),
});

/** The price of a model, in dollars for a million tokens. */
export type Price = z.infer<typeof price>;

const timeZone = z.string().refine(isTimeZone, 'must be a time zone such as "Europe/Berlin"');

/** The settings of the extension; the README has the table. A key that is not here is refused. */
export const config = z
  .strictObject({
    perPrincipal: cap.optional(),
    perSession: cap.optional(),
    perAgent: cap.optional(),
    total: cap.optional(),
    byRole: z.record(name, capOrNone).default({}),
    byAgent: z.record(name, capOrNone).default({}),
    estimate: z
      .strictObject({ tokens: tokens.default(10_000), usd: usd.default(0.1) })
      .prefault({})
      .transform((made): Amount => ({ tokens: made.tokens, microUsd: microUsdOf(made.usd) })),
    prices: z.record(name, price).default({}),
    timeZone: timeZone.default('UTC'),
    reply: z
      .union([z.string().trim().min(1), z.literal(false)], 'must be a text or false')
      .optional(),
    failClosed: z.boolean().default(false),
  })
  .superRefine((settings, issues) => {
    const caps = capsIn(settings);
    if (caps.length === 0)
      issues.addIssue({
        code: 'custom',
        message: 'must have a cap: perPrincipal, perSession, perAgent, total, byRole or byAgent',
      });
    for (const { path, cap } of caps)
      for (const unit of ['tokens', 'microUsd'] as const)
        if ((cap[unit] ?? Number.POSITIVE_INFINITY) < settings.estimate[unit])
          issues.addIssue({
            code: 'custom',
            path: [...path, unit === 'tokens' ? unit : 'usd'],
            message: `is less than estimate.${unit === 'tokens' ? unit : 'usd'}, so no message could pass: set a lower estimate`,
          });
  })
  .transform((settings) => ({ ...settings, estimate: cappedUnits(settings) }));

/** The settings, as they are read. */
export type Settings = z.infer<typeof config>;

interface Capped extends Partial<Record<CapName, Cap | undefined>> {
  readonly byRole: Readonly<Record<string, Cap | false>>;
  readonly byAgent: Readonly<Record<string, Cap | false>>;
  readonly estimate: Amount;
}

/** The estimate in the units that some cap has: nothing is reserved and nothing is guessed in the other. */
function cappedUnits(settings: Capped): Amount {
  const caps = capsIn(settings);
  const { tokens, microUsd } = settings.estimate;
  return {
    tokens: caps.some(({ cap }) => cap.tokens !== undefined) ? tokens : 0,
    microUsd: caps.some(({ cap }) => cap.microUsd !== undefined) ? microUsd : 0,
  };
}

function capsIn(settings: Capped): readonly { readonly path: string[]; readonly cap: Cap }[] {
  const { perPrincipal, perSession, perAgent, total, byRole, byAgent } = settings;
  const groups = [
    { under: [], caps: { perPrincipal, perSession, perAgent, total } },
    { under: ['byRole'], caps: byRole },
    { under: ['byAgent'], caps: byAgent },
  ];
  return groups.flatMap(({ under, caps }) =>
    Object.entries(caps).flatMap(([key, cap]) => (cap ? [{ path: [...under, key], cap }] : [])),
  );
}

function isTimeZone(text: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return true;
  } catch {
    return false;
  }
}
