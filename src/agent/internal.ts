// The names of this layer that only other packages of this repository use. They are no part of the package.

export { givenTools } from './tools/given-tools.js';
export { untilCut } from './turn/cut-off.js';
export { say } from './turn/say.js';
export { TurnPauses } from './turn/turn-pauses.js';
