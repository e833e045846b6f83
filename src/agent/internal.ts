// The names of this layer that other packages use. They are no part of the package.

export * from './run/index.js';
export { givenTools } from './tools/given-tools.js';
export { untilCut } from './turn/cut-off.js';
export { say } from './turn/said/say.js';
export { TurnPauses } from './turn/turn-pauses.js';
