import { inOrder, modelHistory } from '@sluice/sdk/stream/internal';
import { definedFields } from 'sluice-kernel/internal';
import { whenPassed } from '../run/index.js';
import { judgeCall, resolveAnswer } from './answer.js';
import { type ModelChoice, resolveModel } from './model.js';
import { buildPrompt } from './prompt.js';
import { type AttemptScope, imagesIn } from './turn-fields.js';

/**
 * Goes through the stages before the provider: `agent.starting`, `agent.answer.resolving` and, if nobody answers in place of the
 * model, `agent.model.resolving`, `agent.prompt.building`, `agent.llm.calling` and `agent.llm.input`.
 *
 * @param chosen the model, where it has been resolved already: that is done once per run (seed 001).
 * @returns the answer in place of the model, or the choice and a request that lacks only what asks and tells the pipeline.
 * @throws RunFailure `no-model` or `stage-failed`.
 */
export async function prepareAttempt(scope: AttemptScope, chosen: ModelChoice | undefined) {
  const { options, fields, run, signal, attempt, begun } = scope;
  const { message, session, callbacks } = options;
  const verboseLevel = callbacks?.verboseLevel;
  const starting = { prompt: message.text, attempt, ...definedFields({ verboseLevel }) };
  const answering = whenPassed(run.start(starting), () => resolveAnswer(scope));
  const answer = answering instanceof Promise ? await answering : answering;
  if (answer !== undefined) return { answer };
  const choosing = chosen ?? resolveModel(scope);
  const choice = choosing instanceof Promise ? await choosing : choosing;
  const building = buildPrompt(scope);
  const built = building instanceof Promise ? await building : building;
  let calls = 0;
  const { prompt, systemPrompt } = built;
  const attachments = message.attachments ?? [];
  const input = () => ({
    provider: choice.provider.id,
    model: choice.model,
    prompt,
    historyMessages: [...session.history, ...(begun ?? [])],
    imagesCount: imagesIn(attachments),
    ...definedFields({ systemPrompt }),
  });
  const telling = inOrder(
    () => judgeCall(scope, choice, built, 1),
    () => whenPassed(run.input(input), () => undefined),
  );
  if (telling !== undefined) await telling;
  const request = {
    runId: fields.runId,
    agentId: session.agentId,
    sessionId: session.sessionId,
    sessionKey: session.sessionKey,
    model: choice.model,
    prompt,
    attachments,
    history: modelHistory(session.history),
    session: {
      context: session.context ?? {},
      memoryKeys: session.memoryKeys ?? [],
      metadata: session.metadata ?? {},
    },
    signal: signal.signal,
    llmCalling: () => (calls++ === 0 ? undefined : judgeCall(scope, choice, built, calls)), // the first was judged above
    graceMs: scope.graceMs,
    ...definedFields({
      systemPrompt,
      beforeHistory: session.beforeHistory,
      surroundings: scope.surroundings,
    }),
  };
  return { choice, request };
}
