import { type AgentRequest, isSessionMessage, mustPass } from '../stream/index.js';
import { type ModelChoice, resolveModel } from './model.js';
import { buildPrompt } from './prompt.js';
import { imagesIn, type TurnScope } from './turn-fields.js';

/** A turn whose provider can be called; only the gate for its tools is missing. */
export interface PreparedTurn {
  readonly choice: ModelChoice;
  readonly request: Omit<AgentRequest, 'gate'>;
}

/**
 * Goes through the stages before the provider: `agent.starting`, `agent.model.resolving`,
 * `agent.prompt.building` and `agent.llm.input`.
 *
 * @throws RunFailure `no-model` or `stage-failed`.
 */
export async function prepareTurn(scope: TurnScope): Promise<PreparedTurn> {
  const { options, fields, run, signal } = scope;
  const { message, session } = options;
  mustPass(await run.start({ prompt: message.text, attempt: 1 }));
  const choice = await resolveModel(scope);
  const { prompt, systemPrompt } = await buildPrompt(scope);
  const attachments = message.attachments ?? [];
  const system = systemPrompt === undefined ? {} : { systemPrompt };
  const input = {
    ...system,
    provider: choice.provider.id,
    model: choice.model,
    prompt,
    historyMessages: [...session.history],
    imagesCount: imagesIn(attachments),
  };
  mustPass(await run.input(input));
  const request = {
    ...system,
    runId: fields.runId,
    agentId: session.agentId,
    sessionId: session.sessionId,
    sessionKey: session.sessionKey,
    model: choice.model,
    prompt,
    attachments,
    history: session.history.filter(isSessionMessage),
    session: {
      context: session.context ?? {},
      memoryKeys: session.memoryKeys ?? [],
      metadata: session.metadata ?? {},
    },
    signal,
  };
  return { choice, request };
}
