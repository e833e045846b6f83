// The names of this layer that other layers and tests use. They are no part of the package.

export { readConfig } from './define/config-schema.js';
export { thisCopy } from './define/copy.js';
export { findModule, importableUrl, importError, missingIn } from './load/load-module.js';
export { moduleFiles } from './load/module-files.js';
export { syntaxPlace } from './load/syntax-place.js';
