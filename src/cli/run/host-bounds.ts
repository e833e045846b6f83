import type { HostOptions } from '@sluice/host';
import { withoutSecrets } from '@sluice/journal/internal';
import { definedFields } from 'sluice-kernel/internal';
import type { Settings } from '../settings/settings.js';

/** Names the bounds of the config as the host does. */
export function hostBounds(settings: Settings) {
  const { lanes } = settings;
  return definedFields({
    roles: settings.roles,
    session: settings.session,
    failureText: settings.failureText,
    cancelText: settings.cancelText,
    startOnly: settings.channels,
    sendTimeoutMs: settings.budgets.sendTimeoutMs,
    ingress: settings.ingress,
    maxRunning: lanes.maxRunning,
    laneCapacity: lanes.capacity,
    capacity: lanes.total,
    whenLaneFull: lanes.whenFull,
    approvals: { ...settings.approvals, clean: withoutSecrets(settings.secrets) },
  }) satisfies Partial<HostOptions>;
}
