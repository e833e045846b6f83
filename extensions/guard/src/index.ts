import { fileURLToPath } from 'node:url';

export * from './agents/codec.js';
export * from './agents/index.js';
export { commands } from './commands/commands.js';
export { watchSettings } from './commands/watch-settings.js';
export { type GuardConfig, guardConfig } from './config.js';
export { type DoorPlace, isRunning, readDoor, tokenOf } from './door/place.js';
export { default } from './guard.js';
export { guardMcp } from './mcp/index.js';

/** The client of agents whose hooks are commands: `node CLIENT AGENT HOOK FOLDER [closed|open]`. */
export const clientFile: string = fileURLToPath(new URL('./client/client.js', import.meta.url));
