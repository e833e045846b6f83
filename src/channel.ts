export * from './sdk/channel/index.js';
