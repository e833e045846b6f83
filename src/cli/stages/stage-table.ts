import {
  definedFields,
  nameOf,
  type PlannedHandler,
  type Stage,
  type StageInfo,
} from '../../kernel/index.js';
import type { Layout } from '../print/layout.js';
import { matchTexts } from '../print/match-text.js';
import { printable, span, wrap } from '../shell/text.js';

/** The options of the table of stages. */
export interface StageTableOptions extends Layout {
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
      ...marks(stage, options.observeOnly).map((mark) => `  ${palette.warning(mark)}`),
      ...handlers.map((handler) => `  ${palette.changed(handlerText(handler, stage))}`),
    ]),
  ];
}

/** Turns a stage into plain data for a line of JSON. */
export function stageData(
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
    purpose,
    emittedBy,
    emittedWhen,
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

function marks(stage: Stage, observeOnly: ReadonlySet<string>): string[] {
  const { deprecated } = stage;
  return [
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
