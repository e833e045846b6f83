export * from './sdk/chat/index.js';
