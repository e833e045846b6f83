import type { HostOptions } from '../../host/index.js';
import { withoutSecrets } from '../../journal/internal.js';
import { definedFields } from '../../kernel/index.js';
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
