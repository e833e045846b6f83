// The names of this layer that the composition of the command line uses. They are no part of the package.

export { openclawAddition } from './addition.js';
