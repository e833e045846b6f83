import { openSqlite } from 'sluice/host';
import { type Claims, openClaims } from '../src/server/claims.js';
import {
  type Answered,
  type OwnershipServer,
  type OwnershipServerOptions,
  startOwnershipServer,
} from '../src/server/ownership-server.js';

/** A real server on a port of its own, with claims in memory and a clock that stands. */
export interface ClaimsLab extends AsyncDisposable {
  readonly claims: Claims;
  readonly server: OwnershipServer;
  readonly answered: readonly Answered[];
  nowMs: number;
  /** Asks it, and reads the answer. */
  ask(
    path: string,
    init?: RequestInit,
  ): Promise<{ status: number; body: unknown; headers: Headers }>;
  /** Claims a thread for an agent. */
  claim(path: string, agentId: string): Promise<{ status: number; body: unknown }>;
}

export const base = '/api/v1/ownership';
export const ttlMs = 60_000;

/** Starts a server. */
export async function claimsLab(
  token?: string,
  limits: Pick<OwnershipServerOptions, 'allowedHosts' | 'headersTimeoutMs'> = {},
): Promise<ClaimsLab> {
  const database = openSqlite(':memory:');
  const claims = openClaims(database, { ttlMs, now: () => lab.nowMs });
  const answered: Answered[] = [];
  const server = await startOwnershipServer({
    claims,
    host: '127.0.0.1',
    port: 0,
    token,
    ...limits,
    onAnswered: (one) => answered.push(one),
  });
  const lab: ClaimsLab = {
    claims,
    server,
    answered,
    nowMs: 1_000_000,
    ask: async (path, init) => {
      const response = await fetch(`${server.url}${path}`, init);
      return { status: response.status, body: await response.json(), headers: response.headers };
    },
    claim: (path, agentId) =>
      lab.ask(`${base}/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ agent_id: agentId }),
      }),
    [Symbol.asyncDispose]: async () => {
      await server.close(0);
      database.close();
    },
  };
  return lab;
}
