import type { SourceFile } from './source-tree.js';
import { isNode, lineOf, nodesOf, parse, type SyntaxNode } from './syntax.js';

const levels = new Set(['debug', 'info', 'warn', 'error']);

/** The names of a logger in this project: `logger`, `log`, `this.#logger`, `own.log`. */
const loggerName = /^#?(log|logger|legacyLogger)$/;

/** Names of what a program gives, not a person: ids, kinds and numbers. Anything else may quote somebody. */
const harmlessName =
  /^(id|accountId|channel|code|count|family|hookName|kind|left|method|ms|name|phase|pluginId|policy|status|surface|type|action|key|updates|sends|abandoned|version|username|state|entry)$|(Id|Ms|Count)$/;

/** Parts that are looked at one by one: in the words of the project, whatever they are called. */
const accepted: Readonly<Record<string, readonly string[]>> = {
  'extensions/http/src/index.ts': ['channel.url'], // the address that it listens at
  'extensions/quiet-hours/src/index.ts': ['keptBack'], // a number
  'extensions/slack/src/account.ts': ['reason'], // one of two sentences
  'extensions/telegram/src/account.ts': ['reason'], // one of three sentences
  'extensions/telegram/src/intake/polling.ts': ['passed'], // a number
  'extensions/thread-ownership/src/index.ts': ['who'], // the id of an agent
  'src/agent/turn/turn-listener.ts': ['what'], // the name of a callback
  'src/sdk/extension/set/handler-watch.ts': ['who', 'what', "running.join(', ')"], // names, and one of two sentences
  'src/sdk/extension/define/scope.ts': ['label'], // what `api.own` was called with
  'src/openclaw/gateway/provider/provider.ts': ["parts.join(' and ')"], // names of fields
  'src/host/life/lifecycle.ts': ['notice'], // names of handlers
  'src/host/parts/attempt.ts': ['what'], // a step of a stop
  'src/journal/commit/journal-failure.ts': ['message'], // of whoever calls it: read there
  'src/host/receive/receive-update.ts': ['body.problem'], // one of two words
  'src/host/logging/pino-logger.ts': ['fieldsFor(fields)'], // of pino, which takes the fields first
  'src/host/parts/claimed-provisions.ts': ['what'], // a kind and an id
  'src/kernel/run/state/failures.ts': ['who', 'what'], // names; the failures of some kinds, which quote nobody
  'src/openclaw/agent-events/bridge-agent-events.ts': ['what'], // a stream and its phase
  'src/openclaw/runner/bridge-state.ts': ["fields.join(', ')", 'row.instead'], // names of fields, a hint
  'src/openclaw/runner/runner-reporter.ts': ['text'], // of the legacy hook runner, whose own logger takes one text
  'src/openclaw/plugin/api/register-channel.ts': ['lineOf(text)'], // what a plugin logs itself
  'src/openclaw/plugin/runtime/runtime.ts': ['refusals.plain(String(message))'], // what a plugin logs itself
  'src/openclaw/plugin/new-plugin.ts': ['message', 'oneLine(message)', 'instead'], // what a plugin logs itself, a hint
};

/**
 * Finds the places where a file puts into the message of a log entry what may be somebody else's text: an error, a reason, a content. It
 * belongs into the fields `error`, `cause` and `detail`, which are shown at level `debug` alone (spec §20.3).
 */
export function foreignTextsInLogs({ path, text }: SourceFile): string[] {
  if (!/log/i.test(text)) return [];
  const tree = parse(text, path);
  const handedOn = parametersCalledMessage(tree);
  return nodesOf(tree).flatMap((node) => {
    const message = messageOf(node);
    if (message === undefined || isIn(handedOn, message)) return [];
    return foreignParts(message)
      .map((part) => ({ part: text.slice(part.start, part.end), line: lineOf(text, part.start) }))
      .filter(({ part }) => accepted[path]?.includes(part) !== true)
      .map(({ part, line }) => `${path}:${line} ${part}`);
  });
}

/** The first argument of a call to a logger. */
function messageOf({ type, callee, arguments: args }: SyntaxNode): SyntaxNode | undefined {
  if (type !== 'CallExpression' || !isNode(callee) || callee.type !== 'MemberExpression')
    return undefined;
  const method = lastName(callee);
  // `logger[level](...)` is one, too
  const isLevel = callee.computed === true || (method !== undefined && levels.has(method));
  const owner = isNode(callee.object) ? lastName(callee.object) : undefined;
  if (!isLevel || owner === undefined || !loggerName.test(owner)) return undefined;
  const [message] = Array.isArray(args) ? (args as readonly unknown[]) : []; // read field by field
  return isNode(message) ? message : undefined;
}

/** The parts of a message that are neither written there nor an id, a name or a number. */
function foreignParts(node: SyntaxNode): SyntaxNode[] {
  switch (node.type) {
    case 'Literal':
      return [];
    case 'TemplateLiteral':
      return (node.expressions as readonly SyntaxNode[]).flatMap(foreignParts); // of a template they are nodes
    case 'ConditionalExpression':
      return [node.consequent, node.alternate].filter(isNode).flatMap(foreignParts);
    case 'BinaryExpression':
    case 'LogicalExpression':
      return [node.left, node.right].filter(isNode).flatMap(foreignParts);
    case 'CallExpression':
      return isNode(node.callee) && lastName(node.callee) === 'nameOf' ? [] : [node]; // of a contribution
    default: {
      const name = lastName(node);
      return name !== undefined && harmlessName.test(name) ? [] : [node];
    }
  }
}

/** `reason` of `answer.reason`, `error` of `error`, `#log` of `this.#log`; nothing for what is called. */
function lastName(node: SyntaxNode): string | undefined {
  if (node.type === 'ChainExpression' && isNode(node.expression)) return lastName(node.expression);
  if (node.type === 'Identifier') return String(node.name);
  if (node.type !== 'MemberExpression' || node.computed === true || !isNode(node.property))
    return undefined;
  const { type, name } = node.property;
  return type === 'PrivateIdentifier' ? `#${String(name)}` : String(name);
}

/** Functions whose parameter `message` is a message already: they hand an entry on to another logger. */
function parametersCalledMessage(tree: SyntaxNode): SyntaxNode[] {
  return nodesOf(tree).filter(
    ({ type, params }) =>
      (type === 'ArrowFunctionExpression' || type === 'FunctionExpression') &&
      Array.isArray(params) &&
      params.some(
        (one: unknown) => isNode(one) && one.type === 'Identifier' && one.name === 'message',
      ),
  );
}

function isIn(functions: readonly SyntaxNode[], message: SyntaxNode): boolean {
  const isHandedOn = message.type === 'Identifier' && message.name === 'message';
  return (
    isHandedOn && functions.some(({ start, end }) => start <= message.start && message.end <= end)
  );
}
