import type { PayloadOf } from 'sluice';
import { type Amount, maxFigure, microUsdOf, type Price, type Settings } from './config.js';

type Completed = Readonly<PayloadOf<'agent.completed'>>;
type Usage = NonNullable<Completed['usage']>;

/** The charge for a run, and if it is an estimate. */
interface Charge {
  readonly charge: Amount;
  readonly isGuess: boolean;
}

/**
 * Finds the charge for a run. One that has failed or was stopped is charged what it reports, and no
 * estimate for what it does not.
 *
 * @param model the model that was called; `undefined` if none was, `null` if nobody has seen the call.
 */
export function chargeOf(
  { usage, success, messages = [] }: Completed,
  model: string | null | undefined,
  settings: Pick<Settings, 'estimate' | 'prices'>,
): Charge {
  const isCharged = success && (usage !== undefined || model !== undefined);
  const estimate = isCharged ? settings.estimate : { tokens: 0, microUsd: 0 };
  if (usage === undefined) return { charge: estimate, isGuess: isCharged };
  const figures = figuresIn(usage);
  const tokens = tokensIn(figures);
  const price = priceOf(answeringModel(messages) ?? model ?? '', settings.prices);
  const microUsd = microUsdIn(figures, price);
  return {
    charge: { tokens: tokens ?? estimate.tokens, microUsd: microUsd ?? estimate.microUsd },
    isGuess:
      (tokens === undefined && estimate.tokens > 0) ||
      (microUsd === undefined && estimate.microUsd > 0),
  };
}

/** The figures that can be true: nobody checks what an agent reports. */
function figuresIn(usage: Usage): Usage {
  return Object.fromEntries(
    Object.entries(usage).filter(([, figure]) => Number.isFinite(figure) && figure >= 0),
  );
}

/** The total, or the sum of the counts if there is none; `undefined` if nothing was counted. */
function tokensIn({ totalTokens, ...figures }: Usage): number | undefined {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = figures;
  const counts = [inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens];
  const known = counts.filter((count) => count !== undefined);
  if (totalTokens === undefined && known.length === 0) return undefined;
  const sum = known.reduce((all, count) => all + count, 0);
  return Math.min(Math.ceil(totalTokens || sum), maxFigure);
}

/** Finds the money: as it was reported, or by the price. Tokens that only the total has count as output. */
function microUsdIn(usage: Usage, price: Price | undefined): number | undefined {
  if (usage.costUsd !== undefined) return Math.min(microUsdOf(usage.costUsd), maxFigure);
  const tokens = tokensIn(usage);
  if (price === undefined || tokens === undefined) return undefined;
  const { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  const counted = inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
  const others = Math.max(0, tokens - counted);
  const { input, output, cacheRead = input, cacheWrite = input } = price;
  const microUsd =
    inputTokens * input +
    (outputTokens + others) * output +
    cacheReadTokens * cacheRead +
    cacheWriteTokens * cacheWrite;
  return Math.min(Math.ceil(microUsd), maxFigure);
}

/** The price of a model: by its name, or by the longest beginning of it that ends in `*`. */
function priceOf(model: string, prices: Settings['prices']): Price | undefined {
  if (Object.hasOwn(prices, model)) return prices[model];
  const globs = Object.keys(prices).filter(
    (name) => name.endsWith('*') && model.startsWith(name.slice(0, -1)),
  );
  const [longest] = globs.toSorted((one, other) => other.length - one.length);
  return longest === undefined ? undefined : prices[longest];
}

/** The model that the last message names: an agent may have gone over to another than the one it was asked for. */
function answeringModel(messages: readonly unknown[]): string | undefined {
  const last = messages.findLast(
    (message): message is { readonly role: 'assistant'; readonly model?: unknown } =>
      typeof message === 'object' &&
      message !== null &&
      'role' in message &&
      message.role === 'assistant',
  );
  return typeof last?.model === 'string' ? last.model : undefined;
}
