import { connect } from '../../extensions/postgres/src/index.js';
import { definedFields } from '../../src/kernel/internal.js';
import { openPostgresJournal, type PostgresConnections } from '../../src/postgres/index.js';
import { migratePostgres } from '../../src/postgres/postgres-schema.js';
import { type HostLabOptions, hostLab } from '../support/host-lab.js';
import { type ScriptedChannelOptions, scriptedChannel } from '../support/scripted-channel.js';
import { newDatabase } from './databases.js';

export const partitions = 8;

export async function sharedDatabase(): Promise<string> {
  const url = await newDatabase();
  const connections = connect(url);
  await migratePostgres(connections, partitions);
  await connections.close();
  return url;
}

/** A host with a journal of its own connections, which may be cut: the host then knows of nothing more. */
export async function sharing(
  url: string,
  leaseMs = 5_000, // a pause of the machine does not end it
  {
    interactive,
    ...options
  }: Omit<HostLabOptions, 'channel'> & Pick<ScriptedChannelOptions, 'interactive'> = {},
) {
  let isCut = false;
  let asleep: Promise<void> = Promise.resolve();
  let wake = (): void => undefined;
  const inner = connect(url);
  const cut = () => Promise.reject(Object.assign(new Error('cut'), { code: 'ECONNRESET' }));
  const connections: PostgresConnections = {
    ...inner,
    query: (...given) => (isCut ? cut() : asleep.then(() => inner.query(...given))),
    transaction: (work) => (isCut ? cut() : asleep.then(() => inner.transaction(work))),
  };
  const journal = await openPostgresJournal(connections, { leaseMs });
  const channel = scriptedChannel({ everyHost: true, ...definedFields({ interactive }) });
  const lab = await hostLab({ journal, store: journal.store, channel, ...options });
  return {
    ...{ lab, journal, channel },
    cut: () => {
      isCut = true;
    },
    /** Its statements wait until it wakes. */
    sleep: (isAsleep: boolean) => {
      if (isAsleep)
        asleep = new Promise((resolve) => {
          wake = resolve;
        });
      else wake();
    },
    partitions: () => journal.ownership.partitions(),
    /** Lets the time of the host pass beside that of the database. */
    pass: () => lab.clock.advance(100),
    [Symbol.asyncDispose]: async () => {
      await lab[Symbol.asyncDispose]();
      await journal.close().catch(() => undefined);
    },
  };
}
