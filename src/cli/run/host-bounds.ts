import type { HostOptions } from '../../host/index.js';
import { withoutSecrets } from '../../host/internal.js';
import { definedFields } from '../../kernel/index.js';
import type { Settings } from '../settings/settings.js';

/** Names the bounds of the config as the host does. */
export function hostBounds(settings: Settings) {
  const {
    budgets,
    ingress,
    lanes,
    session,
    failureText,
    cancelText,
    channels,
    approvals,
    roles,
    secrets,
  } = settings;
  return definedFields({
    roles,
    session,
    failureText,
    cancelText,
    startOnly: channels,
    sendTimeoutMs: budgets.sendTimeoutMs,
    ingress,
    maxRunning: lanes.maxRunning,
    laneCapacity: lanes.capacity,
    capacity: lanes.total,
    whenLaneFull: lanes.whenFull,
    approvals: { ...approvals, clean: withoutSecrets(secrets) },
  }) satisfies Partial<HostOptions>;
}
