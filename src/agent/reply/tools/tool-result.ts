import { isFields } from 'sluice-kernel/internal';
import { readDirectives } from '../text/directives/read-directives.js';

/** Longer texts of tools are cut. In UTF-16 code units. */
const longestText = 8000;
/** A reason of a failure is one line, and no longer than this. */
const longestReason = 400;
const badStates = new Set(['error', 'timeout']);
/** A state with one of these in it says why a tool failed, where nothing else does. */
const tellingState = /error|fail|timeout|timed|denied|cancel|invalid|forbidden/i;

/** A tool's answer as it can be passed on: long texts cut, pictures left out. The answer itself stays as it is. */
export function passableResult(result: unknown, cutMark: string): unknown {
  const blocks = blocksIn(result);
  if (blocks === undefined) return result;
  return { ...Object(result), content: blocks.map((block) => passable(block, cutMark)) };
}

function passable(block: unknown, cutMark: string): unknown {
  if (!isFields(block)) return block;
  const { type, text, data, ...rest } = block;
  if (type === 'text' && typeof text === 'string' && text.length > longestText)
    return { ...block, text: `${text.slice(0, longestText)}\n${cutMark}` };
  if (type !== 'image') return block;
  const bytes = typeof data === 'string' ? { bytes: data.length } : {};
  return { type, ...rest, ...bytes, omitted: true };
}

/** The texts of a tool's answer, joined; nothing if it has none. */
export function resultText(result: unknown): string | undefined {
  return textBlocks(result).join('\n') || undefined;
}

/** The text blocks of a tool's answer that say something. */
export function textBlocks(result: unknown): readonly string[] {
  return (blocksIn(result) ?? [])
    .filter(isFields)
    .flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text.trim()] : []))
    .filter((text) => text !== '');
}

/** The media that a tool's answer names; at a path of this machine only where the tool may name files. */
export function toolMedia(result: unknown, mayNameFiles: boolean): readonly string[] {
  const named = textBlocks(result).flatMap((text) => readDirectives(text).mediaUrls);
  const path = named.length === 0 ? picturePath(result) : undefined;
  const media = path === undefined ? named : [path];
  return allowedMedia(media, mayNameFiles);
}

/** Leaves the media out that a tool may not name. */
export function allowedMedia(media: readonly string[], mayNameFiles: boolean): readonly string[] {
  return media.filter((url) => mayNameFiles || /^https?:\/\//i.test(url));
}

/** The file that a tool's picture was written to, where it says so. */
function picturePath(result: unknown): string | undefined {
  const hasPicture = blocksIn(result)?.some(
    (block) => isFields(block) && block['type'] === 'image',
  );
  const path: unknown = Object(Object(result).details).path;
  return hasPicture && typeof path === 'string' && path.trim() !== '' ? path.trim() : undefined;
}

/** The content blocks of a tool's answer; none if its content is no list. */
function blocksIn(result: unknown): readonly unknown[] | undefined {
  const content: unknown = isFields(result) ? result['content'] : undefined;
  return Array.isArray(content) ? content : undefined;
}

/** A tool's answer says that it failed, whatever its event says. */
export function isFailedResult(result: unknown): boolean {
  if (!isFields(result) || !isFields(result['details'])) return false;
  const { status } = result['details'];
  return typeof status === 'string' && badStates.has(status.trim().toLowerCase());
}

/** Why a tool failed, in one line; nothing if its answer does not say. */
export function failureReason(result: unknown): string | undefined {
  if (!isFields(result)) return undefined;
  const said = reasonIn(result['details']) ?? reasonIn(result);
  if (said !== undefined) return said;
  const text = resultText(result);
  if (text === undefined) return undefined;
  return reasonIn(parsed(text)) ?? oneLine(text);
}

function reasonIn(value: unknown): string | undefined {
  if (!isFields(value)) return undefined;
  const { error, message, reason, status } = value;
  const nested = isFields(error) ? (error['message'] ?? error['error']) : error;
  for (const one of [nested, message, reason])
    if (typeof one === 'string' && oneLine(one) !== undefined) return oneLine(one);
  return typeof status === 'string' && tellingState.test(status) ? oneLine(status) : undefined;
}

/** The value of a text that is JSON of an object; nothing for any other text. */
export function parsed(text: string): unknown {
  if (!text.startsWith('{')) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // a text like any other
  }
}

function oneLine(text: string): string | undefined {
  const line = text.trim().split('\n', 1)[0]?.trim() ?? '';
  if (line === '') return undefined;
  return line.length > longestReason ? `${line.slice(0, longestReason)}…` : line;
}
