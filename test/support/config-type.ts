import { z } from 'zod';
import { docstring } from './docstring.js';

/** Writes an interface of the input of a config schema. The description of each setting becomes its docstring. */
export function interfaceOf(name: string, schema: z.core.$ZodType): string {
  return `export interface ${name} ${typeOf(schema, '')}\n`;
}

function typeOf(node: z.core.$ZodType, indent: string): string {
  if (node instanceof z.ZodOptional || node instanceof z.ZodExactOptional)
    return typeOf(node.unwrap(), indent);
  if (node instanceof z.ZodDefault) return `${typeOf(node.unwrap(), indent)} | undefined`;
  if (node instanceof z.ZodLiteral) return [...node.values].map(literal).join(' | ');
  if (node instanceof z.ZodEnum) return node.options.map(literal).join(' | ');
  if (node instanceof z.ZodUnion)
    return node.options.map((option) => typeOf(option, indent)).join(' | ');
  if (node instanceof z.ZodRecord) return `Record<string, ${typeOf(node.valueType, indent)}>`;
  if (node instanceof z.ZodArray) {
    const element = typeOf(node.element, indent);
    return /[|>] /.test(element.split('{')[0] ?? '') ? `(${element})[]` : `${element}[]`;
  }
  if (node instanceof z.ZodObject) {
    const fields = Object.entries(node.shape).map(([key, field]) =>
      fieldOf(key, field, `${indent}  `),
    );
    return `{\n${fields.join('')}${indent}}`;
  }
  if (node instanceof z.core.$ZodPipe) return `string | ${typeOf(node._zod.def.out, indent)}`; // a text may be written for the object
  const { type } = node._zod.def;
  if (type === 'custom') return '(text: string) => string'; // of `journal.scrub.fn`, the one function
  if (['string', 'number', 'boolean', 'unknown'].includes(type)) return type;
  throw new TypeError(`There is no rule here for a setting of the type "${type}".`);
}

function fieldOf(key: string, node: z.core.$ZodType, indent: string): string {
  const isOptional = node instanceof z.ZodExactOptional || node instanceof z.ZodDefault;
  const inner = isOptional ? node.unwrap() : node;
  const text = (z.globalRegistry.get(node) ?? z.globalRegistry.get(inner))?.description;
  if (text === undefined) throw new TypeError(`The setting "${key}" has no description.`);
  const sentence = `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
  const name = /^[\w$]+$/.test(key) ? key : literal(key);
  return `${docstring(sentence, indent)}${indent}${name}${isOptional ? '?' : ''}: ${typeOf(node, indent)};\n`;
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}
