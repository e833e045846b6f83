import { jsonOf } from 'sluice/chat';
import type { ClaimedThread, Claims } from './claims.js';
import { claimBody, type Reply, refusal } from './reply.js';

/** The request, as far as the routes need it. */
interface Question {
  readonly method: string;
  /** The path as it was sent, without its query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The body of a POST. */
  readonly body: string;
}

const base = '/api/v1/ownership';
const maxIdLength = 512;
const defaultLimit = 100;
const maxLimit = 1_000;

/**
 * Answers a question about claims. Bad input is a reply as well.
 *
 * @throws SluiceError `database-*`.
 */
export function answer(question: Question, claims: Claims): Reply {
  const { method, path, query } = question;
  if (path === '/health') {
    if (method !== 'GET') return notAllowed('GET');
    claims.list({ limit: 1 }); // throws where the database is of no use
    return { status: 200, body: { status: 'ok' } };
  }
  if (path === base) return method === 'GET' ? list(query, claims) : notAllowed('GET');
  const thread = threadIn(path);
  if (thread === undefined) return refusal(404, `there is only ${base}/<channel>/<thread>`);
  if (thread === 'malformed')
    return refusal(
      400,
      `channel and thread must be encoded, and of 1 to ${maxIdLength} characters`,
    );
  if (method === 'POST') return claim(question.body, thread, claims);
  if (method === 'DELETE') return release(query.get('agent_id') ?? undefined, thread, claims);
  if (method !== 'GET') return notAllowed('GET, POST, DELETE');
  const held = claims.find(thread);
  return held === undefined ? unowned : { status: 200, body: claimBody(held) };
}

const unowned = refusal(404, 'nobody owns this thread');

function notAllowed(allow: string): Reply {
  return refusal(405, `allowed here: ${allow}`, { allow });
}

function claim(body: string, thread: ClaimedThread, claims: Claims): Reply {
  const agentId = agentIn(body);
  if (agentId === undefined)
    return refusal(400, `the body must be {"agent_id": "<1 to ${maxIdLength} characters>"}`);
  const held = claims.claim(thread, agentId);
  return { status: held.owner === agentId ? 200 : 409, body: claimBody(held) };
}

function release(agentId: string | undefined, thread: ClaimedThread, claims: Claims): Reply {
  if (agentId !== undefined && !isId(agentId)) return refusal(400, 'agent_id is malformed');
  const held = claims.release(thread, agentId);
  if (held === undefined) return unowned;
  const isGone = agentId === undefined || held.owner === agentId;
  return { status: isGone ? 200 : 409, body: claimBody(held) };
}

function list(query: URLSearchParams, claims: Claims): Reply {
  const limit = Number(query.get('limit') ?? defaultLimit);
  if (!Number.isInteger(limit) || limit < 1 || limit > maxLimit)
    return refusal(400, `limit must be from 1 to ${maxLimit}`);
  const cursor = query.get('after');
  const after = cursor === null ? undefined : threadIn(`${base}/${cursor}`);
  if (after === 'malformed' || (cursor !== null && after === undefined))
    return refusal(400, 'after must be the "next" of a list');
  const found = claims.list({ limit, ...(after !== undefined && { after }) });
  const last = found.length === limit ? found.at(-1) : undefined;
  const next = last && [last.conversation, last.thread].map(encodeURIComponent).join('/');
  return { status: 200, body: { threads: found.map(claimBody), next: next ?? null } };
}

/** Returns the thread that a path names; nothing if the path names none. */
function threadIn(path: string): ClaimedThread | 'malformed' | undefined {
  if (!path.startsWith(`${base}/`)) return undefined;
  const segments = path.slice(base.length + 1).split('/');
  if (segments.length !== 2) return undefined;
  try {
    const [conversation = '', thread = ''] = segments.map(decodeURIComponent);
    return isId(conversation) && isId(thread) ? { conversation, thread } : 'malformed';
  } catch {
    return 'malformed';
  }
}

function agentIn(body: string): string | undefined {
  const { agent_id }: { readonly agent_id?: unknown } = Object(jsonOf(body));
  return typeof agent_id === 'string' && isId(agent_id) ? agent_id : undefined;
}

function isId(text: string): boolean {
  return text.length >= 1 && text.length <= maxIdLength && !/[\p{Cc}\p{Cs}]/u.test(text);
}
