// The names of this layer that only the testing kit uses. They are no part of the package.

export { say } from './turn/say.js';
export { TurnPauses } from './turn/turn-pauses.js';
