export * from './agents/codec.js';
export * from './agents/index.js';
export { commands } from './commands/commands.js';
export { watchSettings } from './commands/watch-settings.js';
