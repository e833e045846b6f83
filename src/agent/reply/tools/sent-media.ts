import { isFields, textBlocks } from './tool-result.js';

const fields = ['media', 'mediaUrl', 'path', 'filePath'];

/** The media that a messaging tool was given, and that its answer says it sent; each once. */
export function sentMedia(args: unknown, result: unknown): readonly string[] {
  const records = [args, result, isFields(result) ? result['details'] : undefined];
  for (const text of textBlocks(result)) records.push(parsed(text));
  return [...new Set(records.flatMap(mediaIn))];
}

function mediaIn(record: unknown): readonly string[] {
  if (!isFields(record)) return [];
  const many = record['mediaUrls'];
  const named = [...fields.map((name) => record[name]), ...(Array.isArray(many) ? many : [])];
  const urls: string[] = [];
  for (const url of named) if (typeof url === 'string' && url.trim() !== '') urls.push(url.trim());
  return urls;
}

function parsed(text: string): unknown {
  if (!text.startsWith('{')) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined; // a text like any other
  }
}
