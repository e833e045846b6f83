import { definedFields, Timer } from 'sluice-kernel/internal';
import type { RunFallback } from '../run/index.js';
import { untilCut } from './cut-off.js';
import { chooseModel, type ModelChoice, refOf } from './model.js';
import type { TurnScope } from './turn-fields.js';
import type { AgentAttempt, ModelRef } from './turn-options.js';

/** The codes of failures that may get better by being repeated. */
const repeatable: ReadonlySet<string> = new Set(['provider-failed', 'said-nothing']);

/**
 * Decides whether a turn gets another attempt, and with which model. Never rejects: a `shouldRetry` that throws is
 * logged, and ends the turn.
 *
 * @param resolved the model that was resolved for the turn.
 * @returns the model, and the note that it answers in the place of the one that was resolved.
 */
export async function nextAttempt(
  { options, signal, logger, clock }: TurnScope,
  resolved: ModelChoice,
  attempts: readonly AgentAttempt[],
) {
  const { retry = {}, provider, providers = [provider] } = options;
  const { shouldRetry = hasDoneNothing, fallbacks = [], maxWaitMs = 60_000 } = retry;
  const failed = attempts.at(-1);
  const maxAttempts = retry.maxAttempts ?? fallbacks.length + 1;
  if (failed?.error === undefined || !(attempts.length < maxAttempts)) return undefined;
  if (!repeatable.has(failed.error.code)) return undefined;
  try {
    const answer = await untilCut(Promise.resolve(shouldRetry(failed)), signal);
    if (answer !== true || signal.aborted) return undefined;
  } catch (error) {
    logger.error('retry.shouldRetry threw, so there is no other attempt', { error });
    return undefined;
  }
  const offered = fallbacks.flatMap((wish) => {
    const choice = chooseModel({ emitted: wish, resolved: wish }, providers, provider);
    if (typeof choice !== 'string') return [choice];
    logger.warn('a fallback is passed over', { ...wish, detail: choice });
    return [];
  });
  const choice = offered[attempts.length - 1] ?? offered.at(-1) ?? resolved;
  const { retryAfterMs } = failed.error;
  if (retryAfterMs !== undefined && failed.model && isSame(refOf(choice), failed.model)) {
    if (retryAfterMs > maxWaitMs) return undefined;
    using timer = new Timer(clock);
    await untilCut(new Promise<void>((over) => timer.set(retryAfterMs, over)), signal);
    if (signal.aborted) return undefined;
  }
  if (isSame(refOf(choice), refOf(resolved))) return { choice };
  return { choice, fallback: fallbackOf(resolved, choice, attempts) };
}

function hasDoneNothing({ error, assistantTexts, toolCalls }: AgentAttempt): boolean {
  return error?.code === 'said-nothing' || (assistantTexts.length === 0 && toolCalls === 0);
}

function isSame(a: ModelRef, b: ModelRef): boolean {
  return a.provider === b.provider && a.model === b.model;
}

function fallbackOf(
  selected: ModelChoice,
  active: ModelChoice,
  attempts: readonly AgentAttempt[],
): RunFallback {
  const reason = attempts.at(-1)?.error?.message;
  return {
    phase: 'active',
    selectedProvider: selected.provider.id,
    selectedModel: selected.model,
    activeProvider: active.provider.id,
    activeModel: active.model,
    ...definedFields({ reasonSummary: reason }),
    attemptSummaries: attempts.map(
      ({ model, error }) => `${model?.provider}/${model?.model}: ${error?.message ?? 'failed'}`,
    ),
    attempts: attempts.map(({ attempt, model, error }) => ({ attempt, ...model, ...error })),
  };
}
