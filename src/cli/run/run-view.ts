import type { ApprovedMessage, ConsoleTerminal } from '../../channel/index.js';
import type { LogLevel, MessageEnd } from '../../host/index.js';
import { type KernelOptions, systemClock } from '../../kernel/index.js';
import { jsonPrinter } from '../print/dispatch-printer.js';
import { laidOut, layoutOf } from '../print/layout.js';
import type { Palette } from '../shell/palette.js';
import type { Shell } from '../shell/shell.js';
import { WayPrinter } from './way.js';

/** The view of a running host. */
export interface RunView {
  /** The tap that it listens with. A kernel that nobody listens to is faster. */
  readonly kernelOptions: Pick<KernelOptions, 'tap' | 'trace'>;
  /** The lowest level of the log that is shown: the way of a message shows the rest. */
  readonly logLevel: LogLevel;
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
  messageEnd(end: MessageEnd): void;
}

const invitation =
  'Type a message. /help lists the commands; Ctrl-C stops an answer, twice it ends.';
const stopping = 'The answer is stopped. Ctrl-C once more ends.';
const leaving = 'Ctrl-C once more ends.';

/** A view that shows nothing. */
const silentView: RunView = {
  kernelOptions: {},
  logLevel: 'warn',
  greeting: [],
  interrupted: [],
  leaving: [],
  write: () => undefined,
  render: ({ content }) => content,
  messageEnd: () => undefined,
};

/** Shows each dispatch as a line of JSON. Its `egress.sent` holds a reply. */
export function jsonView(shell: Shell): RunView {
  return { ...silentView, kernelOptions: { tap: jsonPrinter(shell).tap, trace: true } };
}

/** Shows the replies alone, and warnings on stderr. */
export function quietView(shell: Shell): RunView {
  const { stdout, isTerminal, palettes } = shell;
  const said = (text: string) => (isTerminal.stdin ? [palettes.stderr.quiet(text)] : []);
  return {
    ...silentView,
    ...terminalOf(shell),
    interrupted: said(stopping),
    leaving: said(leaving),
    write: (text) => stdout.write(text),
    render: renderFor(isTerminal.stdout, palettes.stdout),
  };
}

/** Shows each reply, and under it the way that its message took: on stderr if stdout is no terminal. */
export function wayView(shell: Shell): RunView {
  const { stdout, stderr, palettes, isTerminal } = shell;
  const [output, palette] = isTerminal.stdout
    ? [stdout, palettes.stdout]
    : [stderr, palettes.stderr];
  const layout = layoutOf(shell, palette);
  const ways = new WayPrinter((lines) => output.lines(lines), layout, systemClock);
  const said = (text: string): string[] =>
    isTerminal.stdin ? laidOut(text, 0, palettes.stderr.quiet, shell.width) : [];
  return {
    ...quietView(shell),
    kernelOptions: { tap: { outcome: (outcome) => ways.add(outcome) }, trace: true },
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
    messageEnd: (end) => {
      if (!stdout.gone.aborted) ways.end(end);
    },
  };
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

/** A terminal sets the lines of tools and of reasoning apart from answers. */
function renderFor(isTerminal: boolean, palette: Palette): RunView['render'] {
  return ({ content, kind }) => `${isTerminal ? paintOf(kind, palette)(content) : content}\n`;
}

function paintOf(kind: ApprovedMessage['kind'], palette: Palette): (text: string) => string {
  return kind === 'tool-output' || kind === 'reasoning' ? palette.quiet : palette.plain;
}
