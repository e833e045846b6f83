export * from './openclaw/gateway/index.js';
