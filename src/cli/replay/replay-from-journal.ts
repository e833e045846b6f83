import { contributeDefaultChoices } from '../../host/internal.js';
import { definedFields, type Instrument } from '../../kernel/index.js';
import { errorLine } from '../errors/error-line.js';
import { openJournalOf } from '../journal/journal-of.js';
import { openPipeline } from '../pipeline/pipeline.js';
import { openLog } from '../settings/logger.js';
import { type PipelineOptions, readSettings } from '../settings/settings.js';
import { type ExitCode, exitCodes } from '../shell/exit-codes.js';
import type { Shell } from '../shell/shell.js';
import { type EffectsTrap, trapEffects } from './effects-trap.js';
import { observersOf, replayJournal } from './replay-journal.js';

/** The options of a replay of a journal. */
export interface JournalReplayOptions {
  readonly journal?: string;
  readonly event?: string;
  readonly observers?: boolean;
  readonly allowIo?: boolean;
}

/**
 * Replays a journal through the extensions of the settings, with every way out of the process shut (spec §20.7).
 *
 * @throws CommandError as the settings and the journal do.
 */
export async function replayFromJournal(
  options: JournalReplayOptions & PipelineOptions,
  shell: Shell,
): Promise<ExitCode> {
  const settings = await readSettings(options, shell);
  const debug = options.debug === true;
  await using log = openLog(settings, shell, { level: 'error', debug });
  await using reader = await openJournalOf(options, shell);
  using trap = options.allowIo === true ? undefined : trapEffects();
  await using pipeline = await openPipeline(settings, log.logger, {
    trace: true,
    ...(options.observers !== true && { instrument: silentObservers }),
  });
  const { kernel, errors } = pipeline;
  shell.stderr.lines(errors.map((error) => errorLine(error, debug)));
  contributeDefaultChoices(kernel); // the last resort of a host, without which a selection would fail closed
  const isOff = options.observers === true ? () => false : observersOf(kernel);
  const { differing } = await replayJournal(reader, kernel, shell, {
    json: options.json === true,
    isOff,
    ...definedFields({ eventId: options.event }),
  });
  tellAttempts(trap, shell);
  return differing === 0 && errors.length === 0 ? exitCodes.ok : exitCodes.failed;
}

/** Observers decide nothing and only have effects, so they are not called. */
const silentObservers: Instrument = (handler, { class: handlerClass }) =>
  handlerClass === 'observer' ? () => undefined : handler;

/** Names the effects that extensions tried and could not have: their decisions may differ for that. */
function tellAttempts(trap: EffectsTrap | undefined, { stderr }: Pick<Shell, 'stderr'>): void {
  const attempts = [...(trap?.attempts ?? [])];
  if (attempts.length === 0) return;
  stderr.lines([
    `sluice: warn: extensions tried what a dry run has not: ${attempts.join(', ')}. Their decisions may differ for that alone; --allow-io lets them.`,
  ]);
}
