export * from './host/index.js';
