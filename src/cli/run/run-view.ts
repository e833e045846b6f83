import type { ApprovedMessage, ConsoleTerminal } from '../../channel/index.js';
import type { LogLevel, MessageEnd } from '../../host/index.js';
import { type KernelOptions, systemClock } from '../../kernel/index.js';
import { jsonPrinter } from '../print/dispatch-printer.js';
import { laidOut, layoutOf } from '../print/layout.js';
import type { Palette } from '../shell/palette.js';
import type { Shell } from '../shell/shell.js';
import { WayPrinter } from './way-printer.js';

/** What a running host shows. */
export interface RunView {
  /** The tap that it listens with. A kernel that nobody listens to is faster. */
  readonly kernelOptions: Pick<KernelOptions, 'tap' | 'trace'>;
  /** From which level on the log is shown: what the way tells already is not told twice. */
  readonly logLevel: LogLevel;
  /** What is said when messages can come. */
  readonly greeting: readonly string[];
  /** What is said when a Ctrl-C has stopped an answer. */
  readonly interrupted: readonly string[];
  /** The line that is said when a Ctrl-C has stopped nothing and the next one ends; empty where the first one does. */
  readonly leaving: readonly string[];
  /** The terminal that replies are shown on while they grow; absent where stdout is none. */
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

/** Shows the replies alone, and warnings on stderr. */
export function quietView(shell: Shell): RunView {
  const { stdout, isTerminal, palettes } = shell;
  return {
    ...terminalOf(shell),
    kernelOptions: {},
    logLevel: 'warn',
    greeting: [],
    interrupted: isTerminal.stdin ? [palettes.stderr.quiet(stopping)] : [],
    leaving: isTerminal.stdin ? [palettes.stderr.quiet(leaving)] : [],
    write: (text) => stdout.write(text),
    render: renderFor(isTerminal.stdout, palettes.stdout),
    messageEnd: () => undefined,
  };
}

/** Shows each dispatch as a line of JSON. Replies are in there: `egress.sent` holds them. */
export function jsonView(shell: Shell): RunView {
  return {
    kernelOptions: { tap: jsonPrinter(shell).tap, trace: true },
    logLevel: 'warn',
    greeting: [],
    interrupted: [],
    leaving: [],
    write: () => undefined,
    render: ({ content }) => content,
    messageEnd: () => undefined,
  };
}

/** Shows each reply, and under it the way that its message took: on stderr, where stdout is no terminal. */
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
    ...terminalOf(shell),
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
    write: (text) => stdout.write(text),
    render: renderFor(isTerminal.stdout, palettes.stdout),
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
  return ({ content, kind }) => {
    if (!isTerminal) return `${content}\n`;
    return `${paintOf(kind, palette)(content)}\n`;
  };
}

function paintOf(kind: ApprovedMessage['kind'], palette: Palette): (text: string) => string {
  return kind === 'tool-output' || kind === 'reasoning' ? palette.quiet : palette.plain;
}
