export { type CollectingLogger, collectingLogger, type LogEntry } from './collecting-logger.js';
export * from './conformance/agent-conformance.js';
export { channelConformance } from './conformance/channel-conformance.js';
export type { ConformanceCheck } from './conformance/check.js';
export type { ChannelConformanceOptions, ChannelUnderTest } from './conformance/running-channel.js';
export { expectCancelled, expectFailed, expectPassed, explain } from './expect-outcome.js';
export { commandContext } from './host/command-context.js';
export { expectDenied, expectReply } from './host/expect-reply.js';
export * from './host/fake-channel.js';
export * from './host/scripted-agent.js';
export * from './host/test-host.js';
export { type LoadedForTest, type LoadForTestOptions, loadForTest } from './load-for-test.js';
export { samplePayload } from './samples.js';
export {
  createTestKernel,
  sequentialIds,
  type TestKernel,
  type TestKernelOptions,
} from './test-kernel.js';
export { type VirtualClock, virtualClock, virtualStartMs } from './virtual-clock.js';
