type Fields = Readonly<Record<string, unknown>>;

/** Something of a tool call. */
export interface ToolFact {
  readonly kind: 'tool';
  readonly phase: 'start' | 'update' | 'end';
  readonly toolCallId: string;
  readonly toolName: string;
  readonly args: Fields;
  /** With `update` what there is so far, with `end` the result; absent where the gateway withholds it. */
  readonly result?: unknown;
  readonly isError: boolean;
}

/** Reads the data of a `tool` event; nothing where it names no call. */
export function toolFactOf(data: Fields): ToolFact | undefined {
  const { toolCallId, name, phase, args, partialResult, result, isError } = data;
  const known = phases[String(phase)];
  if (typeof toolCallId !== 'string' || toolCallId === '' || known === undefined) return undefined;
  const said = known === 'update' ? partialResult : result;
  return {
    kind: 'tool',
    phase: known,
    toolCallId,
    toolName: typeof name === 'string' && name !== '' ? name : 'unknown',
    args: isFields(args) ? args : {},
    isError: isError === true,
    ...(known !== 'start' && said !== undefined && { result: said }),
  };
}

const phases: Readonly<Record<string, ToolFact['phase']>> = {
  start: 'start',
  update: 'update',
  result: 'end',
  end: 'end',
};

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
