import { type ChildProcess, spawn } from 'node:child_process';
import process from 'node:process';
import { isDetached } from '@sluice/sdk/extension/internal';
import { definedFields, type Fields, loggerWith } from 'sluice-kernel/internal';
import type { AgentEventListener } from '../../agent-events/event.js';
import type { Registering } from '../api/registering.js';
import { standInsOf } from '../api/unsupported.js';
import { detectMime, isVoiceCompatibleAudio, mediaKindFromMime } from './mime.js';
import { systemEvents } from './next-prompt.js';
import { loadWebMedia } from './web-media.js';
import { withStandIns } from './with-stand-ins.js';

/** The release that plugins of a profile read in their api. */
const apiVersions = { '2026.3': '2026.3.13', '2026.9': '2026.9.6' } as const;

/** `api.runtime` of a plugin: a member that has no place here is a stand-in, which refuses. */
export function runtimeOf(plugin: Registering): object {
  const { method, part } = plugin.refusals;
  const standIns = standInsOf('api.runtime', part) as Readonly<Record<string, object>>; // by the names of the table
  const served = Object.entries(servedParts(plugin)).map(([name, members]) => [
    name,
    withStandIns(plugin.intake.watch(`api.runtime.${name}`, members), () => standIns[name] ?? {}),
  ]);
  return {
    version: apiVersions[plugin.profile],
    ...standIns,
    ...Object.fromEntries(served),
    get channel() {
      return plugin.channelRuntime();
    },
    events: {
      ...plugin.intake.watch('api.runtime.events', {
        onAgentEvent: (listener: AgentEventListener) => onAgentEvent(plugin, listener),
      }),
      ...standInsOf('api.runtime.events', method),
    },
  };
}

/** `api.runtime.events.onAgentEvent`: a listener, until the function that it gives is called or the plugin ends. */
function onAgentEvent({ scope, buses }: Registering, listener: AgentEventListener): () => void {
  return scope.add('agent event listener', buses().listen(listener));
}

/**
 * The parts of `api.runtime` that are served here, each with its members. A member that would change something which a host does not
 * have rejects, whatever `unsupported` says: to skip it would be to say that it was done. So throws one that would keep something.
 */
function servedParts(plugin: Registering): Readonly<Record<string, Fields>> {
  const { config, stateDir, workspaceDir, refusals } = plugin;
  const { openKeyedStore, openBlobStore, openSyncKeyedStore, openChannelIngressQueue } =
    plugin.state;
  const absent = (name: string) =>
    refusals.throwing('api.runtime.state', `api.runtime.state.${name}`);
  return {
    config: {
      loadConfig: () => config,
      current: () => config,
      writeConfigFile: refusals.rejecting(
        'api.runtime.config',
        'api.runtime.config.writeConfigFile',
      ),
    },
    logging: {
      shouldLogVerbose: () => false,
      getChildLogger: (bindings: Fields = {}) => childLogger(plugin, bindings),
    },
    state: {
      resolveStateDir: () => stateDir,
      ...{ openKeyedStore, openBlobStore, openChannelIngressQueue },
      openSyncKeyedStore: (options: Parameters<typeof openSyncKeyedStore>[0]) =>
        openSyncKeyedStore(options) ?? absent('openSyncKeyedStore')(),
      openChannelIngressDrain: absent('openChannelIngressDrain'),
    },
    system: {
      runCommandWithTimeout,
      enqueueSystemEvent: systemEvents(plugin),
      formatNativeDependencyHint: ({ packageName }: { readonly packageName: string }) =>
        `Install ${packageName} with its scripts: npm rebuild ${packageName}`,
    },
    media: {
      detectMime,
      mediaKindFromMime,
      isVoiceCompatibleAudio,
      loadWebMedia: (url: string, options?: Parameters<typeof loadWebMedia>[2]) =>
        loadWebMedia([workspaceDir, stateDir], url, options),
      getImageMetadata: async () => null, // as OpenClaw gives where it cannot read an image
      resizeToJpeg: refusals.rejecting('api.runtime.media', 'api.runtime.media.resizeToJpeg'),
    },
  };
}

/** `api.runtime.logging.getChildLogger`: its entries have the bindings as fields. */
function childLogger({ logger, refusals }: Registering, bindings: Fields): object {
  return loggerWith((level, message, meta) =>
    logger[level](refusals.plain(String(message)), definedFields({ ...bindings, ...meta })),
  );
}

/** The programs that run: they end with the host. */
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** The options of `runCommandWithTimeout`. */
interface CommandOptions {
  readonly timeoutMs: number;
  readonly cwd?: string;
  readonly input?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly noOutputTimeoutMs?: number;
}

/** The result of a command that was started. */
interface CommandResult {
  readonly pid?: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
  readonly signal: string | null;
  readonly killed: boolean;
  readonly termination: 'exit' | 'timeout' | 'no-output-timeout' | 'signal';
  readonly noOutputTimedOut: boolean;
}

/**
 * `api.runtime.system.runCommandWithTimeout`: runs a program without a shell, and kills it when its time is up, or when it has
 * written nothing for too long. Rejects if it cannot be started.
 */
function runCommandWithTimeout(
  argv: readonly string[],
  given: number | CommandOptions,
): Promise<CommandResult> {
  const options = typeof given === 'number' ? { timeoutMs: given } : given;
  const { timeoutMs, cwd, input, env, noOutputTimeoutMs = 0 } = options as CommandOptions; // a number is the one field
  const [program = '', ...args] = argv;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      ...(cwd !== undefined && { cwd }),
      env: { ...process.env, ...env },
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      detached: isDetached,
    });
    running.add(child);
    let ended: CommandResult['termination'] | undefined;
    const end = (why: 'timeout' | 'no-output-timeout') => (): void => {
      ended = why;
      child.kill('SIGKILL');
    };
    const timer = setTimeout(end('timeout'), timeoutMs);
    let quiet: NodeJS.Timeout | undefined;
    const heard = (): void => {
      clearTimeout(quiet);
      if (noOutputTimeoutMs > 0) quiet = setTimeout(end('no-output-timeout'), noOutputTimeoutMs);
    };
    heard();
    const written = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name]?.setEncoding('utf8').on('data', (text: string) => {
        written[name] += text;
        heard();
      });
    child.stdin?.on('error', () => undefined); // it may end before it has read everything
    child.stdin?.end(input);
    const over = (): void => {
      running.delete(child);
      clearTimeout(timer);
      clearTimeout(quiet);
    };
    child.once('error', (error) => {
      over();
      reject(error);
    });
    child.once('close', (code, signal) => {
      over();
      resolve({
        ...(child.pid !== undefined && { pid: child.pid }),
        ...written,
        ...{ code, signal, killed: child.killed },
        termination: ended ?? (signal === null ? 'exit' : 'signal'),
        noOutputTimedOut: ended === 'no-output-timeout',
      });
    });
  });
}
