import { type AgentRequest, isSessionMessage } from '../stream/index.js';
import { type ModelChoice, resolveModel } from './model.js';
import { buildPrompt } from './prompt.js';
import { imagesIn, type TurnScope } from './run-fields.js';
import { mustPass } from './turn-failure.js';

/** A turn whose provider can be called; only the gate for its tools is missing. */
export interface PreparedTurn {
  readonly choice: ModelChoice;
  readonly request: Omit<AgentRequest, 'gate'>;
}

/**
 * Goes through the stages before the provider: `agent.starting`, `agent.model.resolving`,
 * `agent.prompt.building` and `agent.llm.input`.
 *
 * @throws TurnFailure `no-model` or `stage-failed`.
 */
export async function prepareTurn(scope: TurnScope, startedAtMs: number): Promise<PreparedTurn> {
  const { options, trail, run, signal } = scope;
  const { message, session } = options;
  const prompted = { ...run, prompt: message.text, startedAtMs, attempt: 1 };
  mustPass(await trail.dispatch('agent.starting', prompted, { signal }));
  const choice = await resolveModel(scope);
  const { prompt, systemPrompt } = await buildPrompt(scope);
  const attachments = message.attachments ?? [];
  const system = systemPrompt === undefined ? {} : { systemPrompt };
  const input = {
    ...run,
    ...system,
    provider: choice.provider.id,
    model: choice.model,
    prompt,
    historyMessages: [...session.history],
    imagesCount: imagesIn(attachments),
  };
  mustPass(await trail.dispatch('agent.llm.input', input, { signal }));
  const request = {
    ...system,
    runId: run.runId,
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
