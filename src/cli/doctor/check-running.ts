import { oneLine } from 'sluice-kernel/internal';
import type { Settings } from '../settings/settings.js';
import { counted } from '../shell/text.js';
import { askHost, type HostAnswer, healthUrl, whyNotReady } from '../status/ask-host.js';
import { type Finding, findingsOf } from './finding.js';

const findings = findingsOf('running');

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
  settings: Pick<Settings, 'health'>,
): Promise<Finding[]> {
  const url = healthUrl(given, settings);
  if (url === undefined) {
    const hint = 'Name its address: `sluice doctor --running http://127.0.0.1:8080`.';
    return [findings.error('no fixed health port is in the config', undefined, hint)];
  }
  let body: HostAnswer;
  try {
    body = await askHost(url);
  } catch (error) {
    const what = `no host of this version answers: ${oneLine(error)}`;
    return [findings.error(what, url, 'Start it with --health-port, or name its address.')];
  }
  return [
    body.ready
      ? findings.ok('takes messages', url)
      : findings.error(`takes no messages: ${whyNotReady(body)}`, url, 'Its log says more.'),
    ...body.degraded.map((one) => {
      const what = `${one.code}: ${one.what ?? counted(one.count, 'time', 'times')}`;
      return findings.warning(what, one.whose ?? url, cures[one.code] ?? 'Its log says more.');
    }),
  ];
}
