export * from './agent/index.js';
