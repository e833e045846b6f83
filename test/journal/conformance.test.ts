import { join } from 'node:path';
import { memoryJournal, memoryStore, openJournal, tendJournal } from '../../src/journal/index.js';
import { testFolder } from '../support/folder.js';
import { describeConformance } from './conformance.js';

describeConformance(
  'a journal in memory',
  () => ({ open: async (given) => ({ ...memoryJournal(given), store: memoryStore() }) }),
  false,
);

describeConformance('a journal in a file', () => {
  const path = join(testFolder(), 'sluice.db');
  return { open: (given) => openJournal(path, given), tend: () => tendJournal(path) };
});
