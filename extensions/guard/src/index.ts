export * from './agents/codec.js';
export * from './agents/index.js';
