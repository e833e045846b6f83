export { explainOutcome } from '../kernel/index.js';
export { type CollectingLogger, collectingLogger, type LogEntry } from './collecting-logger.js';
export {
  type AgentConformanceOptions,
  type AgentUnderTest,
  agentConformance,
} from './conformance/agent-conformance.js';
export { channelConformance } from './conformance/channel-conformance.js';
export type { ConformanceCheck } from './conformance/check.js';
export type { ChannelConformanceOptions, ChannelUnderTest } from './conformance/running-channel.js';
export { expectCancelled, expectFailed, expectPassed, explain } from './expect-outcome.js';
export { commandContext } from './host/command-context.js';
export { expectDenied, expectReply } from './host/expect-reply.js';
export {
  type FakeChannel,
  type FakeChannelOptions,
  type FakeSend,
  fakeChannel,
  type Said,
} from './host/fake-channel.js';
export {
  type AgentStep,
  type ScriptedAgent,
  type ScriptedToolCall,
  scriptedAgent,
} from './host/scripted-agent.js';
export {
  startTestHost,
  type TestHost,
  type TestHostOptions,
  type TestMessageEnd,
} from './host/test-host.js';
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
