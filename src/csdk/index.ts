export type { CsdkFrame } from './frame.js';
export { normalizeSession } from './normalize-session.js';
export { type MalformedLine, readFrames } from './read-frames.js';
export { splitRuns } from './split-runs.js';
