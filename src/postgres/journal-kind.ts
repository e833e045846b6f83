import type { JournalAddress, JournalKind } from '@sluice/journal/internal';
import type { PostgresConnections } from './rows/connections.js';

/** Milliseconds that a statement of a migration may take: it may look at each row. */
const migrationMs = 86_400_000;

/** The journals in a PostgreSQL. Their code is loaded when one is asked for. */
export const postgresJournals: JournalKind = {
  name: 'PostgreSQL',
  schemes: ['postgres', 'postgresql'],
  open: async (at, options) => {
    const { openPostgresJournal } = await journals();
    const { partitions } = at;
    return openPostgresJournal(await connectTo(at), { ...options, partitions, announces: true });
  },
  read: async (at) => (await journals()).readPostgresJournal(await connectTo(at)),
  tend: async (at) => (await journals()).tendPostgresJournal(await connectTo(at)),
  hosts: async (at) => {
    const { readPostgresHosts } = await import('./postgres-reader.js');
    return withConnections(at, {}, readPostgresHosts);
  },
  forget: async (at, ...given) => {
    const { forgetInPostgres } = await import('./forget-postgres.js');
    return forgetInPostgres(await connectTo(at), ...given);
  },
  migrate: async (at) => {
    const { migratePostgres } = await import('./postgres-schema.js');
    return withConnections(at, { timeoutMs: migrationMs }, (connections) =>
      migratePostgres(connections, at.partitions),
    );
  },
};

const journals = () => import('./postgres-journal.js');

/**
 * Connects to a PostgreSQL by the package that is installed for it.
 *
 * @param options `timeoutMs`: the time of a statement, by default 10 s.
 */
async function connectTo(
  { url, load }: JournalAddress,
  options: { readonly timeoutMs?: number } = {},
): Promise<PostgresConnections> {
  const { connect } = await load<{
    connect(url: string, given: typeof options): PostgresConnections;
  }>('sluice-postgres', 'the connection of a journal in PostgreSQL is');
  return connect(url, options);
}

async function withConnections<T>(
  at: JournalAddress,
  options: Parameters<typeof connectTo>[1],
  work: (connections: PostgresConnections) => Promise<T>,
): Promise<T> {
  const connections = await connectTo(at, options);
  try {
    return await work(connections);
  } finally {
    await connections.close();
  }
}
