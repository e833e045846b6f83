export * from './model-judge.js';
export type * from './options.js';
export { givenText, jsonOf, said, type ToolResult, textOf } from './text.js';
export * from './tool-judge.js';
