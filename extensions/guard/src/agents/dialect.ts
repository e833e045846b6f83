import type { AgentCodec, Heard, JsonObject, Point, PointCodec, Verdict } from './codec.js';
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

interface Parts {
  readonly point: Point;
  readonly hook: string;
  readonly effect: PointCodec['effect'];
  readonly read: (read: FieldReader) => Partial<Heard>;
  readonly refused: (reason: string, input: JsonObject) => JsonObject;
  readonly allowed: (verdict: Allowed, input: JsonObject) => JsonObject;
  /** How the point differs from one without changes, of 30 s. */
  readonly more?: Partial<Pick<PointCodec, 'takesChanges' | 'timeoutMs'>>;
}

/** The points of an agent, by its dialect. */
export function pointsOf(dialect: Dialect): AgentCodec['points'] {
  const { fields } = dialect;
  const all = [starting, prompting, calling, returning, completed].map((part) => part(dialect));
  return Object.fromEntries(
    all.map(({ point, hook, effect, read, refused, allowed, more }) => {
      const codec: PointCodec = {
        ...{ hook, effect, takesChanges: false, timeoutMs: 30_000, ...more },
        read: (input) => {
          const reader = new FieldReader(input);
          if (fields.hook !== undefined) reader.text(fields.hook, hook);
          const sessionId = reader.text(fields.session);
          return { sessionId, workspaceDir: reader.folder(fields.folder), ...read(reader) };
        },
        write: (verdict, input) => {
          if (verdict.status === 'allowed') return says(allowed(verdict, input));
          return says(refused(verdict.reason.trim() || 'The guard refuses it.', input));
        },
      };
      return [point, codec];
    }),
  );
}

function starting({ hooks: [hook], fields, wrap, shown }: Dialect): Parts {
  return {
    ...{ point: 'session.starting', hook, effect: 'observed', refused: shown },
    read: (read) => (fields.source === undefined ? {} : { reason: read.text(fields.source) }),
    allowed: (verdict) => wrapped(wrap, hook, verdict),
  };
}

function prompting({ hooks: [, hook], wrap, prompt }: Dialect): Parts {
  return {
    ...{ point: 'ingress.normalized', hook, effect: 'enforced', refused: prompt },
    read: (read) => ({ prompt: read.text('prompt') }),
    allowed: (verdict) => wrapped(wrap, hook, verdict),
  };
}

function calling(dialect: Dialect): Parts {
  const { fields, wrap, call, keepsParams } = dialect;
  const [, , hook] = dialect.hooks;
  return {
    ...{ point: 'agent.tool.calling', hook, effect: 'enforced', refused: call },
    read: (read) => calledOf(dialect, read),
    // Nothing says that the call is allowed, if the agent can do without: the user's own permission rules ask as ever.
    allowed: (verdict, input) => {
      const { params } = verdict;
      if (params && keepsParams && !keepsAll(params, input[fields.params]))
        return call('A rule takes a parameter away, which this agent cannot do.');
      return wrapped(wrap, hook, verdict, params && dialect.params(params));
    },
    more: { takesChanges: true, timeoutMs: 600_000 }, // a human may be asked meanwhile
  };
}

function returning(dialect: Dialect): Parts {
  const [, , , hook] = dialect.hooks;
  return {
    ...{ point: 'agent.tool.returning', hook, effect: 'enforced', refused: dialect.result },
    read: (read) => ({ ...calledOf(dialect, read), result: dialect.resultOf(read) }),
    allowed: (verdict, input) => {
      const left = verdict.result === undefined ? {} : dialect.changed(verdict.result, input);
      const words = wrapped(dialect.wrap, hook, verdict);
      const { hookSpecificOutput: one } = words;
      const { hookSpecificOutput: other } = left;
      const both = isObject(one) && isObject(other) ? { ...one, ...other } : undefined;
      return { ...words, ...left, ...(both && { hookSpecificOutput: both }) };
    },
    more: { takesChanges: true },
  };
}

function completed({ hooks: [, , , , hook], fields: { last }, shown }: Dialect): Parts {
  return {
    ...{ point: 'agent.completed', hook, effect: 'observed', refused: shown },
    read: (read) => {
      const text = last === undefined ? undefined : read.maybe(last);
      return text === undefined ? {} : { result: resultOf(text) };
    },
    allowed: () => ({}),
  };
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

const says = (body: JsonObject) => ({ exitCode: 0, body });

function keepsAll(params: JsonObject, before: unknown): boolean {
  return !isObject(before) || Object.keys(before).every((name) => Object.hasOwn(params, name));
}
