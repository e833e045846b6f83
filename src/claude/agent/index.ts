import '../errors.js'; // merges the codes of this layer into ErrorCode

export { claudeProvider } from './claude.js';
export type { ClaudeProviderOptions } from './claude-options.js';
export {
  type ClaudePermissionMode,
  type ClaudeQuery,
  type ClaudeQueryOptions,
  type ClaudeRun,
  loadClaudeSdk,
} from './claude-sdk.js';
export { readRecording, replayProvider } from './replay.js';
