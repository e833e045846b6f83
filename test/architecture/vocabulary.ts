import { legacyHookNames } from '../../src/openclaw/profiles/index.js';
import type { SourceFile } from '../support/source-tree.js';
import { isNode, lineOf, nameOf, nodesOf, parse, type SyntaxNode } from '../support/syntax.js';

/** Channels, agent systems and vendors that the kernel serves without knowing them. */
export const foreignNames = [
  'anthropic',
  'claude',
  'clawdbot',
  'csdk',
  'discord',
  'googlechat',
  'imessage',
  'mattermost',
  'msteams',
  'openai',
  'openclaw',
  'slack',
  'telegram',
  'whatsapp',
] as const;

/** Where a text names a legacy hook or a foreign system, as code, string or comment. */
export function foreignWords({ path, text }: SourceFile): string[] {
  const words = new RegExp(
    [...Object.values(legacyHookNames).flat(), ...foreignNames].join('|'),
    'gi',
  );
  return [...text.matchAll(words)].map((hit) => `${path}:${lineOf(text, hit.index)} ${hit[0]}`);
}

/** Where a file switches the type checker off: the type `any`, or a comment that silences it. */
export function uncheckedPlaces({ path, text }: SourceFile): string[] {
  const types = nodesOf(parse(text, path))
    .filter(({ type }) => type === 'TSAnyKeyword')
    .map(({ start }) => `${path}:${lineOf(text, start)} any`);
  const comments = [...text.matchAll(/@ts-(ignore|nocheck|expect-error)/g)].map(
    (hit) => `${path}:${lineOf(text, hit.index)} ${hit[0]}`,
  );
  return [...types, ...comments];
}

/** Where a file calls a contributed handler: `handlers[i](…)`, `entry.handler(…)`, or by call and apply. */
export function handlerCalls({ path, text }: SourceFile): string[] {
  return nodesOf(parse(text, path))
    .filter((node) => node.type === 'CallExpression' && isHandler(bare(node.callee)))
    .map(({ start }) => `${path}:${lineOf(text, start)}`);
}

function isHandler(callee: SyntaxNode | undefined): boolean {
  if (callee?.type !== 'MemberExpression') return false;
  const name = nameOf(callee.property);
  const object = bare(callee.object);
  if (callee.computed === true && name !== 'handler') return isNamed(object, 'handlers');
  if (name === 'handler') return true;
  return (name === 'call' || name === 'apply') && isHandler(object);
}

function isNamed(node: SyntaxNode | undefined, name: string): boolean {
  if (node?.type === 'MemberExpression') return nameOf(node.property) === name;
  return nameOf(node) === name;
}

/** An expression without the casts and brackets around it. */
function bare(node: unknown): SyntaxNode | undefined {
  if (!isNode(node)) return undefined;
  const around = [
    'TSAsExpression',
    'TSNonNullExpression',
    'ParenthesizedExpression',
    'ChainExpression',
  ];
  return around.includes(node.type) ? bare(node.expression) : node;
}
