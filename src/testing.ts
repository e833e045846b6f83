export * from './openclaw/parity/index.js';
export * from './testing/index.js';
