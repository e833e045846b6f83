export { explainOutcome } from '../kernel/index.js';
export { type CollectingLogger, collectingLogger, type LogEntry } from './collecting-logger.js';
export { expectCancelled, expectFailed, expectPassed, explain } from './expect-outcome.js';
export { type LoadedForTest, type LoadForTestOptions, loadForTest } from './load-for-test.js';
export { samplePayload } from './samples.js';
export { sequentialIds } from './sequential-ids.js';
export { createTestKernel, type TestKernel, type TestKernelOptions } from './test-kernel.js';
export { type VirtualClock, virtualClock, virtualStartMs } from './virtual-clock.js';
