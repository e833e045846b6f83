import { request } from 'node:http';
import { z } from 'zod';
import type { Heard, Point, Verdict } from '../agents/codec.js';
import type { DoorPlace } from '../door/place.js';

/** The points that a session of MCP is judged at. */
export type JudgedPoint = Extract<Point, 'agent.tool.calling' | 'agent.tool.returning'>;

/**
 * Judges what was heard.
 *
 * @throws GuardAway (as a rejection) if no guard runs; Error if it gives no verdict.
 */
export type Judge = (point: JudgedPoint, heard: Heard, signal: AbortSignal) => Promise<Verdict>;

/** No guard can be reached. */
export class GuardAway extends Error {
  override readonly name = 'GuardAway';
}

const verdict = z.union([
  z.object({
    status: z.literal('allowed'),
    params: z.record(z.string(), z.unknown()).exactOptional(),
    result: z.string().exactOptional(),
    context: z.string().exactOptional(),
  }),
  z.object({ status: z.literal('refused'), reason: z.string() }),
]);

/** Makes the judge that asks a running guard. @param door is read for each question: a guard that starts anew may have another. */
export function guardJudge(door: () => Promise<DoorPlace>): Judge {
  return async (point, heard, signal) => {
    const { token, port, socketPath } = await door().catch((error: Error) => {
      throw new GuardAway(`no guard runs: ${error.message}`);
    });
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const path = `/judge/${point}`;
    const place = socketPath === undefined ? { host: '127.0.0.1', port } : { socketPath };
    const body = JSON.stringify({ agent: 'mcp', ...heard });
    const [status, text] = await new Promise<[number | undefined, string]>((resolve, reject) => {
      const asked = request({ ...place, method: 'POST', path, headers, signal });
      asked.on('error', (error) => reject(new GuardAway(`the guard is away: ${error.message}`)));
      asked.on('response', (response) => {
        const pieces: Buffer[] = [];
        response.on('data', (piece: Buffer) => pieces.push(piece));
        response.on('error', reject);
        response.on('end', () => resolve([response.statusCode, Buffer.concat(pieces).toString()]));
      });
      asked.end(body);
    });
    if (status !== 200) throw new Error(`the guard gives no verdict: HTTP ${status}`);
    return verdict.parse(JSON.parse(text));
  };
}
