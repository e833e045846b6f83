import { pid } from 'node:process';
import { createHost, type Host, timelineRecorder } from '@sluice/host';
import { consoleChannel } from '@sluice/sdk/channel';
import { HandlerWatch, Scope } from '@sluice/sdk/extension';
import { type Command, Option } from 'commander';
import { definedFields } from 'sluice-kernel/internal';
import { badArguments } from '../errors/command-error.js';
import { errorLine } from '../errors/error-line.js';
import type { InspectorChoice } from '../inspect/open-inspector.js';
import { agentDefinitions, providedBy } from '../pipeline/agent-definitions.js';
import { addChannelOptions, withChannelOptions } from '../pipeline/channel-options.js';
import { channelsOf } from '../pipeline/channel-packages.js';
import { openPersistence } from '../pipeline/open-persistence.js';
import { openPipeline } from '../pipeline/pipeline.js';
import { agentForms } from '../settings/agent-choice.js';
import { openLog } from '../settings/logger.js';
import { lineError } from '../settings/recording-file.js';
import {
  addPipelineOptions,
  collect,
  readSettings,
  type Settings,
  type SettingsOptions,
} from '../settings/settings.js';
import { asCliCommand } from '../shell/cli-command.js';
import { type ExitCode, exitCodes } from '../shell/exit-codes.js';
import { holdProcess } from '../shell/hold-process.js';
import type { AddCommand, Shell } from '../shell/shell.js';
import { announced } from './announced.js';
import { consoleInput } from './console-input.js';
import { openHealthPort } from './health-port.js';
import { hostBounds } from './host-bounds.js';
import { refuseMisspeltRoles } from './misspelt-roles.js';
import { reloadOn } from './reload-on.js';
import { viewFor } from './run-view.js';

interface RunOptions extends Omit<InspectorChoice, 'port'>, Omit<SettingsOptions, 'journal'> {
  readonly healthPort?: string;
  readonly inspect?: string | true;
  readonly quiet?: boolean;
  readonly help?: boolean;
  readonly watch?: boolean;
  readonly verbose: 'off' | 'on' | 'full';
  readonly reasoning: 'off' | 'on' | 'stream';
}

const help = `
Each line that you type, or that comes by a pipe, is a message. Under its reply stands
the way it took: its stages, their handlers in run order and what each of them did.
If stdout is no terminal, it gets the replies, and stderr gets the timeline.

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
  addPipelineOptions(command)
    .option(
      '-a, --agent <name>',
      `the agent that answers: ${agentForms(shell.additions)} (default: echo)`,
    )
    .option(
      '--channel <name>',
      'the channel that messages come from: console, or one of an extension or package (default: console)',
    )
    .option('--url <url>', 'the gateway of the agent openclaw (default: ws://127.0.0.1:18789)')
    .addOption(
      new Option('--json', 'print a line of JSON per dispatch, and nothing else').conflicts(
        'quiet',
      ),
    )
    .option('--journal <file>', 'keep messages and sends in this file, over a restart')
    .option('--health-port <number>', 'answer /healthz and /readyz at 127.0.0.1, for a monitor')
    .option('--inspect [port]', 'open the page of sluice-inspector on this host')
    .option('--inspect-write', 'let that page change things: retry, purge, answer, reload, stop')
    .option('--inspect-text', 'let that page search in the texts of messages')
    .option('-q, --quiet', 'print replies only')
    .option('--strict', 'do not start where an extension or a plugin cannot be loaded')
    .option(
      '--audit <extension>',
      'run this extension without effect, and tell what it would do; may be given again',
      collect,
    )
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

async function run(options: RunOptions, command: Command, shell: Shell): Promise<ExitCode> {
  const debug = options.debug === true;
  let failed = false;
  let made: Host | undefined;
  const report = (error: unknown): void => {
    failed = true;
    shell.stderr.lines([errorLine(error, debug)]);
  };
  const settings = await withChannelOptions(await readSettings(options, shell), command);
  const view = viewFor(options, shell);
  const hasConsole = settings.channels?.includes('console') ?? true;
  const isSeen = hasConsole || options.quiet === true;
  const level = isSeen ? view.logLevel : 'info'; // nobody sees the messages of other channels here
  await using log = openLog(settings, shell, { level, debug });
  const { logger } = log;
  for (const [file, mode] of settings.config?.exposed ?? []) {
    const what = `others may read the secret file ${file} (mode ${mode})`;
    shell.stderr.lines([`sluice: warn: ${what}. Run \`chmod 600\` on it.`]);
  }
  checkUrl(options.url, settings);
  await using scope = new Scope('agents', logger); // what they hold open goes after the host
  const timeline = timelineRecorder({ logger });
  if (view.hear !== undefined) timeline.listen(view.hear);
  const isInspected = options.inspect !== undefined || settings.inspect !== undefined;
  if (!isInspected && (options.inspectWrite === true || options.inspectText === true))
    throw badArguments(
      '--inspect-write and --inspect-text belong to the page, and there is none',
      'Add --inspect.',
    );
  await using kept = await openPersistence(settings, timeline, isInspected);
  const { quarantine, handlerWatch } = settings;
  using watch = handlerWatch === false ? undefined : new HandlerWatch({ ...handlerWatch, logger });
  await using pipeline = await openPipeline(settings, logger, {
    ...timeline.kernelOptions(),
    data: kept.extensionData,
    ...(quarantine !== false && { quarantine }),
    ...definedFields({ watch }),
  });
  const { kernel, errors, plugins, extensions } = pipeline;
  errors.forEach(report);
  const missing = pipeline.missing.map((name) => `"${name}" is required`);
  if (settings.strict && errors.length > 0) missing.push('--strict');
  if (missing.length > 0) {
    const why = `${missing.join(', ')}, and not everything could be loaded`;
    shell.stderr.lines([`sluice: nothing was started: ${why}`]);
    return exitCodes.usage;
  }
  const agents = await agentDefinitions(settings, providedBy(extensions), {
    ...shell,
    ...{ plugins, logger, scope },
    onMalformed: (file, line) => report(lineError(file, line)),
  });
  const input = consoleInput(shell, view, () => made);
  const channels = channelsOf(
    settings.channels,
    extensions.live,
    () => consoleChannel({ ...view, lines: input.lines }),
    settings.workspaceDir,
  );
  const provided = extensions.live.flatMap((one) => one.provided('channel'));
  refuseMisspeltRoles(settings, ['console', ...provided.map(({ id }) => id)]);
  const host = createHost({
    kernel, // the extensions in it are to see the command itself, too, which goes on when the host has stopped
    logger,
    ...kept.hostOptions,
    timeline,
    agents,
    ...definedFields({ defaultAgentId: settings.defaultAgent }),
    ...hostBounds(settings),
    channels,
    extensions,
    plugins,
    replies: { verboseLevel: options.verbose, reasoningMode: options.reasoning },
    about: { version: shell.version, pid, workspaceDir: shell.cwd },
    onMessageEnd: ({ status }) => {
      failed ||= status === 'failed' || status === 'undecodable';
    },
  });
  made = host;
  const seen = isInspected ? kept.inspected : undefined;
  shell.onInterrupt(() => input.interrupted());
  await using _health = await openHealthPort(host, options.healthPort, settings, shell, {
    ...kept.hostOptions,
    logger,
  });
  const page = { ...options, port: options.inspect === true ? undefined : options.inspect };
  const inspector = seen && (await import('../inspect/open-inspector.js')); // most runs have no page
  await using _page =
    seen && (await inspector?.openInspector({ ...seen, host }, page, settings, shell, logger));
  const reloading = reloadOn(host, extensions, options, shell);
  await kept.announce?.(announced(settings, options, pipeline, shell.version));
  return await asCliCommand(kernel, 'run', shell, async () => {
    using _watch = reloading;
    const isDone = await untilStopped(host, shell.stop, settings, () => {
      watch?.watchLoop();
      shell.stderr.lines([...view.plugins(plugins), ...(hasConsole ? view.greeting : [])]);
    });
    const lost = kept.hostOptions.journal?.lost;
    if (lost?.aborted === true) {
      report(lost.reason);
      return exitCodes.failed; // a supervisor starts it again, as a standby
    }
    const isFine = shell.stop.aborted ? isDone && errors.length === 0 : isDone && !failed;
    return isFine ? exitCodes.ok : exitCodes.failed;
  });
}

/** @throws CommandError `bad-arguments` if the URL is no address of a gateway, or no agent is behind a gateway. */
function checkUrl(url: string | undefined, { agents }: Settings): void {
  if (url !== undefined && !(URL.canParse(url) && /^wss?:\/\/./.test(url)))
    throw badArguments(
      '--url is no address of a gateway',
      'Write one such as ws://127.0.0.1:18789 or wss://gateway.example.',
    );
  if (url === undefined || agents.some(isBehindGateway)) return;
  throw badArguments(
    '--url names a gateway, and no agent is behind one',
    'Add --agent openclaw, or leave --url out.',
  );
}

function isBehindGateway({ choice: { kind } }: Settings['agents'][number]): boolean {
  return kind !== 'provided' && kind.isBehindGateway === true;
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
