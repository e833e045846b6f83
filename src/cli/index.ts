// The names with which a package adds to the command line, and with which a program runs it.

export { runCommandLine, type Surroundings } from './command-line.js';
export {
  badArguments,
  CommandError,
  checkNotStopped,
  interrupted,
} from './errors/command-error.js';
export { errorLine } from './errors/error-line.js';
export { jsonLine } from './print/json-line.js';
export { defaultWidth, type Layout, laidOut } from './print/layout.js';
export { printData } from './print/print-data.js';
export { type ExitCode, exitCodes } from './shell/exit-codes.js';
export { type Output, outputTo, screenOutput } from './shell/output.js';
export { paletteFor } from './shell/palette.js';
export type * from './shell/shell.js';
export { stopSignal } from './shell/stop-signal.js';
export { asWord, counted, printable, secretName, sentence } from './shell/text.js';
