import { type Layout, laidOut, printable, sentence } from '@sluice/cli';
import type { PluginCapability } from '../../plugin/api/capabilities.js';
import type { HookReport, PluginReport, PluginVerdict } from './plugin-report.js';

/** The verdicts on a plugin in words. */
export const verdictTexts: Readonly<Record<PluginVerdict, string>> = {
  works: 'works',
  'works-but': 'works, with limits',
  registered: 'is registered; its channels were not tried',
  partly: 'works in part',
  refused: 'is refused: nothing of it is known to work',
  'does-not-load': 'does not load',
  'not-found': 'was not found',
};

/** Lays a report out for people, line by line. */
export function pluginView(report: PluginReport, { palette, width }: Layout): string[] {
  const line = (text: string, indent: number, paint = palette.plain): string[] =>
    laidOut(printable(text), indent, paint, width);
  const section = (title: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : ['', palette.strong(title), ...lines];
  const { error, capabilities } = report;
  const of = (verdict: PluginCapability['verdict']) =>
    capabilities.filter((one) => one.verdict === verdict);
  const paint = report.works ? palette.changed : palette.failure;
  const hookLines = (name: string): string[] =>
    becomes(report.hooks, name).flatMap((text) => line(text, 4));
  return [
    `${palette.strong(printable(nameOf(report)))} ${paint(verdictTexts[report.verdict])}`,
    ...(error === undefined
      ? []
      : line(`${error.code}: ${sentence(error.message)} ${error.hint}`, 2, palette.failure)),
    ...sdkTexts(report).flatMap((text) => line(text, 2, palette.quiet)),
    ...section(
      'Works',
      byKind(of('works')).flatMap(([kind, names]) =>
        kind === 'hook'
          ? names.flatMap((name) => [
              ...line(`hook ${titleOf(report.hooks, name)}`, 2, palette.changed),
              ...hookLines(name),
            ])
          : line(`${kind}${names.length === 1 ? '' : 's'} ${names.join(', ')}`, 2),
      ),
    ),
    ...section(
      'Works, but',
      distinct(of('works-but')).flatMap(({ kind, name, because, differs }) => {
        const title = kind === 'hook' ? titleOf(report.hooks, name) : name;
        const text = `${kind} ${title}: ${[...because, ...differs].join(' ')}`;
        return [...line(text, 2, palette.changed), ...(kind === 'hook' ? hookLines(name) : [])];
      }),
    ),
    ...section(
      'Registered',
      of('registered').flatMap((one) => line(refusedText(one), 2)),
    ),
    ...section(
      'Refused',
      of('refused').flatMap((one) => line(refusedText(one), 2, palette.failure)),
    ),
    ...section(
      'Found',
      report.diagnostics
        .filter(({ about, level }) => about === undefined && level !== 'info')
        .flatMap(({ level, message }) => line(`${level}: ${message}`, 2, palette.warning)),
    ),
    ...section(
      'What differs from OpenClaw',
      report.divergences
        .filter(({ minor }) => minor !== true)
        .flatMap((row) => line(`${row.name}: ${row.what} ${row.reason}`, 2)),
    ),
  ];
}

/** The name of a plugin, and its id. */
export function nameOf({ plugin, path }: PluginReport): string {
  return plugin === undefined ? path : `${plugin.name} (${plugin.id})`;
}

/** A refused thing, with its place and with what to use instead. */
function refusedText({ kind, name, place, because }: PluginCapability): string {
  return `${kind} ${name}${place === undefined ? '' : ` (${place})`}: ${because.join(' ')}`;
}

/** The OpenClaw that a plugin was written for, and the one that it gets. */
export function sdkTexts({ sdk, target = {} }: PluginReport): readonly string[] {
  const { builtWith, asksFor } = target;
  const wishes = [
    builtWith === undefined ? [] : `built with openclaw ${builtWith}`,
    asksFor === undefined ? [] : `asks for openclaw ${asksFor}`,
  ].flat();
  return [
    ...(wishes.length === 0 ? [] : [`written for: ${wishes.join(', ')}`]),
    ...(sdk === undefined
      ? []
      : [
          `openclaw/plugin-sdk: ${
            sdk.from === 'own'
              ? 'what Sluice has of it'
              : `openclaw@${sdk.version}, ${sdk.from === 'named' ? 'as named' : 'beside the plugin'}, in ${sdk.path}`
          }`,
        ]),
  ];
}

function byKind(
  capabilities: readonly PluginCapability[],
): readonly (readonly [kind: string, names: readonly string[]])[] {
  const kinds = new Set(capabilities.map(({ kind }) => kind));
  return [...kinds].map((kind) => [
    kind,
    [...new Set(capabilities.filter((one) => one.kind === kind).map(({ name }) => name))],
  ]);
}

/** One of several handlers of a hook stands for all of them. */
function distinct(capabilities: readonly PluginCapability[]): readonly PluginCapability[] {
  return [...new Map(capabilities.map((one) => [`${one.kind} ${one.name}`, one])).values()];
}

/** A hook with its priorities, and how often it is registered. */
function titleOf(hooks: readonly HookReport[], name: string): string {
  const all = hooks.filter(({ hook }) => hook === name);
  const priorities = all.flatMap(({ priority }) => priority ?? []);
  const times = all.length > 1 ? `, ${all.length} handlers` : '';
  return `${name}${times}${priorities.length === 0 ? '' : `, priority ${priorities.join(', ')}`}`;
}

/** Lists the contributions that a hook becomes; two that are alike are listed once. */
function becomes(hooks: readonly HookReport[], name: string): readonly string[] {
  const parts = hooks
    .filter(({ hook }) => hook === name)
    .flatMap((hook) => hook.becomes)
    .map((part) => `becomes ${part.family}, ${part.class}, ${part.mode ?? 'unknown'}`);
  return [...new Set(parts)];
}
