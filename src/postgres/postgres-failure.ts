import { journalError } from '@sluice/journal/internal';
import { type ErrorCode, isSluiceError, oneLine, type SluiceError } from 'sluice-kernel/internal';
import type { PostgresConnections } from './rows/connections.js';

/** The beginnings of the codes of PostgreSQL, and the codes that lead to the cure. The first that fits counts. */
const codes: readonly (readonly [
  beginning: RegExp,
  code: Extract<ErrorCode, `database-${string}`>,
])[] = [
  [/^53100/, 'database-full'],
  [/^25006/, 'database-read-only'],
  [/^(40|55P03|57014)/, 'database-busy'],
  [/^23/, 'database-constraint'],
  [/^(28|3D)/, 'database-not-opened'],
  [/^(08|25P03|53|57P|58|XX)/, 'database-io'],
  [/^[0-9A-Z]{5}$/, 'database-failed'],
];

/** Turns an error of the driver into one of this project. An error without a code of PostgreSQL is one of the network. */
function postgresFailure(address: string, error: unknown): SluiceError {
  if (isSluiceError(error)) return error;
  const own = typeof error === 'object' && error !== null && 'code' in error ? error.code : '';
  const code = codes.find(([beginning]) => beginning.test(String(own)))?.[1] ?? 'database-io';
  return journalError(code, { path: address, problem: oneLine(error) }, { cause: error });
}

/** The same connections, whose calls reject with errors of this project. */
export function withFailures(connections: PostgresConnections): PostgresConnections {
  const { address } = connections;
  const told = (error: unknown): never => {
    throw postgresFailure(address, error);
  };
  return {
    address,
    query: (sql, values) => connections.query(sql, values).catch(told),
    transaction: (work) => connections.transaction(work).catch(told),
    listen: (...given) => connections.listen?.(...given),
    close: () => connections.close(),
  };
}

/** How often a transaction may be ended because this process said nothing in it for too long, as on a machine that is busy. */
const mostStalls = 10;

/** Does something again if the database has ended its transaction for that reason, unless it is to stop. */
export async function overStalls<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (let stalls = 0; ; )
    try {
      return await work();
    } catch (error) {
      const isStall = isSluiceError(error) && Object(error.cause).code === '25P03';
      if (!isStall || ++stalls > mostStalls || signal?.aborted === true) throw error;
    }
}
