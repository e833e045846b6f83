export * from './sdk/stream/index.js';
