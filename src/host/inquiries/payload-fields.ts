import { inertJson } from 'sluice-kernel/internal';

/** Ids and marks of a payload that say nothing of what is acted on. */
const inner =
  /^(?:toolCallId|runId|sessionId|sessionKey|childSessionKey|requesterSessionKey|accountId|accounts|openedBy|explicit|streaming)$/;
const mostDepth = 4;

/** A field of a payload: its path, and its value as a text. */
export interface PayloadField {
  readonly path: string;
  readonly text: string;
  /** An id or a mark of the host. */
  readonly isInner: boolean;
}

/** Takes a payload in JSON apart, without the fields that are empty. A text that is no JSON is one field. */
export function payloadFields(json: string): readonly PayloadField[] {
  const walk = (value: unknown, keys: readonly string[]): readonly PayloadField[] => {
    if (typeof value === 'object' && value !== null && keys.length < mostDepth)
      return Object.entries(value).flatMap(([key, of]) => walk(of, [...keys, key]));
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return [{ path: keys.join('.'), text, isInner: keys.length === 1 && inner.test(`${keys[0]}`) }];
  };
  try {
    return walk(JSON.parse(json), []);
  } catch {
    return walk(json, []);
  }
}

/** The fields that say what is acted on, each in one line: a character that would end or turn it is written out. */
export function fieldLines(json: string): readonly string[] {
  const line = (text: string): string => inertJson(JSON.stringify(text));
  return payloadFields(json)
    .filter(({ isInner }) => !isInner)
    .map(({ path, text }) => {
      const name = /^[\w.-]*$/.test(path) ? path : line(path);
      const value = line(text).slice(1, -1).replaceAll('\\"', '"');
      return name === '' ? value : `${name}: ${value}`;
    });
}
