import { describe } from 'vitest';
import { memoryKeyValues } from '../../../../src/sdk/extension/store/memory-key-values.js';
import { keyValuesContract } from './key-values-contract.js';

describe('a store in memory (extensions-that-act §2)', () => {
  keyValuesContract(async (clock) => ({
    handles: [memoryKeyValues(clock)],
    [Symbol.asyncDispose]: async () => undefined,
  }));
});
