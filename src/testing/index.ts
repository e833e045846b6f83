export { explainOutcome } from '../kernel/index.js';
export { type CollectingLogger, collectingLogger, type LogEntry } from './collecting-logger.js';
export { expectCancelled, expectFailed, expectPassed, explain } from './expect-outcome.js';
export { type LoadedForTest, type LoadForTestOptions, loadForTest } from './load-for-test.js';
export {
  compareParity,
  compareRuns,
  type ParityOptions,
  type ParityReport,
} from './parity/compare-parity.js';
export { type ParityDifference, parityDifferences } from './parity/differences.js';
export {
  type AnyLegacyRunner,
  type MakeLegacyRunner,
  type ParityCall,
  type ParityEnding,
  type ParityHandler,
  type ParityLine,
  type ParityRun,
  type ParityScenario,
  recordParityRun,
} from './parity/parity-run.js';
export { pipelineRunner } from './parity/pipeline-runner.js';
export { samplePayload } from './samples.js';
export { sequentialIds } from './sequential-ids.js';
export { createTestKernel, type TestKernel, type TestKernelOptions } from './test-kernel.js';
export { type VirtualClock, virtualClock, virtualStartMs } from './virtual-clock.js';
