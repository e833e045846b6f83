export * from './openclaw/index.js';
