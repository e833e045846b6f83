import { runAgentTurn, type Trail } from '../agent/index.js';
import { endOf, type MessageEnd, type SendReport, stopped } from './message-end.js';
import type { AgentDefinition } from './options.js';
import type { HostParts } from './parts.js';
import { replyTo, tellFailure } from './reply.js';
import type { RoutedMessage } from './routing.js';
import { openSession } from './sessions.js';
import type { SessionRecord } from './store.js';

type Ending = Pick<MessageEnd, 'status' | 'reason' | 'sends'>;

/**
 * Answers a routed message: its session is opened, its agent takes a turn, and what the agent wrote goes out, each
 * message of the agent as a reply of its own. What was written before a failure goes out, too; after an abort
 * nothing does. Runs in the lane of its session.
 */
export async function answerMessage(
  parts: HostParts,
  trail: Trail,
  route: { readonly agent: AgentDefinition; readonly sessionKey: string },
  message: RoutedMessage,
): Promise<Ending> {
  if (parts.signal.aborted) return stopped;
  const { agent, sessionKey } = route;
  const opening = await openSession(parts, trail, { agentId: agent.id, sessionKey }, message);
  if (opening.status === 'failed') {
    if (parts.signal.aborted) return stopped;
    const failure = { code: 'session', message: opening.reason };
    return {
      status: 'failed',
      reason: opening.reason,
      sends: await tellFailure(parts, trail, message, failure),
    };
  }
  const turn = new AbortController();
  const signal = AbortSignal.any([turn.signal, parts.signal]);
  parts.turns.set(sessionKey, turn);
  try {
    return await takeTurn(parts, trail, agent, opening.session, message, signal);
  } finally {
    parts.turns.delete(sessionKey);
  }
}

async function takeTurn(
  parts: HostParts,
  trail: Trail,
  agent: AgentDefinition,
  session: SessionRecord,
  message: RoutedMessage,
  signal: AbortSignal,
): Promise<Ending> {
  const { onEvent, about } = parts.options;
  const { agentId, sessionKey, sessionId } = session;
  const runId = parts.newId('run');
  const { context, memoryKeys, metadata } = session;
  const refs = { metadata: { runId, session: { context, memoryKeys, metadata } } };
  const after = trail.last;
  const result = await runAgentTurn({
    kernel: parts.kernel,
    provider: agent.provider,
    providers: parts.providers,
    ...(agent.model !== undefined && { model: agent.model }),
    ...(agent.systemPrompt !== undefined && { systemPrompt: agent.systemPrompt }),
    session: {
      agentId,
      sessionKey,
      sessionId,
      context,
      memoryKeys,
      metadata,
      history: await parts.store.readTranscript(sessionId),
      append: (entry) => parts.store.appendMessage(sessionId, entry),
    },
    message: {
      text: promptOf(message),
      attachments: message.attachments,
      channel: message.channel,
      ...(message.provider !== undefined && { provider: message.provider }),
    },
    runId,
    ...(about?.workspaceDir !== undefined && { workspaceDir: about.workspaceDir }),
    ...(after !== undefined && { after }),
    refs,
    ...(onEvent !== undefined && { callbacks: { onEvent } }),
    signal,
    clock: parts.clock,
    logger: parts.logger,
  });
  if (result.status === 'aborted') return stopped;
  trail.follow(result.last);
  trail.carry(refs);
  const sends: SendReport[] = [];
  const { assistantTexts: texts } = result;
  for (const [i, content] of texts.entries()) {
    const kind = i === texts.length - 1 ? 'reply' : 'block';
    const reply = { agentId, sessionKey, sessionId, runId, kind, content } as const;
    sends.push(await replyTo(parts, trail, message, reply, signal));
  }
  if (result.error !== undefined) {
    sends.push(...(await tellFailure(parts, trail, message, result.error)));
    return { status: 'failed', reason: result.error.message, sends };
  }
  return { ...endOf(sends), sends };
}

/** What the agent is asked: the text made for models, or what was said, and what is said in its audio. */
function promptOf({ promptText, content, transcript }: RoutedMessage): string {
  if (promptText !== undefined) return promptText;
  return [content, transcript ?? ''].filter((text) => text.trim() !== '').join('\n\n');
}
