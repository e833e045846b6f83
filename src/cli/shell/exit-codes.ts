/**
 * The exit codes of the commands. The `--help` of each command lists them, too.
 *
 * - `ok`: the command has done everything. A drain after the first Ctrl-C ends so, too.
 * - `failed`: something failed on the way, which a line on stderr names.
 * - `usage`: nothing ran, because the command line, the config or a file that they name is wrong.
 * - `interrupted`: a second signal ended the process at once.
 */
export const exitCodes = { ok: 0, failed: 1, usage: 2, interrupted: 130 } as const;

/** One of the exit codes. */
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** The paragraph on exit codes at the end of every help. */
export const exitCodeHelp = `Exit codes:
  0    done
  1    something failed; stderr says what
  2    nothing ran: the command line, the config or a file they name is wrong
  130  a second Ctrl-C ended it at once`;
