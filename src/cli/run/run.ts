import { pid } from 'node:process';
import { createHost, type Host, type HostOptions, timelineRecorder } from '@sluice/host';
import { hostSettings } from '@sluice/host/internal';
import { type Scrub, scrubber, withoutSecrets } from '@sluice/journal/internal';
import { type ChannelPlugin, consoleChannel } from '@sluice/sdk/channel';
import { HandlerWatch, Scope } from '@sluice/sdk/extension';
import { type Command, Option } from 'commander';
import { definedFields } from 'sluice-kernel/internal';
import { badArguments } from '../errors/command-error.js';
import { agentDefinitions } from '../pipeline/agent-definitions.js';
import { addChannelOptions, withChannelOptions } from '../pipeline/channel-options.js';
import { noSuchChannel } from '../pipeline/channel-packages.js';
import { openPersistence } from '../pipeline/open-persistence.js';
import { openPipeline, type Pipeline } from '../pipeline/pipeline.js';
import { addPipelineOptions, type PipelineOptions } from '../settings/flags.js';
import { openLog } from '../settings/logger.js';
import { lineError } from '../settings/recording-file.js';
import { readSettings, type Settings } from '../settings/settings.js';
import { asCliCommand } from '../shell/cli-command.js';
import { type ExitCode, exitCodes } from '../shell/exit-codes.js';
import { holdProcess } from '../shell/hold-process.js';
import { scrubbedShell } from '../shell/output.js';
import type { AddCommand, Shell } from '../shell/shell.js';
import { announced } from './announced.js';
import { consoleInput } from './console-input.js';
import { openHealthPort } from './health-port.js';
import { refuseMisspeltRoles } from './misspelt-roles.js';
import { Progress } from './progress.js';
import { reloadOn } from './reload-on.js';
import { type ViewOptions, viewFor } from './run-view.js';

interface RunOptions extends PipelineOptions, ViewOptions {
  readonly agent?: string;
  readonly channel?: string;
  readonly help?: boolean;
  readonly watch?: boolean;
  readonly verbose: 'off' | 'on' | 'full';
  readonly reasoning: 'off' | 'on' | 'stream';
}

const help = `
Each line that you type, or that comes by a pipe, is a message. Under its reply stands
the way it took: its stages, their handlers in run order and what each of them did.
If stdout is no terminal, it gets the replies, and stderr gets the ways. If neither is a
terminal, as in a service, no way is printed: --way prints them all the same.

Claude works in this folder with all its tools, runs what no veto refuses, and reads
its key from the environment. It needs @anthropic-ai/claude-agent-sdk installed.

Each message of the agent is shown before the tools that it calls run: on a terminal while
it grows; without a terminal, or if an extension has to see all of it, when it is whole.
With --verbose on, each tool call is, too; with full, what the tool answered. With
--reasoning on, the model's reasoning stands with its answer; with stream, it is shown
before that, as it grows.

Ctrl-C stops the answer that is being made. If there is none, a terminal drops the line
that is being typed, and the next Ctrl-C ends the host; without a terminal the first one
ends it. The host then finishes what has begun, as for SIGTERM, and the exit code is 0;
another signal exits at once. At the end of the input, the exit code is 1 if a message
failed.

Examples:
  $ sluice run
  $ echo hi | sluice run --quiet
  $ sluice run --agent replay:example
  $ sluice run --agent replay:session.jsonl --extension ./quiet-hours.js
  $ sluice run --agent claude --extension ./ask-first.js --verbose on
  $ sluice run --extension ./ask-first.js --audit ask-first --journal ./sluice.db
  $ sluice run --plugin ./thread-ownership
  $ sluice run --config sluice.json
  $ sluice run --channel pigeon --journal ./sluice.db
  $ OPENCLAW_GATEWAY_TOKEN=... sluice run --agent openclaw --url ws://127.0.0.1:18789

A channel is the console, one that an extension provides, or one of a package that is
named after it: --channel pigeon loads the package sluice-pigeon. The page of a package
and \`sluice run --channel pigeon --help\` have the options that the channel adds.

A config file, sluice.config.json here; sluice.config.ts has the same in defineConfig:
  {
    "agent": "echo",
    "extensions": [{ "path": "./quiet-hours.js", "config": { "from": "22:00" } }],
    "plugins": [{ "path": "./acme", "config": { "token": { "env": "TOKEN" } } }],
    "grants": { "persona": ["agent.prompt.building:systemPrompt"] },
    "overrides": { "quiet-hours/night": { "priority": 10 } }
  }
A secret is named, not written: { "env": "NAME" } or { "secretFile": "PATH" }.`;

/** Adds `sluice run`: the host. */
export const addCommand: AddCommand = (command, shell, done) => {
  addPipelineOptions(
    command,
    shell.additions,
    ...(['agent', 'channels', 'gateway.url', 'journal.path', 'health.port'] as const),
    ...(['inspect.port', 'inspect.write', 'inspect.text', 'strict', 'audit'] as const),
  )
    .addOption(
      new Option('--json', 'print a line of JSON per dispatch, and nothing else').conflicts(
        'quiet',
      ),
    )
    .option('-q, --quiet', 'print replies only')
    .option('--way', 'print the way of each message also if nobody looks at a terminal')
    .option('-w, --watch', 'reload an extension when its files change')
    .addOption(
      new Option('--verbose <level>', 'show what tools do')
        .choices(['off', 'on', 'full'])
        .default('off'),
    )
    .addOption(
      new Option('--reasoning <mode>', "show the model's reasoning")
        .choices(['off', 'on', 'stream'])
        .default('off'),
    )
    .addHelpText('after', help)
    .helpOption(false) // it names the options of a channel as well
    .option('-h, --help', 'display help for command, with the options of the channel')
    .allowUnknownOption() // a channel may declare it
    .allowExcessArguments()
    .action(async (options: RunOptions) => {
      if (options.help !== true) return done(await run(options, command, shell));
      const lacking = await addChannelOptions(command, options.channel, shell.cwd);
      command.outputHelp();
      if (lacking !== undefined) shell.stderr.lines([`sluice: ${lacking}`]);
      return done(exitCodes.ok);
    });
};

async function run(options: RunOptions, command: Command, given: Shell): Promise<ExitCode> {
  const settings = await withChannelOptions(await readSettings(options, given), command);
  const scrub = scrubOf(settings, (problem) =>
    log.logger.error('a text could not be scrubbed, and is left out', { detail: problem }),
  );
  const shell = scrubbedShell(given, scrub, options.json === true);
  const progress = new Progress(shell, options.debug === true);
  const view = viewFor(options, shell);
  const hasConsole = settings.channels?.includes('console') ?? true;
  const isSeen = hasConsole || options.quiet === true;
  const level = isSeen ? view.logLevel : 'info'; // nobody sees the messages of other channels here
  await using log = openLog(settings, shell, { level, scrub, debug: options.debug === true });
  const { logger } = log;
  warnOfSettings(options, settings, shell);
  await using scope = new Scope('agents', logger); // what they hold open goes after the host
  const timeline = timelineRecorder({ logger });
  if (view.hear !== undefined) timeline.listen(view.hear);
  await using kept = await openPersistence(settings, timeline, {
    ...{ scrub, logger, signal: shell.stop },
  });
  const { quarantine, handlerWatch } = settings;
  using watch = handlerWatch === false ? undefined : new HandlerWatch({ ...handlerWatch, logger });
  await using pipeline = await openPipeline(settings, logger, {
    ...timeline.kernelOptions(),
    data: kept.extensionData,
    ...(quarantine !== false && { quarantine }),
    ...definedFields({ watch }),
  });
  const { kernel, plugins, extensions } = pipeline;
  if (!progress.mayStart(pipeline, settings)) return exitCodes.usage;
  const agents = await agentDefinitions(settings, extensions, {
    ...shell,
    ...{ plugins, logger, scope },
    onMalformed: (file, line) => progress.report(lineError(file, line)),
  });
  const input = consoleInput(shell, view, () => progress.host);
  const host = createHost(
    {
      ...hostSettings(settings),
      ...{ agents, extensions, plugins, journal: kept.journal },
      channels: channelsFor(settings, pipeline, () =>
        consoleChannel({ ...view, lines: input.lines }),
      ),
      approvals: { ...settings.approvals, clean: withoutSecrets(settings.secrets) },
    },
    {
      kernel, // the extensions in it are to see the command itself, too, which goes on when the host has stopped
      ...{ logger, timeline },
      replies: { verboseLevel: options.verbose, reasoningMode: options.reasoning },
      about: { version: shell.version, pid, workspaceDir: shell.cwd },
      onMessageEnd: ({ status }) => progress.ended(status),
    },
  );
  progress.host = host;
  given.takeStop(); // the host finishes what has begun
  shell.onInterrupt(() => input.interrupted());
  const { opened } = kept.journal;
  await using _health = await openHealthPort(host, settings, shell, { journal: opened, logger });
  const inspector = settings.inspect && (await import('../inspect/open-inspector.js')); // most runs have no page
  const inspected = settings.place === undefined ? { journal: opened } : { place: settings.place };
  await using _page = await inspector?.openInspector(
    { ...inspected, host },
    options,
    settings,
    shell,
    logger,
  );
  const reloading = reloadOn(host, extensions, options, shell);
  kept.nameVersions(
    (id) => extensions.live.find((one) => one.extensionId === id)?.manifest.version,
  );
  await kept.announce?.(announced(settings, options, pipeline, shell.version));
  return await asCliCommand(kernel, 'run', shell, async () => {
    using _watch = reloading;
    const isDone = await untilStopped(host, shell.stop, settings, () => {
      watch?.watchLoop();
      shell.stderr.lines([...view.plugins(plugins), ...(hasConsole ? view.greeting : [])]);
    });
    return progress.exitCode(isDone, opened.lost);
  });
}

/** Makes the scrub of the settings, if they have one. @param tell hears once of each reason why texts are left out. */
function scrubOf({ journal }: Settings, tell: (problem: string) => void): Scrub | undefined {
  const told = new Set<string>();
  const onLeftOut = (problem: string): void => {
    if (told.has(problem)) return;
    told.add(problem); // before: the log passes the scrub, too
    tell(problem);
  };
  return journal?.scrub && scrubber({ onLeftOut, ...journal.scrub });
}

/**
 * Warns of secret files that others may read.
 *
 * @throws CommandError `bad-arguments` if a flag is about something that is not there.
 */
function warnOfSettings(
  { url, inspect, inspectWrite, inspectText }: RunOptions,
  { config, agents }: Settings,
  { stderr }: Shell,
): void {
  for (const [file, mode] of config?.exposed ?? []) {
    const what = `others may read the secret file ${file} (mode ${mode})`;
    stderr.lines([`sluice: warn: ${what}. Run \`chmod 600\` on it.`]);
  }
  if (
    url !== undefined &&
    !agents.some(({ choice: { kind } }) => kind !== 'provided' && kind.isBehindGateway)
  )
    throw badArguments(
      '--url names a gateway, and no agent is behind one',
      'Add --agent openclaw, or leave --url out.',
    );
  const hasPage = inspect !== undefined || Object(config?.written).inspect !== undefined;
  if (!hasPage && (inspectWrite === true || inspectText === true))
    throw badArguments(
      '--inspect-write and --inspect-text belong to the page, and there is none',
      'Add --inspect.',
    );
}

/**
 * The channels of a host: the console, those that extensions provide, or those of them that are asked for.
 *
 * @throws CommandError `bad-arguments` if nothing provides one that is asked for.
 */
function channelsFor(
  { channels, roles, workspaceDir }: Settings,
  { extensions }: Pipeline,
  console: () => ChannelPlugin,
): NonNullable<HostOptions['channels']> {
  const provided = extensions.live.flatMap((one) => one.provided('channel')).map(({ id }) => id);
  const known = ['console', ...provided];
  const unknown = channels?.find((name) => !known.includes(name));
  if (unknown !== undefined) throw noSuchChannel(unknown, provided, workspaceDir);
  refuseMisspeltRoles(roles, known);
  if (channels === undefined) return [console()];
  return [...(channels.includes('console') ? [console()] : []), ...channels];
}

/** Runs the host until its input ends or the signal aborts. @returns whether every message was done with. */
async function untilStopped(
  host: Host,
  stop: AbortSignal,
  { budgets }: Pick<Settings, 'budgets'>,
  onStarted: () => void,
): Promise<boolean> {
  const { drainTimeoutMs } = budgets;
  const stopHost = (): void => {
    const budget = drainTimeoutMs === undefined ? {} : { timeoutMs: drainTimeoutMs };
    void host.stop({ reason: String(stop.reason), ...budget });
  };
  stop.addEventListener('abort', stopHost, { once: true });
  if (stop.aborted) return true;
  using _held = holdProcess(); // a channel may have nothing that does: one that takes messages in by a route, say
  await host.start();
  onStarted();
  return (await host.stopped).drained;
}
