import type { TimelineListener } from '@sluice/host';
import type { LogLevel } from '@sluice/host/internal';
import type { ApprovedMessage, ConsoleTerminal } from '@sluice/sdk/channel';
import { systemClock } from 'sluice-kernel';
import { outcomeLine } from '../print/json-line.js';
import { laidOut, layoutOf } from '../print/layout.js';
import type { Palette } from '../shell/palette.js';
import type { LoadedPlugin, Shell } from '../shell/shell.js';
import { printable } from '../shell/text.js';
import { timelinePrinter } from './timeline.js';

/** The view of a running host. */
export interface RunView {
  /** Hears the timelines of messages. A host that nobody listens to is faster. */
  readonly hear?: TimelineListener;
  /** The lowest level of the log that is shown: the timeline of a message shows the rest. */
  readonly logLevel: LogLevel;
  /** Says which tools plugins bring. */
  plugins(plugins: readonly LoadedPlugin[]): readonly string[];
  /** The lines that are said when messages can come. */
  readonly greeting: readonly string[];
  /** The lines that are said when a Ctrl-C has stopped an answer. */
  readonly interrupted: readonly string[];
  /** The lines that are said when a Ctrl-C has stopped nothing and the next one ends; empty if the first one ends. */
  readonly leaving: readonly string[];
  /** The terminal that shows replies while they grow; absent if stdout is none. */
  readonly terminal?: ConsoleTerminal;
  /** Writes a reply. */
  write(text: string): void | Promise<void>;
  /** Makes the text of a reply. */
  render(message: ApprovedMessage): string;
}

const invitation =
  'Type a message. /help lists the commands; Ctrl-C stops an answer, twice it ends.';
const stopping = 'The answer is stopped. Ctrl-C once more ends.';
const leaving = 'Ctrl-C once more ends.';

/** A view that shows nothing. */
const silentView: RunView = {
  logLevel: 'warn',
  plugins: () => [],
  greeting: [],
  interrupted: [],
  leaving: [],
  write: () => undefined,
  render: ({ content }) => content,
};

/** The options that choose a view. */
export interface ViewOptions {
  readonly json?: boolean;
  readonly quiet?: boolean;
  /** Shows the way of each message also if nobody looks at a terminal. */
  readonly way?: boolean;
}

/** Gives the view that the options ask for. */
export function viewFor({ json, quiet, way }: ViewOptions, shell: Shell): RunView {
  if (json === true) return jsonView(shell);
  if (quiet === true) return quietView(shell);
  const { stdout, stderr } = shell.isTerminal; // the ways of a service would fill its log, with the names of people
  return stdout || stderr || way === true ? timelineView(shell) : plainView(shell);
}

/** Shows each dispatch as a line of JSON. Its `egress.sent` holds a reply. */
function jsonView(shell: Shell): RunView {
  return {
    ...silentView,
    hear: (entry) => {
      if (entry.kind === 'dispatch') shell.stdout.lines([outcomeLine(entry.outcome)]);
    },
  };
}

/** Shows the replies alone, and warnings on stderr. */
function quietView(shell: Shell): RunView {
  const { stdout, isTerminal, palettes } = shell;
  const said = (text: string) => (isTerminal.stdin ? [palettes.stderr.quiet(text)] : []);
  return {
    ...silentView,
    ...terminalOf(shell),
    interrupted: said(stopping),
    leaving: said(leaving),
    write: (text) => stdout.write(text),
    render: ({ content, kind }) =>
      `${isTerminal.stdout ? paintOf(kind, palettes.stdout)(content) : content}\n`,
  };
}

/** Shows what a service says without the ways of its messages. */
function plainView(shell: Shell): RunView {
  return { ...quietView(shell), plugins: broughtTools };
}

/** Shows each reply, and under it the timeline of its message: on stderr if stdout is no terminal. */
function timelineView(shell: Shell): RunView {
  const { stdout, stderr, palettes, isTerminal } = shell;
  const [output, palette] = isTerminal.stdout
    ? [stdout, palettes.stdout]
    : [stderr, palettes.stderr];
  const layout = layoutOf(shell, palette);
  const ways = timelinePrinter((lines) => output.lines(lines), layout, systemClock);
  const said = (text: string): string[] =>
    isTerminal.stdin ? laidOut(text, 0, palettes.stderr.quiet, shell.width) : [];
  return {
    ...plainView(shell),
    hear: (entry) => {
      if (entry.kind === 'dispatch') ways.add(entry.outcome);
      else if (entry.kind === 'update' && entry.outcome !== undefined && !stdout.gone.aborted)
        ways.end(entry);
    },
    logLevel: 'error',
    get greeting() {
      return said(invitation);
    },
    get interrupted() {
      return said(stopping);
    },
    get leaving() {
      return said(leaving);
    },
  };
}

/** A line for each plugin that brings tools. */
function broughtTools(plugins: readonly LoadedPlugin[]): readonly string[] {
  return plugins
    .filter(({ tools }) => tools.length > 0)
    .map(({ pluginId, tools }) => {
      const names = tools.flatMap((tool) => namesOf(tool)).join(', ');
      return `sluice: plugin ${pluginId} brings the tools ${printable(names)}`;
    });
}

/** The names of tools; those that the operator has to allow say so. */
function namesOf({ names, optional }: LoadedPlugin['tools'][number]): readonly string[] {
  const told = names.length === 0 ? ['those of a factory'] : names;
  return optional ? told.map((name) => `${name} (optional: see "optionalTools")`) : told;
}

/** How replies look on a terminal that can redraw. */
function terminalOf({ screen, isTerminal, palettes }: Shell): Pick<RunView, 'terminal'> {
  if (screen === undefined) return {};
  const { stdin: showsInput } = isTerminal;
  return {
    terminal: {
      screen,
      showsInput,
      text: ({ content }) => content,
      paint: ({ kind }) => paintOf(kind, palettes.stdout),
    },
  };
}

function paintOf(kind: ApprovedMessage['kind'], palette: Palette): (text: string) => string {
  return kind === 'tool-output' || kind === 'reasoning' ? palette.quiet : palette.plain;
}
