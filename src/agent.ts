export * from './agent/index.js';
export * from './claude/agent/index.js';
