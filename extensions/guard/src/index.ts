export * from './agents/codec.js';
