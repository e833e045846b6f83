export * from './host/index.js';
export * from './journal/index.js';
export * from './postgres/index.js';
