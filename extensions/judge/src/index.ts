export type { AskedAbout, AskReply, CallFacts, JudgeOptions, ToolCall } from './options.js';
export { givenText, said, type ToolResult, textOf } from './text.js';
export * from './tool-judge.js';
