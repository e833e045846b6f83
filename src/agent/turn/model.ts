import type { AgentProvider } from '@sluice/sdk/stream';
import { RunFailure, whenPassed } from '../run/index.js';
import { type AttemptScope, imagesIn } from './turn-fields.js';
import type { ModelRef } from './turn-options.js';

/** The provider and model that a turn uses. */
export interface ModelChoice {
  readonly provider: AgentProvider;
  readonly model: string;
}

/** The model that `agent.model.resolving` was emitted with, and the model that its handlers chose. */
export interface ModelWish {
  readonly emitted: { readonly provider: string; readonly model: string };
  readonly resolved: { readonly provider: string; readonly model: string };
}

/**
 * Asks `agent.model.resolving` which model answers.
 *
 * @throws RunFailure `no-model`, with the list of what there is, or `stage-failed`.
 */
export function resolveModel(scope: AttemptScope): ModelChoice | Promise<ModelChoice> {
  const { options, trail, fields, signal } = scope;
  const { provider, model = provider.models[0] ?? '', message, providers = [provider] } = options;
  const emitted = { provider: provider.id, model };
  const payload = () => ({
    prompt: message.text,
    providers: providers.map(({ id }) => id),
    imagesCount: imagesIn(message.attachments),
    ...emitted,
    ...fields,
  });
  return whenPassed(trail.tell('agent.model.resolving', payload, signal), (outcome) => {
    const { provider: id = provider.id, model: name = model } = outcome?.payload ?? {};
    const resolved = { provider: id, model: name };
    const choice = chooseModel({ emitted, resolved }, providers, provider);
    if (typeof choice === 'string') throw new RunFailure('no-model', choice);
    return choice;
  });
}

/**
 * Validates the wish for a model against what is on offer. Backend selection fails closed: nothing is put in
 * the place of a model that is not there. A provider that was chosen without a model gets its own default.
 *
 * @param own the provider of the agent: its id means it, also if another provider has the same id (spec §16.21).
 * @returns the choice, or why there is none, with the list of what there is.
 * @example
 * const choice = chooseModel({ emitted, resolved }, providers);
 * if (typeof choice === 'string') throw new Error(choice);
 */
export function chooseModel(
  wish: ModelWish,
  providers: readonly AgentProvider[],
  own?: AgentProvider,
): ModelChoice | string {
  const { emitted, resolved } = wish;
  const isMeant = ({ id }: AgentProvider): boolean => id === resolved.provider;
  const provider = own !== undefined && isMeant(own) ? own : providers.find(isMeant);
  if (provider === undefined)
    return `there is no provider "${resolved.provider}"; there are: ${list(providers)}`;
  const onlyProviderChosen =
    resolved.provider !== emitted.provider && resolved.model === emitted.model;
  if (provider.models.includes(resolved.model)) return { provider, model: resolved.model };
  const [first] = provider.models;
  if (onlyProviderChosen && first !== undefined) return { provider, model: first };
  return `provider "${provider.id}" has no model "${resolved.model}"; there are: ${list(providers)}`;
}

function list(providers: readonly AgentProvider[]): string {
  return providers.flatMap(({ id, models }) => models.map((model) => `${id}/${model}`)).join(', ');
}

/** A choice as its provider's id and its model. */
export function refOf({ provider, model }: ModelChoice): ModelRef {
  return { provider: provider.id, model };
}
