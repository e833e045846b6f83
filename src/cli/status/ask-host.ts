import { isIPv6 } from 'node:net';
import { jsonOf } from '@sluice/sdk/chat';
import { z } from 'zod';
import { badArguments } from '../errors/command-error.js';
import type { Settings } from '../settings/settings.js';

const timeoutMs = 5_000;
const text = z.string().exactOptional();
const count = z.number().exactOptional();
const account = z.object({
  channel: z.string(),
  accountId: z.string(),
  code: text,
  failures: count,
});

/** The part of the answer of `/readyz` that is told on: the rest is for those who ask there. */
const answer = z.object({
  ready: z.boolean(),
  state: z.string(),
  uptimeMs: z.number().default(0),
  messages: z.number().default(0),
  turns: z.number().default(0),
  accounts: z.array(account).default([]),
  starting: z.array(account).default([]),
  journal: z.object({ code: text }).exactOptional(),
  degraded: z.array(z.object({ code: z.string(), whose: text, what: text, count: z.number() })),
});

/** How a host says that it is. */
export type HostAnswer = z.infer<typeof answer>;

/**
 * The address of the health port that is given, or else that of the config; nothing if that has no fixed one.
 *
 * @throws CommandError `bad-arguments`.
 */
export function healthUrl(
  given: string | true | undefined,
  { health }: Pick<Settings, 'health'>,
): string | undefined {
  const { address = '127.0.0.1', port = 0 } = health ?? {};
  if (typeof given !== 'string')
    return port === 0 ? undefined : `http://${isIPv6(address) ? `[${address}]` : address}:${port}`;
  if (/^https?:/.test(given) && URL.canParse(given)) return given;
  throw badArguments(
    `--running is "${given}", which is no address of a health port`,
    'Write it so: --running http://127.0.0.1:8080.',
  );
}

/** Asks the host that runs how it is. @throws the reason why no host of this version answers. */
export async function askHost(url: string): Promise<HostAnswer> {
  try {
    const response = await fetch(new URL('/readyz', url), {
      signal: AbortSignal.timeout(timeoutMs),
    });
    const { data } = answer.safeParse(jsonOf(await response.text()));
    if (data !== undefined) return data;
  } catch (error) {
    throw (error as Error).cause ?? error; // as `fetch` throws: it has the reason as its cause
  }
  throw new Error('what answers there is no health port of a host of this version');
}

/** Says why a host takes no messages in. */
export function whyNotReady({ state, journal }: HostAnswer): string {
  const code = journal?.code;
  return code === undefined ? `it is ${state}` : `its journal takes nothing in (${code})`;
}
