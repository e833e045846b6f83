import type { AddressPlace } from '../settings/journal-place.js';
import { counted } from '../shell/text.js';
import { type Finding, findingsOf } from './finding.js';

const findings = findingsOf('hosts');

/** Compares the hosts that share a journal and live: each part of their config, and each extension, as they have announced it. */
export async function checkHosts(place: AddressPlace): Promise<Finding[]> {
  const live = (await place.kind.hosts(place)).filter(
    ({ leaseForMs, about }) => leaseForMs > 0 && Object.keys(about).length > 0,
  );
  const names = [...new Set(live.flatMap(({ about }) => Object.keys(about)))].sort();
  const different = names.flatMap((name) => {
    const values = [...new Set(live.map(({ about }) => about[name]))];
    if (values.length < 2) return [];
    const told = values.map((value) => {
      const ids = live.filter(({ about }) => about[name] === value).map(({ hostId }) => hostId);
      return `${value ?? 'not there'} at ${ids.join(', ')}`;
    });
    const hint = 'Give all hosts the same, and start those again that differ.';
    return findings.warning(`differs between hosts: ${told.join('; ')}`, name, hint);
  });
  return [findings.ok(counted(live.length, 'host lives', 'hosts live')), ...different];
}
