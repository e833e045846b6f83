import type { SyntaxNode } from 'unbash';
import { isCommand } from './programs.js';

/** Returns why a node cannot be read for certain; `counts` if it takes a value as a number or a name, which may run a command. */
export function unreadOf(node: SyntaxNode): string | undefined {
  switch (node.type) {
    case 'Script':
      return 'errors' in node && node.errors !== undefined && node.errors.length > 0
        ? 'it is no text of bash'
        : undefined;
    case 'Assignment':
      return node.index === undefined || /^\d+$/.test(node.index.text) ? undefined : 'counts';
    case 'For':
    case 'Select':
      return isCommand(node.name.text) ? 'it sets how programs run' : undefined;
    case 'ArithmeticWord':
      return /^\d*$/.test(node.value) ? undefined : 'counts';
    case 'ArithmeticCommandExpansion':
      return 'counts';
    case 'ArithmeticCommand':
      return node.expression === undefined && node.body.trim() !== ''
        ? 'it counts in an unknown way'
        : undefined;
    case 'TestUnary':
      return /^-[vR]$/.test(node.operator) ? 'counts' : undefined;
    case 'TestBinary':
      return /^-(eq|ne|lt|le|gt|ge)$/.test(node.operator) ? 'counts' : undefined;
    case 'ExtendedGlob':
      return /e\W|\+/.test(node.pattern) ? 'a pattern of it may run a command in zsh' : undefined;
    case 'CommandExpansion':
    case 'ProcessSubstitution':
      return node.script === undefined ? 'a substitution of it cannot be read' : undefined;
    case 'ParameterExpansion': {
      const { operation, index, prefix } = node;
      if (operation?.type === 'Unknown' || operation?.type === 'Transform')
        return 'it expands a value in an unknown way';
      if (
        operation?.type === 'Default' &&
        operation.operator.includes('=') &&
        isCommand(node.parameter)
      )
        return 'it sets how programs run';
      if (prefix === '!' || operation?.type === 'Slice') return 'counts';
      return index === undefined || /^[\d@*]+$/.test(index.text) ? undefined : 'counts';
    }
    default:
      return undefined;
  }
}
