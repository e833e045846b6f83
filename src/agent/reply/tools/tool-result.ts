type Fields = Readonly<Record<string, unknown>>;

/** Longer texts of tools are cut. In UTF-16 code units. */
const longestText = 8000;
/** A reason of a failure is one line, and no longer than this. */
const longestReason = 400;
const badStates = new Set(['error', 'timeout']);
/** A state with one of these in it says why a tool failed, where nothing else does. */
const tellingState = /error|fail|timeout|timed|denied|cancel|invalid|forbidden/i;

/** A tool's answer as it can be passed on: long texts cut, pictures left out. The answer itself stays as it is. */
export function passableResult(result: unknown, cutMark: string): unknown {
  if (!isFields(result) || !Array.isArray(result['content'])) return result;
  const content = (result['content'] as readonly unknown[]).map((block) =>
    passable(block, cutMark),
  );
  return { ...result, content };
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

/** The texts of a tool's answer, joined; nothing where it has none. */
export function resultText(result: unknown): string | undefined {
  return textBlocks(result).join('\n') || undefined;
}

/** The text blocks of a tool's answer that say something. */
export function textBlocks(result: unknown): readonly string[] {
  if (!isFields(result) || !Array.isArray(result['content'])) return [];
  const texts: string[] = [];
  for (const block of result['content'] as readonly unknown[]) {
    if (!isFields(block) || block['type'] !== 'text' || typeof block['text'] !== 'string') continue;
    const text = block['text'].trim();
    if (text !== '') texts.push(text);
  }
  return texts;
}

/** The file that a tool's picture was written to, where it says so. */
export function picturePath(result: unknown): string | undefined {
  if (!isFields(result) || !Array.isArray(result['content'])) return undefined;
  const hasPicture = (result['content'] as readonly unknown[]).some(
    (block) => isFields(block) && block['type'] === 'image',
  );
  const path = isFields(result['details']) ? result['details']['path'] : undefined;
  return hasPicture && typeof path === 'string' && path.trim() !== '' ? path.trim() : undefined;
}

/** A tool's answer says that it failed, whatever its event says. */
export function isFailedResult(result: unknown): boolean {
  if (!isFields(result) || !isFields(result['details'])) return false;
  const { status } = result['details'];
  return typeof status === 'string' && badStates.has(status.trim().toLowerCase());
}

/** Why a tool failed, in one line; nothing where its answer does not say. */
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

function parsed(text: string): unknown {
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

/** A value with fields. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}
