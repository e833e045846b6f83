import { Environment } from '@marcbachmann/cel-js';
import type { Envelope, Principal, Ref, Stage } from 'sluice';
import { checkSize, Patterns, patternCalls, readingOf } from './cost.js';
import { didYouMean } from './problem.js';

/** The event that a condition is asked about, as far as it is read. */
interface Subject {
  readonly payload: object;
  readonly principal: Principal | undefined;
  readonly event: Envelope;
}

/** A condition of a rule, checked and ready. @throws Error if it cannot be evaluated. */
export type Condition = (subject: Subject) => boolean;

/** On whose behalf, as conditions read it: nothing is absent, so that a comparison with it is no failure. */
class PolicyPrincipal {}
class PolicyRef {}
class PolicyEvent {}

const nobody = { channel: '', accountId: '', senderId: '', isOwner: false, roles: [] };
const nowhere = { channel: '', id: '' };

const principalFields = {
  channel: 'string',
  accountId: 'string',
  conversationId: 'string',
  senderId: 'string',
  senderName: 'string',
  isOwner: 'bool',
  roles: 'list<string>',
};

const eventFields = {
  occurredAt: 'google.protobuf.Timestamp',
  workspaceId: 'string',
  agentId: 'string',
  sessionId: 'string',
  accountRef: 'Ref',
  conversationRef: 'Ref',
  threadRef: 'Ref',
  messageRef: 'Ref',
};

/**
 * Compiles a condition over the payload of a stage: an unknown field, a wrong type and a call that could take long are refused.
 *
 * @throws Error that says what is wrong.
 */
export function conditionOf(source: string, stage: Stage): Condition {
  const fields = payloadTypes(stage);
  const environment = new Environment({ limits: { maxAstNodes: 1_000, maxDepth: 50 } })
    .registerType('Ref', { ctor: PolicyRef, fields: { channel: 'string', id: 'string' } })
    .registerType('Principal', { ctor: PolicyPrincipal, fields: principalFields })
    .registerType('Event', { ctor: PolicyEvent, fields: eventFields });
  for (const [name, type] of Object.entries(fields)) {
    if (typeof type === 'string') environment.registerVariable(name, type);
    else environment.registerVariable({ name, schema: type });
  }
  environment.registerVariable('event', 'Event');
  if (stage.principal) environment.registerVariable('principal', 'Principal');
  const patterns = new Patterns();
  for (const name of patternCalls)
    environment.registerFunction(`${name}(string, string): bool`, (text: string, pattern: string) =>
      patterns.of(name, pattern).isFoundIn(text),
    );

  const { valid, type, error } = environment.check(source);
  if (!valid) throw new Error(textOf(error, source, fields, stage));
  if (type !== 'bool') throw new Error(`it is of type ${type}, and must be true or false`);
  const parsed = environment.parse(source);
  const { names, cost } = readingOf(parsed.ast, patterns);
  const read = [...names].filter((name) => Object.hasOwn(fields, name));
  return ({ payload, principal, event }) => {
    const known = payload as Readonly<Record<string, unknown>>;
    const variables: Record<string, unknown> = {};
    for (const name of read) if (known[name] !== undefined) variables[name] = known[name];
    checkSize(variables, cost);
    if (names.has('principal')) variables['principal'] = principalOf(principal);
    if (names.has('event')) variables['event'] = eventOf(event);
    return parsed(variables) === true;
  };
}

function principalOf(principal: Principal = nobody): PolicyPrincipal {
  const { conversationId = '', senderName = '' } = principal;
  return Object.assign(new PolicyPrincipal(), principal, { conversationId, senderName });
}

function eventOf(event: Envelope): PolicyEvent {
  return Object.assign(new PolicyEvent(), {
    occurredAt: new Date(event.occurredAt),
    workspaceId: event.workspaceId ?? '',
    agentId: event.agentId ?? '',
    sessionId: event.sessionId ?? '',
    accountRef: refOf(event.accountRef),
    conversationRef: refOf(event.conversationRef),
    threadRef: refOf(event.threadRef),
    messageRef: refOf(event.messageRef),
  });
}

function refOf(ref: Ref | null): PolicyRef {
  return Object.assign(new PolicyRef(), ref ?? nowhere);
}

interface CelError {
  readonly code?: string;
  readonly summary?: string;
  readonly message: string;
  readonly range?: { readonly start: number; readonly end: number };
}

/** Says what is wrong with a condition, with the name that may have been meant. */
function textOf(
  error: CelError | undefined,
  source: string,
  fields: Readonly<Record<string, CelType>>,
  stage: Stage,
): string {
  const { code, summary, message = 'it cannot be read', range } = error ?? { message: '' };
  const said = summary ?? message;
  const name = /: ([\w$]+)$/.exec(said)?.[1] ?? '';
  const at = range === undefined ? '' : ` (at character ${range.start + 1})`;
  if (code === 'unknown_variable') {
    const known = [...Object.keys(fields), 'event', ...(stage.principal ? ['principal'] : [])];
    const missing = name === 'principal' ? name : `field "${name}"`;
    return `${stage.family} has no ${missing}${at}${didYouMean(name, known)}`;
  }
  if (code === 'no_such_key') {
    const owner = /([\w.]+)\.\w*$/.exec(source.slice(0, range?.end))?.[1] ?? '';
    return `"${owner}" has no field "${name}"${at}${didYouMean(name, fieldsAt(owner, fields))}`;
  }
  return `${said}${at}`;
}

function fieldsAt(path: string, fields: Readonly<Record<string, CelType>>): readonly string[] {
  if (path === 'principal') return Object.keys(principalFields);
  if (path === 'event') return Object.keys(eventFields);
  let at: CelType | undefined = fields;
  for (const part of path.split('.')) at = typeof at === 'object' ? at[part] : undefined;
  return typeof at === 'object' ? Object.keys(at) : [];
}

/** A type as CEL names it, or the fields of an object. */
type CelType = string | { readonly [field: string]: CelType };

/** A schema as far as types need it: JSON Schema. */
interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
}

/** The types of the fields of a stage's payload. A field of several types, or of any, is `dyn`: it is checked when it is read. */
function payloadTypes({ payload }: Stage): Readonly<Record<string, CelType>> {
  const fields = Object.entries(payload.properties as Readonly<Record<string, Schema>>);
  return Object.fromEntries(fields.map(([name, schema]) => [name, typeOf(schema)]));
}

function typeOf(schema: Schema): CelType {
  const { type, properties, items } = schema;
  const literals = schema.enum ?? (schema.const === undefined ? undefined : [schema.const]);
  if (literals?.every((one) => typeof one === 'string')) return 'string';
  switch (type) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'bool';
    case 'number':
    case 'integer':
      return 'double';
    case 'array': {
      const of = typeOf(items ?? {});
      return `list<${typeof of === 'string' ? of : 'map<string, dyn>'}>`;
    }
    case 'object':
      if (properties === undefined || Object.keys(properties).length === 0)
        return 'map<string, dyn>';
      return Object.fromEntries(
        Object.entries(properties).map(([name, field]) => [name, typeOf(field)]),
      );
    default:
      return 'dyn';
  }
}
