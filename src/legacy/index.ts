export { type LegacyHook, legacyMapping } from './mapping.js';
