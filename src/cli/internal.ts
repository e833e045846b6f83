// The names of this layer that only the commands of other packages of this repository use.

export { fileError } from './errors/file-error.js';
export { devDependencies, json, tsconfigOf } from './init/project-files.js';
export { ownCommand } from './inspect/own-command.js';
export { ownPackage } from './installed/own-package.js';
export { packageSource } from './installed/package-source.js';
export { withProgress } from './print/progress-bar.js';
export { unwritable, writeTextFile } from './print/write-file.js';
export { trapEffects } from './replay/effects-trap.js';
export { type Action, resource } from './resource/resource.js';
export * from './settings/config-file.js';
export { flagOption, type PipelineOptions } from './settings/flags.js';
export { lineLogger } from './settings/logger.js';
export {
  checkRecording,
  lineError,
  recordingLines,
  recordingPath,
} from './settings/recording-file.js';
export { readSettings } from './settings/settings.js';
