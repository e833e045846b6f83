/** The line that opens or closes a fenced code block. */
export interface FenceLine {
  readonly indent: string;
  /** All of its back-ticks or tildes. */
  readonly marker: string;
  /** The line itself. */
  readonly line: string;
}

/** A fenced code block within a text. */
export interface FenceSpan extends FenceLine {
  readonly start: number;
  /** The end of its closing line, before the line's end; the text's length if no line closes it. */
  readonly end: number;
}

const fencePattern = /^( {0,3})(`{3,}|~{3,})([^\r\u2028\u2029]*)$/;

/** Reads a whole line, without its end, as a fence. */
export function fenceLine(line: string): FenceLine | undefined {
  const found = fencePattern.exec(line);
  if (found === null) return undefined;
  const [, indent = '', marker = ''] = found;
  return { indent, marker, line };
}

/**
 * Returns whether a fence closes the block of another: it has the same sign at least as often. Words after it do not
 * matter.
 */
export function closesFence(open: FenceLine, line: FenceLine): boolean {
  return line.marker[0] === open.marker[0] && line.marker.length >= open.marker.length;
}

/**
 * The fenced code blocks of a text, in order.
 *
 * @example
 * fenceSpans('```\na\n```'); // [{ start: 0, end: 9, indent: '', marker: '```', line: '```' }]
 */
export function fenceSpans(text: string): FenceSpan[] {
  const spans: FenceSpan[] = [];
  if (!text.includes('```') && !text.includes('~~~')) return spans;
  let open: (FenceLine & { start: number }) | undefined;
  for (let start = 0; start <= text.length; ) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline;
    const fence = fenceLine(text.slice(start, end));
    if (fence !== undefined && open === undefined) open = { ...fence, start };
    else if (fence !== undefined && open !== undefined && closesFence(open, fence)) {
      spans.push({ ...open, end });
      open = undefined;
    }
    start = end + 1;
  }
  if (open !== undefined) spans.push({ ...open, end: text.length });
  return spans;
}

/** The block that a position is within: after its first character, before its end. */
export function fenceAround(spans: readonly FenceSpan[], position: number): FenceSpan | undefined {
  return spans.find(({ start, end }) => position > start && position < end);
}
