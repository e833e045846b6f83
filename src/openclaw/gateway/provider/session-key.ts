import { createHash } from 'node:crypto';

/** The longest id within a session key, in code points. */
const maxIdLength = 256;

/**
 * The key of an agent's session on the gateway: `agent:<agentId>:sluice-<id>`. An id that a key cannot hold is made to
 * fit; so that no two conversations share a session then, it gets a mark of its own.
 */
export function sessionKeyOf(agentId: string, id: string): string {
  const fitting = Array.from(id.replace(/\p{Cc}/gu, '').replace(/[:/\\]/g, '-'))
    .slice(0, maxIdLength)
    .join('');
  if (fitting === id) return `agent:${agentId}:sluice-${id}`;
  const mark = createHash('sha256').update(id).digest('hex').slice(0, 16);
  const short = Array.from(fitting)
    .slice(0, maxIdLength - mark.length - 1)
    .join('');
  return `agent:${agentId}:sluice-${short}-${mark}`;
}
