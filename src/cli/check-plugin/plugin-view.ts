import { type Layout, laidOut } from '../print/layout.js';
import { counted, printable, sentence } from '../shell/text.js';
import type { HookReport, PluginReport } from './plugin-report.js';

/** Lays a report out for people, line by line. */
export function pluginView(report: PluginReport, { palette, width }: Layout): string[] {
  const line = (text: string, indent: number, paint = palette.plain): string[] =>
    laidOut(printable(text), indent, paint, width);
  const section = (title: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : ['', palette.strong(title), ...lines];
  const { plugin, error, hooks, internalHooks, services, commands, channels } = report;
  const name = plugin === undefined ? report.path : `${plugin.name} (${plugin.id})`;
  const verdict = report.works
    ? palette.changed('works')
    : palette.failure('does not work as it is');
  const listed = (what: string, names: readonly string[]): string[] =>
    names.length === 0 ? [] : line(`${what} ${names.join(', ')}`, 2);
  return [
    `${palette.strong(printable(name))} ${verdict}`,
    ...(error === undefined
      ? []
      : line(`${error.code}: ${sentence(error.message)} ${error.hint}`, 2, palette.failure)),
    ...sdkText(report.sdk).flatMap((text) => line(text, 2, palette.quiet)),
    ...section(
      counted(hooks.length, 'hook', 'hooks'),
      hooks.flatMap((hook) => [
        ...line(titleOf(hook), 2, palette.changed),
        ...becomes(hook).flatMap((text) => line(text, 4)),
        ...(hook.differs.length === 0
          ? []
          : line(`differs: ${hook.differs.join(', ')}`, 4, palette.quiet)),
      ]),
    ),
    ...section('Runs with the host', [
      ...listed(services.length === 1 ? 'service' : 'services', services),
      ...listed(
        commands.length === 1 ? 'command' : 'commands',
        commands.map((command) => `/${command}`),
      ),
      ...listed(channels.length === 1 ? 'channel' : 'channels', channels),
      ...internalHooks.flatMap((hook) =>
        line(`internal hook "${hook.name}" on ${hook.events.join(', ')}`, 2),
      ),
    ]),
    ...section(
      'Not supported',
      report.unsupported.flatMap(({ method, instead }) =>
        line(`${method}: ${instead}`, 2, palette.failure),
      ),
    ),
    ...section(
      'Named in its source, and not supported',
      report.mentions.flatMap(({ method, instead, file, line: at }) =>
        line(`${method} (${file}:${at}): ${instead}`, 2, palette.failure),
      ),
    ),
    ...section(
      'Found',
      report.diagnostics.flatMap(({ level, message }) =>
        line(`${level}: ${message}`, 2, level === 'info' ? palette.quiet : palette.warning),
      ),
    ),
    ...section(
      'What differs from OpenClaw',
      report.divergences.flatMap((row) => line(`${row.name}: ${row.what} ${row.reason}`, 2)),
    ),
  ];
}

function sdkText(sdk: PluginReport['sdk']): readonly string[] {
  if (sdk === undefined) return [];
  const { from, path, version } = sdk;
  const place = from === 'named' ? 'as named' : 'beside the plugin';
  const code =
    from === 'own' ? 'what Sluice has of it' : `openclaw@${version}, ${place}, in ${path}`;
  return [`openclaw/plugin-sdk: ${code}`];
}

function titleOf({ hook, priority }: HookReport): string {
  return priority === undefined ? hook : `${hook}, priority ${priority}`;
}

/** Lists the contributions that a hook becomes; two that are alike are listed once. */
function becomes(hook: HookReport): readonly string[] {
  const parts = hook.becomes.map(
    (part) => `becomes ${part.family}, ${part.class}, ${part.mode ?? 'unknown'}`,
  );
  return [...new Set(parts)];
}
