import {
  isSluiceError,
  type Kernel,
  type Logger,
  loggerWith,
  oneLine,
  type SluiceError,
  silentLogger,
  systemClock,
  withTimeout,
} from 'sluice-kernel/internal';
import { readConfig } from '../config/config-schema.js';
import type { ExtensionApi } from '../define/api.js';
import { otherCopyOf, type PackageCopy, thisCopy } from '../define/copy.js';
import { type Extension, extensionProblem, idOf } from '../define/extension.js';
import { checkSluice } from '../define/manifest.js';
import type { Question, QuestionHandler } from '../define/question.js';
import { Scope, type UndoReport } from '../define/scope.js';
import { extensionError } from '../errors.js';
import { type HostAccess, hostAccess } from './host-access.js';
import { LiveExtension } from './live-extension.js';
import type { DisabledExtension, LoadOptions, LoadResult } from './load-result.js';
import { openRegistration, type RegistrationWindow } from './registration-window.js';

/** Milliseconds that setup may take by default. */
const defaultSetupTimeoutMs = 30_000;

/**
 * Loads an extension: reads its configuration, runs its setup, then makes all its contributions live in one
 * synchronous step (spec §13). A mistake of the extension disables it, and nothing else: this never rejects.
 *
 * @example
 * const result = await loadExtension(kernel, quietHours, { config: { from: '22:00', to: '07:00' }, logger });
 * if (result.status === 'disabled') console.error(result.error.message);
 * else await result.dispose();
 */
export function loadExtension(
  kernel: Kernel,
  extension: Extension,
  options: LoadOptions = {},
): Promise<LoadResult> {
  return startExtension(kernel, extension, options);
}

/**
 * The same in the place of a predecessor, which it takes in the step in which it goes live. If the kernel refuses a
 * contribution, those of the predecessor are as they were.
 */
export async function startExtension(
  kernel: Kernel,
  extension: Extension,
  options: LoadOptions,
  predecessor?: LiveExtension,
): Promise<LiveExtension | DisabledExtension> {
  const { logger = silentLogger, clock = systemClock } = options;
  const extensionId = idOf(extension, 'unnamed');
  const log = loggerOf(logger, extensionId);
  const resources = new Scope(extensionId, log, options);
  let registration: RegistrationWindow | undefined;
  try {
    const problem = extensionProblem(extension);
    if (problem !== undefined) throw extensionError('bad-extension', { extensionId, problem });
    const other = otherCopyOf(extension);
    if (other !== undefined) throw twoCopies(extensionId, other);
    const { manifest = {} } = extension as Partial<Extension>; // none in one that an older copy made
    if (thisCopy.folder !== '') checkSluice(extensionId, manifest, thisCopy.version);
    const config = readConfig(extensionId, extension.config, options.config);
    const window = openRegistration(extensionId, manifest.grants);
    registration = window;
    const { grants: requested = [] } = manifest;
    const { host, configDir } = options;
    const acting = { extensionId, requested, kernel, clock, host, log, configDir };
    const access = hostAccess({ ...acting, isGone: () => resources.isUndone });
    const { hosted } = access;
    const api: ExtensionApi = Object.freeze({
      extensionId,
      log,
      clock,
      ...window.registering,
      own: resources.add.bind(resources),
      store: hosted.store,
      send: hosted.send,
      reply: hosted.reply,
      laterSends: hosted.laterSends,
      question: questionsOf(window, access),
      inject: hosted.inject,
      kernel: hosted.kernel,
      texts: hosted.texts,
      schedule: access.schedule(window),
      tap: access.tap(window),
      get stateDir() {
        return hosted.stateDir; // made when it is first read
      },
      resolvePath: hosted.resolvePath,
      reloadOn: (path: string) => window.reloadOn(hosted.resolvePath(path)),
    });
    await setUp(extension, api, config, options);
    if (kernel.isAudited(extensionId)) checkProvisions(extensionId, window);
    window.close();
    const parts = { kernel, extensionId, manifest, window, resources, log, options };
    const running = new LiveExtension(parts);
    running.begin(predecessor);
    return running;
  } catch (thrown) {
    registration?.close();
    return disabled(extensionId, thrown, await resources.dispose(), logger);
  }
}

/**
 * Checks that an extension that is audited provides nothing that a host is set up to use (judgement §3.9).
 *
 * @throws SluiceError `audited-provider`.
 */
function checkProvisions(extensionId: string, { provisions }: RegistrationWindow): void {
  const needed = provisions.find(({ kind }) => kind === 'channel' || kind === 'agent');
  if (needed !== undefined)
    throw extensionError('audited-provider', { extensionId, kind: needed.kind });
}

/** Registers questions by their names. */
function questionsOf(window: RegistrationWindow, access: HostAccess): ExtensionApi['question'] {
  return <Data>(name: string, handler: QuestionHandler<Data>): Question<Data> => {
    // the data of a question is what `ask` of its name was given
    const value = { handler: handler as QuestionHandler<unknown> };
    window.register({ kind: 'question', name, value });
    return access.question(name) as Question<Data>; // of the same name
  };
}

function disabled(
  extensionId: string,
  thrown: unknown,
  { failures: undoFailures }: UndoReport,
  logger: Logger = silentLogger,
): DisabledExtension {
  const problem = oneLine(thrown);
  const error = isSluiceError(thrown)
    ? thrown
    : extensionError('setup-failed', { extensionId, problem }, { cause: thrown });
  logDisabled(logger, extensionId, error);
  return { status: 'disabled', extensionId, error, undoFailures };
}

/** Logs why an extension is disabled. */
export function logDisabled(logger: Logger, extensionId: string, error: SluiceError): void {
  const { code, hint } = error;
  logger.error(`disabled (${code})`, { extensionId, code, hint, error });
}

/** Runs setup, for as long as it may take. */
async function setUp(
  extension: Extension,
  api: ExtensionApi,
  config: unknown,
  { setupTimeoutMs: timeoutMs = defaultSetupTimeoutMs, around = (_, work) => work() }: LoadOptions,
): Promise<void> {
  const { extensionId, clock, log } = api;
  const work = around(extensionId, async () => extension.setup(api, config)); // async: it may throw, or return what it likes
  await withTimeout(work, timeoutMs, clock, () => {
    work.catch((error: unknown) => log.warn('setup failed after its time was up', { error }));
    throw extensionError('setup-timed-out', { extensionId, timeoutMs });
  });
}

function twoCopies(extensionId: string, other: PackageCopy): SluiceError {
  const theirs = `${other.folder} (${other.version})`;
  const own = `${thisCopy.folder} (${thisCopy.version})`;
  return extensionError('two-copies', { extensionId, theirs, own });
}

/** Makes a logger that writes the id of an extension with every entry. */
function loggerOf(logger: Logger, extensionId: string): Logger {
  return loggerWith((level, message, fields) => logger[level](message, { extensionId, ...fields }));
}
