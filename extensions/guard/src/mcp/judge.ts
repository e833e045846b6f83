import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
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

/** Nobody listens. A connection that breaks later is another thing: a call could have broken it. */
const isAway = /^(?:ECONNREFUSED|ENOENT)$/;

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
    const asked = request({ ...place, method: 'POST', path, headers, signal });
    asked.on('error', () => undefined); // after the response it is told by that one
    asked.end(JSON.stringify({ agent: 'mcp', ...heard }));
    const answered: Promise<IncomingMessage[]> = once(asked, 'response');
    const [response] = await answered.catch(({ code, message }) => {
      if (isAway.test(code)) throw new GuardAway(`the guard is away: ${message}`);
      throw new Error(`the guard gives no verdict: ${message}`);
    });
    const said = response === undefined ? '' : await text(response);
    const status = response?.statusCode;
    if (status !== 200) throw new Error(`the guard gives no verdict: HTTP ${status}`);
    return verdict.parse(JSON.parse(said));
  };
}
