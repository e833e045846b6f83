import { memoryJournal, memoryStore } from '../../../src/host/index.js';
import { describeJournal } from './journal-contract.js';
import { describeStore } from './store-contract.js';

describeJournal('a journal in memory', async (options) => memoryJournal(options));
describeStore('a store in memory', async () => ({
  store: memoryStore(),
  close: async () => undefined,
}));
