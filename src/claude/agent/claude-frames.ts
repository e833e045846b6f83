import type { AgentRequest } from '@sluice/sdk/stream';
import type { Logger } from 'sluice-kernel';
import type { CsdkFrame } from '../index.js';
import { type ClaudeMemory, type KnownSession, type Recalled, tokenOf } from './claude-memory.js';
import type { ClaudeRun } from './claude-sdk.js';

/** A request, and what its frames need. */
interface Remembering {
  readonly request: AgentRequest;
  readonly memory: ClaudeMemory;
  readonly logger: Logger;
  /** Begins a query. */
  ask(recalled: Recalled): ClaudeRun;
}

/**
 * The frames of a query that goes on with the session of the SDK that is remembered; what they tell of it is noted, and kept
 * with our session. If the SDK does not find that session any more, the history takes its place: a second query is begun.
 */
export async function* rememberedFrames(remembering: Remembering): AsyncGenerator<CsdkFrame, void> {
  const { request, memory, logger, ask } = remembering;
  const recalled = memory.recall(request);
  let known: KnownSession | undefined;
  let uuid: string | undefined;
  let isLost = false;
  const keep = (one: KnownSession): void => {
    known = one;
    request.keepSession(tokenOf(one));
  };
  for await (const frame of ask(recalled)) {
    if (frame.type === 'system' && frame.subtype === 'init' && known === undefined)
      keep(memory.begun(request, String(frame.session_id)));
    if (frame.type === 'assistant' && typeof frame.parent_tool_use_id !== 'string')
      uuid = typeof frame.uuid === 'string' ? frame.uuid : undefined;
    if (frame.type === 'result') {
      const isOfTurn = uuid !== undefined || frame.is_error === true || frame.num_turns !== 0;
      if (known !== undefined && isOfTurn)
        keep(memory.whole(request, known, frame.is_error === true ? undefined : uuid));
      isLost = known === undefined && isNotFound(frame, recalled);
      if (isLost) break;
    }
    yield frame;
  }
  if (!isLost || request.signal.aborted) return;
  logger.warn('the session of the Claude Agent SDK is gone: its agent gets the history as text', {
    runId: request.runId,
    sessionId: request.sessionId,
    claudeSession: recalled.resume,
  });
  memory.forget(request);
  const { providerSession: _, ...anew } = request;
  yield* rememberedFrames({ ...remembering, request: anew });
}

/**
 * Says if a result is the SDK's answer that it does not find what is to be resumed: the session, the message in it, or a session
 * by an id that is none of its own. Each names what it was asked for. Any other failure says nothing of the session.
 */
function isNotFound({ errors }: CsdkFrame, { resume, resumeAt }: Recalled): boolean {
  if (resume === undefined || !Array.isArray(errors)) return false;
  const told = errors.filter((error: unknown) => typeof error === 'string');
  const isOf = (text: string, id: string | undefined): boolean =>
    id !== undefined && told.some((error) => error.includes(text) && error.includes(id));
  return (
    isOf('No conversation found', resume) ||
    isOf('is not a UUID', resume) ||
    isOf('No message found', resumeAt)
  );
}
