export { default } from './carried/extension.js';
export { ImportError, type ImportErrorCode } from './import-error.js';
export { type Imported, type ImportOptions, importOpenClaw } from './import-openclaw.js';
export type { Finding } from './report/report.js';
export type { Verdict } from './report/rows.js';
