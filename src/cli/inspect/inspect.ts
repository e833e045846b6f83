import { once } from 'node:events';
import { journalPlace } from '../journal/journal-of.js';
import { jsonLine } from '../print/json-line.js';
import { addPipelineOptions, type PipelineOptions } from '../settings/flags.js';
import { readSettings } from '../settings/settings.js';
import { type ExitCode, exitCodes } from '../shell/exit-codes.js';
import { holdProcess } from '../shell/hold-process.js';
import type { AddCommand, Shell } from '../shell/shell.js';
import { openInspector } from './open-inspector.js';

const help = `
The page shows the way of each message, dead letters, questions, extensions and stages,
and what today's extensions would do otherwise. No host has to run; one may.
\`sluice run --inspect\` shows the running host, too. The page is in the package
sluice-inspector.

It listens at 127.0.0.1. The address on stderr holds a token: whoever has it may look.
The page changes nothing unless --inspect-write is given.

Examples:
  $ sluice inspect --journal ./sluice.db
  $ sluice inspect --journal ./sluice.db --inspect-write --port 7007`;

/** Adds `sluice inspect`, which opens a page in the browser on a journal. */
export const addCommand: AddCommand = (command, shell, done) => {
  addPipelineOptions(command, shell.additions, 'inspect.write', 'inspect.text')
    .option('-j, --journal <file>', 'the journal (default: that of the config file)')
    .option('--port <number>', 'the port of the page (default: one that is free)')
    .option('--json', 'print the address as a line of JSON, too')
    .addHelpText('after', help)
    .action(async (options: InspectOptions) => done(await inspect(options, shell)));
};

interface InspectOptions extends PipelineOptions {
  readonly journal?: string;
  readonly port?: string;
}

async function inspect({ port, ...options }: InspectOptions, shell: Shell): Promise<ExitCode> {
  const place = await journalPlace(options, shell);
  const settings = await readSettings({ ...options, inspect: port }, shell);
  await using page = await openInspector({ place }, options, settings, shell);
  if (options.json === true) shell.stdout.lines([jsonLine({ url: page.url })]);
  using _held = holdProcess();
  const stop = shell.takeStop();
  if (!stop.aborted) await once(stop, 'abort');
  return exitCodes.ok;
}
