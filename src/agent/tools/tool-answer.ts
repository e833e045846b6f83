import type { AgentToolResult } from '@sluice/sdk/stream';
import { copyPlain, type Fields, isFields } from 'sluice-kernel/internal';

type Block = AgentToolResult['content'][number];

/** Characters of text, and of details as JSON, that an answer may have. */
const mostChars = 400_000;
/** Levels of details: a payload, which has them deeper, takes 512. */
const mostDepth = 500;
/** Characters of base64 that the pictures of an answer may have together. */
const mostImageChars = 16_777_216;

const nothing: AgentToolResult = said('The tool has given no answer.');

/** An answer that is a text. */
export function said(text: string, isError = false): AgentToolResult {
  return { content: [{ type: 'text', text }], isError };
}

/**
 * Reads the return value of a tool, whatever it is: a text, an object with `content`, or other data. What is too long is cut, and says so.
 *
 * @throws whatever the value throws when it is read.
 */
export function readAnswer(value: unknown): AgentToolResult {
  if (value === undefined || value === null || value === '') return nothing;
  if (!isFields(value)) return { ...said(cut(textOf(value), mostChars)), isError: false };
  const { content, details, isError } = value;
  const given = typeof content === 'string' ? [content] : content;
  const kept = detailsOf(details);
  const rest = { isError: isError === true, ...(kept !== undefined && { details: kept }) };
  if (!Array.isArray(given)) return { content: bounded([textOf(value)]), ...rest };
  const blocks = given.length > 0 ? (given as readonly unknown[]) : [kept ?? ''];
  const read = bounded(blocks.filter((block) => block !== ''));
  return { ...(read.length > 0 ? { content: read } : nothing), ...rest };
}

/** The blocks of an answer, with no more in them than an answer may have. */
function bounded(given: readonly unknown[]): Block[] {
  let chars = mostChars;
  let imageChars = mostImageChars;
  const blocks: Block[] = [];
  for (const one of given) {
    const block = blockOf(one);
    if (block.type === 'image') {
      imageChars -= block.data.length;
      blocks.push(
        imageChars >= 0 ? block : note(`a picture (${block.mimeType}) is left out: too large`),
      );
      continue;
    }
    if (chars <= 0) {
      blocks.push(note('the rest is left out: the answer is too long'));
      break;
    }
    blocks.push({ type: 'text', text: cut(block.text, chars) });
    chars -= block.text.length;
  }
  return blocks;
}

function blockOf(one: unknown): Block {
  if (!isFields(one)) return { type: 'text', text: textOf(one) };
  const { type, text, data, mimeType } = one;
  if (type === 'text' && typeof text === 'string') return { type, text };
  if (type === 'image' && typeof data === 'string' && typeof mimeType === 'string')
    return { type, data, mimeType };
  return { type: 'text', text: textOf(one) };
}

function note(text: string): Block {
  return { type: 'text', text: `[${text}]` };
}

function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most)}\n[cut: these are ${most} of ${text.length} characters]`;
}

/** A text as it is, and other data as JSON. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (json(value) ?? String(value));
}

/** A plain copy of the details; nothing if JSON cannot hold them, or if they are too long or too deep for a payload. */
function detailsOf(details: unknown): unknown {
  const text = details === undefined ? undefined : json(details);
  if (text === undefined || text.length > mostChars) return undefined;
  const read: unknown = JSON.parse(text);
  return 'copy' in copyPlain({ read }, [], mostDepth) ? read : undefined;
}

function json(value: unknown): string | undefined {
  try {
    return JSON.stringify(value, (_key, one: unknown) =>
      typeof one === 'bigint' ? String(one) : one,
    );
  } catch {
    return undefined; // a cycle
  }
}

/** The top of a schema as models take it: the fields of its variants together. The whole schema judges the arguments. */
export function shownSchema(schema: Fields): Fields {
  const { anyOf, oneOf, allOf, ...top } = JSON.parse(JSON.stringify(schema)) as Fields; // a copy without symbols
  const variants = [...listOf(anyOf), ...listOf(oneOf)];
  const parts = [top, ...listOf(allOf), ...variants];
  if (parts.length === 1) return { properties: {}, ...top };
  const fields = new Map<string, unknown[]>();
  for (const { properties } of parts)
    for (const [name, one] of Object.entries(Object(properties) as Fields)) {
      const known = fields.get(name) ?? [];
      if (!known.some((other) => json(other) === json(one))) known.push(one);
      fields.set(name, known);
    }
  const needed = [top, ...listOf(allOf)].flatMap(requiredOf);
  const inEach = requiredOf(variants[0] ?? {}).filter((name) =>
    variants.every((variant) => requiredOf(variant).includes(name)),
  );
  return {
    ...top,
    properties: Object.fromEntries(
      [...fields].map(([name, all]) => [name, all.length === 1 ? all[0] : { anyOf: all }]),
    ),
    required: [...new Set([...needed, ...inEach])],
  };
}

function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : [];
}

function requiredOf({ required }: Fields): readonly string[] {
  return Array.isArray(required) ? (required as readonly string[]) : []; // judged by `toolProblem`
}
