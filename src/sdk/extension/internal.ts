// The names of this layer that other layers and tests use. They are no part of the package.

export { checkedBy, readConfig } from './config/config-schema.js';
export { type PackageCopy, thisCopy } from './define/copy.js';
export { sayIn } from './define/say-in.js';
export { compilerUrl } from './load/compiler.js';
export { homeFolder } from './load/home-folder.js';
export {
  findModule,
  importableUrl,
  importError,
  markedUrl,
  missingIn,
} from './load/load-module.js';
export { moduleFiles } from './load/module-files.js';
export { isDetached } from './load/own-group.js';
export { tapRelayOf } from './load/tap-relay.js';
export { readTimes } from './named/read-schedule.js';
export { memoryKeyValues } from './store/memory-key-values.js';
export { deleteValue, openStore } from './store/open-store.js';
export { notPlain } from './store/plain-json.js';
export { bytesOf, fits, isAsExpected } from './store/sizes.js';
export { hasFields, listItems, WorkItems } from './store/work-items.js';
