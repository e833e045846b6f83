import { join } from 'node:path';
import { Recent } from '@sluice/sdk/stream/internal';
import { type Clock, type Fields, fieldsOf } from 'sluice-kernel/internal';
import { accountOf, textOf } from './settings.js';

/** Sessions whose last message is remembered: the oldest are forgotten first. */
const mostSessions = 10_000;

interface Activity {
  inboundAt: number | null;
  outboundAt: number | null;
}

/** `channel.activity`: when an account last took something in and sent something, since this plugin was loaded. */
export function activityOf(clock: Clock) {
  const known = new Map<string, Activity>();
  const entryOf = (given: Fields): Activity => {
    const key = JSON.stringify([given['channel'], accountOf(given['accountId'])]);
    const entry = known.get(key) ?? { inboundAt: null, outboundAt: null };
    known.set(key, entry);
    return entry;
  };
  return {
    record: (given: Fields): void => {
      const at = typeof given['at'] === 'number' ? given['at'] : clock.now();
      if (given['direction'] === 'inbound') entryOf(given).inboundAt = at;
      if (given['direction'] === 'outbound') entryOf(given).outboundAt = at;
    },
    get: (given: Fields): Activity => ({ ...entryOf(given) }),
  };
}

/**
 * `channel.session`: the time of the last message of a session, since this plugin was loaded. The sessions themselves are the
 * host's: nothing is written.
 */
export function sessionsOf(clock: Clock, stateDir: string) {
  const updatedAt = new Recent<string, number>(mostSessions);
  const record = async (given: Fields): Promise<void> => {
    const key = textOf(given['sessionKey'])?.toLowerCase();
    if (key !== undefined) updatedAt.set(key, clock.now());
  };
  return {
    resolveStorePath: (store?: unknown, of?: unknown): string => {
      const agent = textOf(fieldsOf(of)['agentId']) ?? 'main';
      return (
        textOf(store)?.replaceAll('{agentId}', agent) ?? join(stateDir, 'sessions', `${agent}.json`)
      );
    },
    readSessionUpdatedAt: (given: Fields): number | undefined =>
      updatedAt.get(textOf(given['sessionKey'])?.toLowerCase() ?? ''),
    recordInboundSession: record,
    recordSessionMetaFromInbound: record,
    updateLastRoute: record,
  };
}
