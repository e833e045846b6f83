import { openSqlite } from 'sluice/host';
import { openClaims } from './claims.js';
import { readOptions, type ServerOptions } from './options.js';
import { startOwnershipServer } from './ownership-server.js';

/** The parts of its process that the command is given. */
interface ServerProcess {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  /** Writes one line. */
  readonly stdout: (line: string) => void;
  readonly stderr: (line: string) => void;
  /** Aborted by the first SIGTERM or Ctrl-C. */
  readonly stop: AbortSignal;
}

/** Milliseconds that requests have to end in when the server is stopped. */
const graceMs = 5_000;

/** Runs `sluice-ownership` until it is stopped. Never rejects. @returns its exit code, as its help explains them. */
export async function runServer(given: ServerProcess): Promise<0 | 1 | 2> {
  const options = readOptions(given.args, given.env, given.version);
  if ('help' in options) {
    given.stdout(options.help);
    return 0;
  }
  if ('problem' in options) {
    given.stderr(`sluice-ownership: bad-arguments: ${options.problem}. ${options.hint}`);
    return 2;
  }
  const report = teller(options, given);
  let database: ReturnType<typeof openSqlite>;
  let claims: ReturnType<typeof openClaims>;
  try {
    database = openSqlite(options.database);
    claims = openClaims(database, { ttlMs: options.ttlMs, now: Date.now });
  } catch (error) {
    given.stderr(`sluice-ownership: ${lineOf(error)}`);
    return 2;
  }
  try {
    const server = await startOwnershipServer({
      ...options,
      claims,
      onAnswered: ({ error, ...answered }) => {
        if (error !== undefined) given.stderr(`sluice-ownership: ${lineOf(error)}`);
        if (options.verbose) report('request', answered);
      },
    });
    report('listening', { url: server.url, database: options.database, ttlMs: options.ttlMs });
    await aborted(given.stop);
    await server.close(graceMs);
    report('stopped', { reason: String(given.stop.reason) });
    return 0;
  } catch (error) {
    given.stderr(`sluice-ownership: ${lineOf(error)} Choose another --host or --port.`);
    return 1;
  } finally {
    database.close();
  }
}

/** Tells of events: as JSON on stdout, or as lines for people on stderr. */
function teller(
  { json }: ServerOptions,
  { stdout, stderr }: ServerProcess,
): (event: string, fields: Readonly<Record<string, string | number>>) => void {
  return (event, fields) => {
    if (json) stdout(JSON.stringify({ event, ...fields }));
    else
      stderr(
        `sluice-ownership: ${event}${Object.entries(fields)
          .map(([name, value]) => ` ${name}=${value}`)
          .join('')}`,
      );
  };
}

/** An error in one line: its code and what to do, where it has them. */
function lineOf(error: unknown): string {
  const { code, hint } = error as { readonly code?: unknown; readonly hint?: unknown }; // of whatever was thrown
  const text = error instanceof Error ? error.message : String(error);
  const what = `${text.replace(/\s+/g, ' ').replace(/\.+$/, '')}.`;
  return [typeof code === 'string' ? `${code}:` : '', what, hint ?? ''].join(' ').trim();
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
