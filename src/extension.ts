export * from './sdk/extension/index.js';
