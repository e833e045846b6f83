import { extname } from 'node:path';

/** The kind of a file to send, as plugins name it. */
export type MediaKind = 'image' | 'audio' | 'video' | 'document';

/** The types of common files by their ending. */
const types: Readonly<Record<string, string>> = {
  ...{ '.jpg': 'image/jpeg', '.jpeg': 'image/jpeg', '.png': 'image/png', '.gif': 'image/gif' },
  ...{ '.webp': 'image/webp', '.heic': 'image/heic', '.svg': 'image/svg+xml' },
  ...{ '.mp3': 'audio/mpeg', '.ogg': 'audio/ogg', '.opus': 'audio/opus', '.wav': 'audio/wav' },
  ...{ '.m4a': 'audio/x-m4a', '.flac': 'audio/flac', '.aac': 'audio/aac' },
  ...{ '.mp4': 'video/mp4', '.mov': 'video/quicktime', '.webm': 'video/webm' },
  ...{ '.pdf': 'application/pdf', '.zip': 'application/zip', '.json': 'application/json' },
  ...{ '.txt': 'text/plain', '.md': 'text/markdown', '.csv': 'text/csv', '.html': 'text/html' },
  ...{ '.docx': 'application/vnd.openxmlformats-officedocument.wordprocessingml.document' },
  ...{ '.xlsx': 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet' },
  ...{ '.pptx': 'application/vnd.openxmlformats-officedocument.presentationml.presentation' },
};

/** The ending of a file of a type; nothing if it is no common one. */
export function endingOf(type: string | undefined): string | undefined {
  return Object.keys(types).find((ending) => types[ending] === type);
}

/** The first bytes of a file in hexadecimal digits, by its type. */
const beginnings: readonly (readonly [begin: RegExp, type: string])[] = [
  [/^ffd8ff/, 'image/jpeg'],
  [/^89504e470d0a/, 'image/png'],
  [/^474946383[79]61/, 'image/gif'],
  [/^52494646.{8}57454250/, 'image/webp'],
  [/^52494646.{8}57415645/, 'audio/wav'],
  [/^4f676753/, 'audio/ogg'],
  [/^664c6143/, 'audio/flac'],
  [/^(?:494433|fff[23b])/, 'audio/mpeg'],
  [/^.{8}667479704d3441/, 'audio/x-m4a'],
  [/^.{8}667479707174/, 'video/quicktime'],
  [/^.{8}66747970686569(?:63|78)/, 'image/heic'],
  [/^.{8}66747970/, 'video/mp4'],
  [/^1a45dfa3/, 'video/webm'],
  [/^255044462d/, 'application/pdf'],
  [/^504b0304/, 'application/zip'],
];

/** `api.runtime.media.detectMime`: by the first bytes, else by the ending of the name, else by the header. */
export async function detectMime(given: {
  readonly buffer?: Buffer;
  readonly headerMime?: string | null;
  readonly filePath?: string;
}): Promise<string | undefined> {
  const { buffer, headerMime, filePath = '' } = given;
  const begin = buffer?.subarray(0, 32).toString('hex') ?? '';
  const seen = beginnings.find(([pattern]) => pattern.test(begin))?.[1];
  const path = URL.canParse(filePath) ? new URL(filePath).pathname : filePath;
  const named = types[extname(path).toLowerCase()];
  const header = plainType(headerMime);
  const isVague = (type: string | undefined): boolean =>
    type === undefined || type === 'application/octet-stream' || type === 'application/zip';
  if (!isVague(seen)) return seen;
  if (named !== undefined) return named; // a document of an office is a zip file, too
  return isVague(header) ? (seen ?? header) : header;
}

/** `api.runtime.media.mediaKindFromMime`. */
export function mediaKindFromMime(mime?: string | null): MediaKind | undefined {
  const [kind = ''] = plainType(mime)?.split('/') ?? [];
  if (kind === 'image' || kind === 'audio' || kind === 'video') return kind;
  return kind === 'text' || kind === 'application' ? 'document' : undefined;
}

/** `api.runtime.media.isVoiceCompatibleAudio`: it can be sent as a voice message. */
export function isVoiceCompatibleAudio(given: {
  readonly contentType?: string | null;
  readonly fileName?: string | null;
}): boolean {
  const type = plainType(given.contentType) ?? '';
  return (
    /^audio\/(ogg|opus|mpeg|mp3|mp4|x-m4a|m4a)$/.test(type) ||
    /\.(oga|ogg|opus|mp3|m4a)$/i.test(given.fileName?.trim() ?? '')
  );
}

/** A type without its parameters. */
function plainType(mime: string | null | undefined): string | undefined {
  const type = mime?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return type === '' ? undefined : type;
}
