import {
  definedFields,
  nameOf,
  type PlannedHandler,
  previewNotice,
  type Stage,
  type StageInfo,
  silentLogger,
} from 'sluice-kernel/internal';
import { schemas } from 'sluice-kernel/schemas';
import { errorLine } from '../errors/error-line.js';
import { openPipeline } from '../pipeline/pipeline.js';
import type { Layout } from '../print/layout.js';
import { matchTexts } from '../print/match-text.js';
import { printData } from '../print/print-data.js';
import { addPipelineOptions, type PipelineOptions } from '../settings/flags.js';
import { readSettings, type Settings } from '../settings/settings.js';
import { asCliCommand } from '../shell/cli-command.js';
import { type ExitCode, exitCodes } from '../shell/exit-codes.js';
import type { AddCommand, Shell } from '../shell/shell.js';
import { printable, span, wrap } from '../shell/text.js';

const help = `
Under a stage stand its handlers in run order, and what is special about it.

Examples:
  $ sluice stages
  $ sluice stages --extension ./quiet-hours.js
  $ sluice stages --json | head -1`;

/** Adds `sluice stages`: the catalog with the loaded handlers. */
export const addCommand: AddCommand = (command, shell, done) => {
  addPipelineOptions(command)
    .option('-a, --agent <name>', 'mark what this agent only reports: echo, replay:FILE')
    .option('--json', 'print a line of JSON per stage')
    .addHelpText('after', help)
    .action(async (options: PipelineOptions) => done(await stages(options, shell)));
};

async function stages(options: PipelineOptions, shell: Shell): Promise<ExitCode> {
  const settings = await readSettings(options, shell);
  await using pipeline = await openPipeline(settings, silentLogger);
  const { kernel, errors } = pipeline;
  // awaited here: the pipeline is open until the command has ended
  return await asCliCommand(kernel, 'stages', shell, async () => {
    shell.stderr.lines(errors.map((error) => errorLine(error, options.debug === true)));
    const observeOnly = observeOnlyFamilies(settings);
    const all = kernel.stages();
    const data = all.map((info) => stageData(info, observeOnly));
    printData(shell, options, data, (layout) => stageTable(all, { ...layout, observeOnly }));
    return errors.length === 0 ? exitCodes.ok : exitCodes.failed;
  });
}

/** The stages whose events a chosen agent tells of when they have happened. */
function observeOnlyFamilies({ agents }: Settings): ReadonlySet<string> {
  const isToldOnly = agents.some(
    ({ choice: { kind } }) => kind !== 'provided' && kind.toolGate === 'observe-only',
  );
  return new Set(isToldOnly ? ['agent.tool.calling'] : []);
}

/** The options of the table of stages. */
interface StageTableOptions extends Layout {
  /** Families that the chosen agent only reports: a cancel or patch there has no effect. */
  readonly observeOnly: ReadonlySet<string>;
}

const heading = { family: 'FAMILY', mode: 'MODE', classes: 'CLASSES' };

/** Lays the catalog out as a table: a row for each stage, with its marks and its handlers in run order under it. */
export function stageTable(stages: readonly StageInfo[], options: StageTableOptions): string[] {
  const widths = {
    family: widest(stages.map(({ stage }) => stage.family)),
    mode: widest(stages.map(({ stage }) => stage.mode)),
  };
  const row = (cells: typeof heading): string[] => {
    const start = `${cells.family.padEnd(widths.family)}  ${cells.mode.padEnd(widths.mode)}  `;
    const lines = wrap(cells.classes, Math.max(20, options.width - start.length));
    return lines.map((line, at) => `${at === 0 ? start : ' '.repeat(start.length)}${line}`);
  };
  const { palette } = options;
  return [
    ...row(heading).map(palette.strong),
    ...stages.flatMap(({ stage, handlers }) => [
      ...row({ family: stage.family, mode: stage.mode, classes: stage.classes.join(', ') }),
      ...marks(stage, handlers, options.observeOnly).map((mark) => `  ${palette.warning(mark)}`),
      ...handlers.map((handler) => `  ${palette.changed(handlerText(handler, stage))}`),
    ]),
  ];
}

/** Turns a stage into plain data for a line of JSON. */
function stageData(
  { stage, handlers }: StageInfo,
  observeOnly: ReadonlySet<string>,
): Record<string, unknown> {
  const { family, version, mode, classes, purpose, emittedBy, emittedWhen, hotPath } = stage;
  const { deprecated } = stage;
  return {
    family,
    version,
    mode,
    classes,
    purpose: purpose || schemas[family]?.purpose, // the bundle of the kernel has no sentences
    emittedBy,
    emittedWhen: emittedWhen || schemas[family]?.emittedWhen,
    hotPath,
    observeOnly: observeOnly.has(family),
    ...definedFields({ deprecated }),
    timeoutMs: stage.timeoutMs,
    stageTimeoutMs: stage.stageTimeoutMs,
    onError: Object.fromEntries(classes.map((name) => [name, stage.onError[name]])),
    patch: Object.fromEntries(Object.entries(stage.laws).map(([field, { law }]) => [field, law])),
    trusted: stage.trusted,
    annotations: Object.keys(stage.annotations?.properties ?? {}),
    replaceable: stage.replaceable,
    cancelCodes: classes.includes('veto') ? stage.cancelCodes : [],
    cancelReplies: stage.cancelReplies,
    principal: stage.principal,
    asks: stage.asks,
    handlers,
  };
}

function marks(
  stage: Stage,
  handlers: readonly PlannedHandler[],
  observeOnly: ReadonlySet<string>,
): string[] {
  const { deprecated } = stage;
  const notice = stage.family === 'egress.preparing' ? previewNotice(handlers) : undefined;
  return [
    ...(notice === undefined ? [] : [notice]),
    ...(deprecated === undefined
      ? []
      : [`deprecated since ${deprecated.since}: use ${deprecated.use}${removal(deprecated)}`]),
    ...(observeOnly.has(stage.family)
      ? ['observe-only: the agent tells of it afterwards; a cancel or patch is a failure']
      : []),
  ];
}

function removal({ removeAfter }: NonNullable<Stage['deprecated']>): string {
  return removeAfter === undefined ? '' : `, gone after ${removeAfter}`;
}

function handlerText(handler: PlannedHandler, stage: Stage): string {
  const parts = [
    nameOf(handler),
    handler.class,
    ...(handler.priority === 0 ? [] : [`priority ${handler.priority}`]),
    ...(handler.timeoutMs === stage.timeoutMs ? [] : [`timeout ${span(handler.timeoutMs)}`]),
    ...(handler.policy === 'closed' ? ['fails closed'] : []),
    ...(handler.detached ? ['detached'] : []),
    ...(handler.recheck ? [] : ['no recheck']),
    ...(handler.previewOk ? ['preview ok'] : []),
    ...(handler.mode === 'audit' ? ['in audit mode'] : []),
    ...matchTexts(handler),
    ...(handler.disabled ? ['disabled'] : []),
    ...(handler.quarantined ? ['in quarantine'] : []),
  ];
  return printable(parts.join(', '));
}

function widest(texts: readonly string[]): number {
  return Math.max(heading.family.length, ...texts.map((text) => text.length));
}
