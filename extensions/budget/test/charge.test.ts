import { describe, expect, it } from 'vitest';
import { chargeOf } from '../src/charge.js';

const estimate = { tokens: 100, microUsd: 70_000 };
const prices = { m: { input: 1, output: 2 } };
const most = 1_000_000_000_000;

/** The charge for a usage, with a price of the model: tokens, millionths of a dollar, and if they are an estimate. */
function charged(usage: object, model: string | null | undefined = 'm') {
  const run = { success: true, usage };
  const { charge, isGuess } = chargeOf(run, model, { estimate, prices });
  return [charge.tokens, charge.microUsd, isGuess];
}

describe('the charge for a run', () => {
  it('that has failed or was stopped is what it reports, and else nothing (judgement §6.12)', () => {
    const charge = (usage?: object) =>
      chargeOf({ success: false, ...(usage && { usage }) } as never, 'm', { estimate, prices: {} }); // as an agent reports it
    expect(charge()).toEqual({ charge: { tokens: 0, microUsd: 0 }, isGuess: false });
    const told = { tokens: 7, microUsd: 0 }; // its model has no price
    expect(charge({ totalTokens: 7 })).toEqual({ charge: told, isGuess: false });
    expect(charge({})).toEqual(charge());
  });

  it.each([
    [{ inputTokens: 3, outputTokens: 4 }, [7, 11, false]],
    [{ inputTokens: 3, outputTokens: 4, totalTokens: 9 }, [9, 15, false]],
    [{ inputTokens: 3, outputTokens: 4, totalTokens: 0 }, [7, 11, false]],
    [{ totalTokens: 0 }, [0, 0, false]],
    [{ totalTokens: 5, costUsd: 0.25 }, [5, 250_000, false]],
  ])('is that of %j (judgement §6.12)', (usage, charge) => {
    expect(charged(usage)).toEqual(charge);
  });

  it.each([
    [{}, [100, 70_000, true]],
    [{ costUsd: 0.25 }, [100, 250_000, true]],
    [{ totalTokens: Number.NaN }, [100, 70_000, true]],
    [{ outputTokens: -50, costUsd: -1 }, [100, 70_000, true]],
    [{ outputTokens: 5, totalTokens: -50 }, [5, 10, false]],
    [{ totalTokens: 5, costUsd: Number.POSITIVE_INFINITY }, [5, 10, false]],
    [{ totalTokens: 5, costUsd: Number.NaN }, [5, 10, false]],
  ])(
    'is an estimate for what %j does not say, and never less than nothing (judgement §6.12)',
    (usage, charge) => {
      expect(charged(usage)).toEqual(charge);
    },
  );

  it.each([
    [{ totalTokens: 1e300 }, [most, most, false]],
    [{ inputTokens: 1e308, outputTokens: 1e308 }, [most, most, false]],
    [{ totalTokens: 0.5, costUsd: 1e308 }, [1, most, false]],
  ])('of %j is a whole number within bounds (judgement §6.12)', (usage, charge) => {
    expect(charged(usage)).toEqual(charge);
  });
});
