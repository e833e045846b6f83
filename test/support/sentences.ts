import type { SourceFile } from './source-tree.js';
import { isNode, lineOf, literalOf, nameOf, parse, type SyntaxNode } from './syntax.js';

/** The fields by which a text goes to people: of a message, of a cancel, of a button. */
const spoken = new Set(['content', 'reply', 'label']);

/** The calls whose texts are for operators and authors: errors, settings, entries of a log. */
const forOthers =
  /Error$|^(describe|setting|settingOr|duration|atOnce|milliseconds|text|debug|info|warn|error|refine|regex|texts|bad\w*)$/;

/** The fields whose texts are for operators and authors. The description of a command has its line in the table: `about-NAME`. */
const notSpoken = new Set(['hint', 'cause', 'problem', 'purpose', 'description']);

/** Returns whether a text reads as a sentence: the house writes errors, reasons and logs in small letters. */
const isSentence = (text: string): boolean => /^(\p{Lu}|["'/]).* .*[.?!:]$/su.test(text.trim());

/**
 * Finds the sentences in the code of a file that people would get and no operator could replace: texts that read as a sentence, and
 * words in a field by which a text goes to people.
 */
export function ownSentences({ path, text }: SourceFile): string[] {
  const found: string[] = [];
  const open: SyntaxNode[] = [parse(text, path)];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (isForOthers(node)) continue;
    const words = wordsOf(node, text);
    const isOfPeople =
      node.type === 'Property' && spoken.has(nameOf(node.key) ?? '') && isNode(node.value)
        ? /\p{L}{2}/u.test(wordsOf(node.value, text) ?? '')
        : isSentence(words ?? '');
    if (isOfPeople)
      found.push(`${path}:${lineOf(text, node.start)} ${text.slice(node.start, node.end)}`);
    else open.push(...Object.values(node).flat().filter(isNode).reverse());
  }
  return found;
}

function isForOthers({ type, callee, key }: SyntaxNode): boolean {
  if (type === 'Property') return notSpoken.has(nameOf(key) ?? '');
  if (type !== 'CallExpression' && type !== 'NewExpression') return false;
  const called = isNode(callee) && callee.type === 'MemberExpression' ? callee.property : callee;
  return forOthers.test(nameOf(called) ?? '');
}

/** The words of a string, or of a template with its values. */
function wordsOf(node: SyntaxNode, text: string): string | undefined {
  if (node.type !== 'TemplateLiteral') return literalOf(node);
  return text.slice(node.start + 1, node.end - 1).replace(/\$\{[^}]*\}/g, '');
}
