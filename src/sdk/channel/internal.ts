// The names of this layer that other layers and tests use. They are no part of the package.

export { checkPermit } from './check-permit.js';
