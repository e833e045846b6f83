import type { AgentCodec, Heard, JsonObject, PointCodec, Verdict } from './codec.js';
import { FieldReader, isObject } from './reading.js';

/** All that differs between agents whose hooks are alike: names, and the words of answers. */
export interface Dialect {
  /** Those of a start, a prompt, a call, its result and the end of the work. */
  readonly hooks: readonly [string, string, string, string, string];
  /** The names of fields: a field that an agent does not have is absent. */
  readonly fields: {
    readonly hook?: string;
    readonly session: string;
    readonly folder: string;
    readonly tool: string;
    readonly call?: string;
    readonly params: string;
    /** The reason of a start. */
    readonly source?: string;
    /** The last words of the agent, which may be absent. */
    readonly last?: string;
  };
  /** The parameters of a call, if they are no plain object. */
  readonly paramsOf?: (value: unknown) => JsonObject;
  readonly resultOf: (read: FieldReader) => Required<Heard>['result'];
  /** The words of refusals. */
  readonly prompt: (reason: string) => JsonObject;
  readonly call: (reason: string) => JsonObject;
  readonly result: (reason: string, input: JsonObject) => JsonObject;
  /** Tells a person what the guard says where nothing is refused. */
  readonly shown: (reason: string) => JsonObject;
  /** Changed parameters, as fields that `wrap` takes. */
  readonly params: (params: JsonObject) => JsonObject;
  /** The agent cannot take a parameter away. */
  readonly keepsParams?: boolean;
  /** A changed result. */
  readonly changed: (text: string, input: JsonObject) => JsonObject;
  /** Puts fields for one hook in the place where the agent reads them. */
  readonly wrap: (hook: string, fields: JsonObject) => JsonObject;
}

/** The names that most agents have. */
export const snakeFields = {
  hook: 'hook_event_name',
  session: 'session_id',
  folder: 'cwd',
  tool: 'tool_name',
  params: 'tool_input',
  source: 'source',
};

/** Fields in the place that Claude Code began with and others took over. */
export const inOutput: Dialect['wrap'] = (hookEventName, fields) => ({
  hookSpecificOutput: { hookEventName, ...fields },
});

/** A result: a text as it is, other data as JSON. */
export function resultOf(value: unknown, isError = false): Required<Heard>['result'] {
  return { text: typeof value === 'string' ? value : JSON.stringify(value), isError };
}

/** A text for agents that take an empty one for a broken hook. */
export const orNone = (text: string): string => (text.trim() === '' ? '[no output]' : text);

type Allowed = Extract<Verdict, { status: 'allowed' }>;

/** How one point differs from others of its dialect. */
interface Part extends Partial<Pick<PointCodec, 'effect' | 'takesChanges' | 'timeoutMs'>> {
  readonly hear: (read: FieldReader) => Partial<Heard>;
  readonly refuse: (reason: string, input: JsonObject) => JsonObject;
  readonly allow: (verdict: Allowed, input: JsonObject) => JsonObject;
}

/** The points of an agent, by its dialect. */
export function pointsOf(dialect: Dialect): AgentCodec['points'] {
  const { hooks, fields, wrap, shown, resultOf: given } = dialect;
  const [start, prompt, call, result, end] = hooks;
  return {
    'session.starting': pointOf(dialect, start, {
      ...{ effect: 'observed', refuse: shown },
      hear: (read) => (fields.source === undefined ? {} : { reason: read.text(fields.source) }),
      allow: (verdict) => wrapped(wrap, start, verdict),
    }),
    'ingress.normalized': pointOf(dialect, prompt, {
      hear: (read) => ({ prompt: read.text('prompt') }),
      refuse: dialect.prompt,
      allow: (verdict) => wrapped(wrap, prompt, verdict),
    }),
    'agent.tool.calling': pointOf(dialect, call, {
      ...{ takesChanges: true, timeoutMs: 600_000 }, // a human may be asked meanwhile
      hear: (read) => calledOf(dialect, read),
      refuse: dialect.call,
      allow: (verdict, input) => passedCall(dialect, call, verdict, input),
    }),
    'agent.tool.returning': pointOf(dialect, result, {
      takesChanges: true,
      hear: (read) => ({ ...calledOf(dialect, read), result: given(read) }),
      refuse: dialect.result,
      allow: (verdict, input) => passedResult(dialect, result, verdict, input),
    }),
    'agent.completed': pointOf(dialect, end, {
      ...{ effect: 'observed', refuse: shown, allow: () => ({}) },
      hear: (read) => {
        const text = fields.last === undefined ? undefined : read.maybe(fields.last);
        return text === undefined ? {} : { result: resultOf(text) };
      },
    }),
  };
}

function pointOf({ fields }: Dialect, hook: string, part: Part): PointCodec {
  const { hear, refuse, allow, ...more } = part;
  return {
    ...{ hook, effect: 'enforced', takesChanges: false, timeoutMs: 30_000, ...more },
    read: (input) => {
      const reader = new FieldReader(input);
      if (fields.hook !== undefined) reader.text(fields.hook, hook);
      const sessionId = reader.text(fields.session);
      return { sessionId, workspaceDir: reader.folder(fields.folder), ...hear(reader) };
    },
    write: (verdict, input) => ({
      exitCode: 0,
      body:
        verdict.status === 'allowed'
          ? allow(verdict, input)
          : refuse(verdict.reason.trim() || 'The guard refuses it.', input),
    }),
  };
}

/** Nothing says that the call is allowed, if the agent can do without: the user's own permission rules ask as ever. */
function passedCall(dialect: Dialect, hook: string, verdict: Allowed, input: JsonObject) {
  const { fields, wrap, call, keepsParams } = dialect;
  const { params } = verdict;
  if (params && keepsParams && !keepsAll(params, input[fields.params]))
    return call('A rule takes a parameter away, which this agent cannot do.');
  return wrapped(wrap, hook, verdict, params && dialect.params(params));
}

function passedResult(dialect: Dialect, hook: string, verdict: Allowed, input: JsonObject) {
  const left = verdict.result === undefined ? {} : dialect.changed(verdict.result, input);
  const words = wrapped(dialect.wrap, hook, verdict);
  const { hookSpecificOutput: one } = words;
  const { hookSpecificOutput: other } = left;
  const both = isObject(one) && isObject(other) ? { ...one, ...other } : undefined;
  return { ...words, ...left, ...(both && { hookSpecificOutput: both }) };
}

function calledOf({ fields, paramsOf }: Dialect, read: FieldReader) {
  return {
    toolName: read.text(fields.tool),
    ...(fields.call !== undefined && { toolCallId: read.text(fields.call) }),
    params: paramsOf?.(read.value(fields.params)) ?? read.object(fields.params),
  };
}

/** Fields for a hook, and the words of augmenters; nothing at all if there are none. */
function wrapped(
  wrap: Dialect['wrap'],
  hook: string,
  { context }: Allowed,
  given: JsonObject = {},
) {
  const fields = { ...given, ...(context !== undefined && { additionalContext: context }) };
  return Object.keys(fields).length === 0 ? {} : wrap(hook, fields);
}

function keepsAll(params: JsonObject, before: unknown): boolean {
  return !isObject(before) || Object.keys(before).every((name) => Object.hasOwn(params, name));
}
