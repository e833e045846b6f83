// The names of this layer that only the testing kit uses. They are no part of the package.

export { givenTools } from './tools/given-tools.js';
export { say } from './turn/say.js';
export { TurnPauses } from './turn/turn-pauses.js';
