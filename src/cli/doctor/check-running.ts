import { isIPv6 } from 'node:net';
import { oneLine } from 'sluice-kernel/internal';
import { z } from 'zod';
import { badArguments } from '../errors/command-error.js';
import type { Settings } from '../settings/settings.js';
import { counted } from '../shell/text.js';
import { type Finding, findingsOf } from './finding.js';

const findings = findingsOf('running');
const timeoutMs = 5_000;

const text = z.string().exactOptional();

/** The part of the answer of `/readyz` that is looked at. */
const answer = z.looseObject({
  ready: z.boolean(),
  state: z.string(),
  journal: z.looseObject({ code: text }).exactOptional(),
  degraded: z.array(
    z.looseObject({ code: z.string(), whose: text, what: text, count: z.number() }),
  ),
});

const cures: Readonly<Record<string, string>> = {
  'dead-letters': 'See `sluice journal list --state dead`, and retry or purge them.',
  quarantined: 'The log says how it failed; it is tried again by itself.',
  'extension-refused': 'The log says why; `sluice doctor` looks at the extension itself.',
  'agent-part': 'Its agent works without it; `sluice doctor` has its words.',
  'account-degraded': 'The log says why: it may lose messages, or take none in.',
  'veto-failed-open': 'Repair it, or set `failClosed`: what it was to judge has passed.',
};

/** Asks the host that runs how it is, at its health port. */
export async function checkRunning(
  given: string | true,
  { health }: Pick<Settings, 'health'>,
): Promise<Finding[]> {
  if (given === true && (health === undefined || health.port === 0)) {
    const hint = 'Name its address: `sluice doctor --running http://127.0.0.1:8080`.';
    return [findings.error('no fixed health port is in the config', undefined, hint)];
  }
  const { address = '127.0.0.1', port } = health ?? {};
  const name = isIPv6(address) ? `[${address}]` : address;
  const url = given === true ? `http://${name}:${port}` : given;
  if (!/^https?:/.test(url) || !URL.canParse(url))
    throw badArguments(
      `--running is "${url}", which is no address of a health port`,
      'Write it so: --running http://127.0.0.1:8080.',
    );
  let body: z.infer<typeof answer>;
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch(new URL('/readyz', url), { signal });
    body = answer.parse(await response.json());
  } catch (error) {
    const { cause = error } = error as Error; // as all of these throw: `fetch` has the reason as its cause
    const what = `no host of this version answers: ${oneLine(cause)}`;
    return [findings.error(what, url, 'Start it with --health-port, or name its address.')];
  }
  const { ready, state, journal, degraded } = body;
  const code = journal?.code;
  const why = code === undefined ? `it is ${state}` : `its journal takes nothing in (${code})`;
  return [
    ready
      ? findings.ok('takes messages', url)
      : findings.error(`takes no messages: ${why}`, url, 'Its log says more.'),
    ...degraded.map((one) => {
      const what = `${one.code}: ${one.what ?? counted(one.count, 'time', 'times')}`;
      return findings.warning(what, one.whose ?? url, cures[one.code] ?? 'Its log says more.');
    }),
  ];
}
