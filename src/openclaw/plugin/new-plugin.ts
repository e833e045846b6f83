import { join, resolve } from 'node:path';
import process from 'node:process';
import { Scope } from '@sluice/sdk/extension';
import {
  type Clock,
  definedFields,
  kernelError,
  type Logger,
  loggerWith,
  oneLine,
  silentLogger,
  systemClock,
  withTimeout,
} from 'sluice-kernel/internal';
import { z } from 'zod';
import { profiles } from '../profiles/index.js';
import { pluginBuses } from './api/buses.js';
import { type Refusals, refusalsOf } from './api/refusals.js';
import type { Registering } from './api/registering.js';
import { routeList } from './http/plugin-routes.js';
import { channelRuntimeOf } from './runtime/channel-runtime.js';
import type { PluginDefinition } from './shape/module-shape.js';
import type { LegacyPlugin, LegacyPluginOptions, PluginDiagnostic } from './shape/plugin.js';
import type { LegacyLogger, LegacyService, LegacyServiceContext } from './shape/shapes.js';
import { pluginState } from './state/plugin-state.js';
import { MessageWay } from './way/message-way.js';

/** A plugin that is about to register, with the parts that its host will need. */
export interface NewPlugin extends Registering {
  /** The fields that the loaded plugin shows. Their lists grow as the plugin registers. */
  readonly shown: Omit<
    LegacyPlugin,
    'status' | 'error' | 'provide' | 'start' | 'stop' | 'dispose' | typeof Symbol.asyncDispose
  >;
  readonly running: ReturnType<typeof pluginServices>;
}

/**
 * Gathers what a plugin registers with and into.
 *
 * @throws SluiceError `bad-option` where nothing says what its id is, or the profile is unknown.
 */
export function newPlugin(
  definition: PluginDefinition,
  options: LegacyPluginOptions,
  rootDir?: string,
  openclaw?: string,
): NewPlugin {
  const { kernel, manifest, profile = '2026.3', config = {}, clock = systemClock } = options;
  const pluginId = options.pluginId ?? manifest?.id ?? definition.id;
  if (pluginId === undefined)
    throw kernelError('bad-option', {
      option: 'pluginId',
      problem: 'the plugin names none itself',
    });
  if (!Object.hasOwn(profiles, profile))
    throw kernelError('bad-option', {
      option: 'profile',
      problem: `there is ${Object.keys(profiles).join(' and ')}`,
    });
  const entry = pluginEntryOf(config, pluginId);
  const logger = loggerOf(options.logger ?? silentLogger, pluginId);
  const diagnostics: PluginDiagnostic[] = [];
  const report: Registering['report'] = (level, message, thrown, about) => {
    const isThrown = thrown !== undefined;
    const said = isThrown ? `${message}: ${oneLine(thrown)}` : message;
    diagnostics.push({ level, message: said, ...definedFields({ about }) });
    logger[level](message, isThrown ? { error: thrown } : {});
  };
  const refusals = refusalsOf(
    pluginId,
    options.unsupported ?? 'skip',
    ({ method, instead, place }) =>
      logger.warn(`${method} is not supported. ${instead}`, definedFields({ place })),
    (method, error) => intake.failed(method, error),
  );
  const intake = new MessageWay({
    ...{ extensionId: pluginId, clock },
    onFailure: (error) => refusals.failed(error),
    onTrouble: (about, error) =>
      logger.error('a member of its api failed on the way of a message', { ...about, error }),
  });
  const legacyLogger = legacyLoggerOf(logger, refusals);
  const services: Registering['services'] = [];
  const workspaceDir = resolve(options.workspaceDir ?? process.cwd());
  const stateDir = options.stateDir ?? join(workspaceDir, '.sluice', ...pluginId.split('/'));
  const answersHttp = options.routes === true;
  const running = pluginServices(services, {
    context: { config, workspaceDir, stateDir, logger: legacyLogger },
    clock,
    onFailure: (message, thrown) => report('error', message, thrown),
  });
  const hooks = options.hooks ?? entry.hooks;
  const version = definition.version ?? manifest?.version;
  const description = definition.description ?? manifest?.description;
  const shown = {
    pluginId,
    name: definition.name ?? manifest?.name ?? pluginId,
    ...definedFields({ version, description }),
    source: options.source ?? pluginId,
    profile,
    kernel,
    config,
    workspaceDir,
    logger,
    hooks: [],
    internalHooks: [],
    services,
    commands: [],
    channels: [],
    intake,
    state: pluginState(pluginId, { clock, way: intake, stateDir, openclaw }),
    tools: [],
    skills: [],
    cliCommands: [],
    gatewayMethods: [],
    httpRoutes: routeList({
      ...{ kernel, pluginId, answers: answersHttp },
      added: (path) => {
        if (answersHttp) logger.info('it answers HTTP requests', { path });
        else report('warn', `nobody is answered at ${path}: "routes" of the plugin is not true`);
      },
      leftOut: (path, why) =>
        report('error', `route "${path}" is left out: ${why}`, undefined, {
          kind: 'route',
          name: path,
        }),
    }),
    answersHttp,
    unsupported: refusals.calls,
    diagnostics,
  };
  let channelRuntime: object | undefined;
  const plugin: NewPlugin = {
    ...shown,
    shown,
    ...definedFields({ rootDir, openclaw }),
    trusted: options.trusted === true,
    allowPromptInjection: hooks?.allowPromptInjection !== false,
    conversationAccess: hooks?.allowConversationAccess !== false,
    timeouts: hooks ?? {},
    pluginConfig: options.pluginConfig ?? entry.config,
    optionalTools: options.optionalTools ?? [],
    legacyLogger,
    clock,
    stateDir,
    intake,
    channelRuntime: () => {
      channelRuntime ??= channelRuntimeOf(plugin);
      return channelRuntime;
    },
    scope: new Scope(pluginId, logger),
    refusals,
    buses: () => pluginBuses(kernel),
    running,
    report,
  };
  return plugin;
}

/** A logger that writes a plugin's name with every entry, and cannot be made to throw by what it is given. */
function loggerOf(logger: Logger, pluginId: string): Logger {
  return loggerWith((level, message, fields) =>
    logger[level](message.startsWith(`${pluginId}: `) ? message : `${pluginId}: ${message}`, {
      extensionId: pluginId,
      ...fields,
    }),
  );
}

/** Plugins log texts; what else they log is made one. */
function legacyLoggerOf(logger: Logger, { plain }: Refusals): LegacyLogger {
  return loggerWith((level, said: unknown) => {
    const message = plain(typeof said === 'string' ? said : oneLine(said));
    logger[level](message);
  });
}

const fields = z.record(z.string(), z.unknown());

/** Milliseconds that an operator may give a hook. */
const budget = z.int().positive().max(600_000);

const entrySchema = z
  .looseObject({
    enabled: z.boolean().optional().catch(undefined),
    hooks: z
      .looseObject({
        allowPromptInjection: z.boolean().optional(),
        allowConversationAccess: z.boolean().optional(),
        timeoutMs: budget.optional().catch(undefined),
        timeouts: z.record(z.string(), budget).optional().catch(undefined),
      })
      .optional()
      .catch(undefined),
    config: fields.optional(),
  })
  .catch({});

/** The entry of one plugin in an OpenClaw configuration: `plugins.entries.<id>`. */
type PluginEntry = Readonly<z.output<typeof entrySchema>>;

/** Reads a plugin's entry; an empty one if there is none, or none that can be read. */
function pluginEntryOf(config: Readonly<Record<string, unknown>>, id: string): PluginEntry {
  const entries = z.looseObject({ plugins: z.looseObject({ entries: fields }) }).safeParse(config);
  const all = entries.data?.plugins.entries ?? {};
  return Object.hasOwn(all, id) ? entrySchema.parse(all[id]) : {};
}

/** The options of a plugin's services. */
interface ServicesOptions {
  readonly context: LegacyServiceContext;
  /** The platform's by default. */
  readonly clock?: Clock;
  /** Told of what failed. */
  readonly onFailure: (message: string, thrown?: unknown) => void;
}

/** Milliseconds that a service is waited for, when it starts and when it stops. */
const serviceTimeoutMs = 30_000;

/**
 * The services of a plugin. They start one after the other, and stop in reverse; one that fails stops no other.
 *
 * @param services may grow until they are started.
 */
function pluginServices(
  services: readonly LegacyService[],
  { context, clock = systemClock, onFailure }: ServicesOptions,
) {
  let running: LegacyService[] = [];
  let hasStarted = false;

  async function call(service: LegacyService, verb: 'start' | 'stop') {
    const name = `service "${service.id}": ${verb}`;
    const work = async (): Promise<'done' | 'failed' | 'slow'> => {
      try {
        await service[verb]?.(context);
        return 'done';
      } catch (thrown) {
        onFailure(`${name} failed`, thrown);
        return 'failed';
      }
    };
    return withTimeout(work(), serviceTimeoutMs, clock, () => {
      onFailure(`${name} has not ended after ${serviceTimeoutMs} ms; the others go on`);
      return 'slow';
    });
  }

  return {
    /** Starts them, once. Never rejects. */
    async start(): Promise<void> {
      if (hasStarted) return;
      hasStarted = true;
      for (const service of services) {
        const verdict = await call(service, 'start');
        if (verdict !== 'failed') running.push(service); // a slow one may have started: it is stopped, too
      }
    },
    /** Stops those that run. Never rejects. */
    async stop(): Promise<void> {
      const stopping = running;
      running = [];
      for (const service of stopping.reverse())
        if (service.stop !== undefined) await call(service, 'stop');
    },
  };
}
