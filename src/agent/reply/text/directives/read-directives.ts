import { definedFields } from 'sluice-kernel/internal';
import { fenceAround, fenceSpans } from './fence-line.js';
import { readMediaLine } from './media-line.js';

/** A reply's text, and what its directives ask for. */
export interface DirectedText {
  /** Without the directives. */
  readonly text: string;
  readonly mediaUrls: readonly string[];
  readonly audioAsVoice: boolean;
  /** The message that it answers, by id. */
  readonly replyToId?: string;
  /** It answers the message that started the run. */
  readonly replyToCurrent: boolean;
  /** A directive said which message it answers. */
  readonly replyToTag: boolean;
}

/** A model's whole answer where it has nothing to say. */
export const silentReply = 'NO_REPLY';

const audioTag = /\[\[\s*audio_as_voice\s*\]\]/gi;
const replyTag = /\[\[\s*(?:reply_to_current|reply_to\s*:\s*([^\]\n]+))\s*\]\]/gi;

/** Finds which kinds of directives a text holds. */
export function directivesIn(text: string): { audio: boolean; reply: boolean } {
  if (!text.includes(']]')) return { audio: false, reply: false };
  return { audio: text.search(audioTag) >= 0, reply: text.search(replyTag) >= 0 };
}

/** Takes the audio directive out; the space that is left is made good. */
export function withoutAudioTag(text: string): string {
  return evenSpaces(text.replace(audioTag, ' '));
}

/** Takes the reply directives out; the space that is left is made good. */
export function withoutReplyTags(text: string): string {
  return evenSpaces(text.replace(replyTag, ' '));
}

/** Returns whether a text has more than directives: words, a file, or `NO_REPLY`. */
export function saysSomething(text: string): boolean {
  return withoutReplyTags(withoutAudioTag(text)).trim() !== '';
}

/** Closes the gaps that lines of media leave. */
export function closeGaps(text: string): string {
  return text
    .replace(/[ \t]+\n/g, '\n')
    .replace(/[ \t]{2,}/g, ' ')
    .replace(/\n{2,}/g, '\n');
}

function evenSpaces(text: string): string {
  return text.replace(/[ \t]+/g, ' ').replace(/[ \t]*\n[ \t]*/g, '\n');
}

/**
 * Reads the directives of a whole text: `[[reply_to_current]]`, `[[reply_to: id]]`, `[[audio_as_voice]]`, and
 * `MEDIA:` lines outside of code blocks. A text without any stays as it is, without the space at its end.
 *
 * @example
 * readDirectives('[[reply_to_current]] Yes.'); // { text: 'Yes.', replyToCurrent: true, replyToTag: true, ... }
 */
export function readDirectives(said: string): DirectedText {
  const { text: lines, mediaUrls } = takeMedia(said.trimEnd());
  const { audio, reply } = directivesIn(lines);
  let text = audio ? withoutAudioTag(lines) : lines;
  if (audio || mediaUrls.length > 0) text = closeGaps(text).trim();
  let replyToId: string | undefined;
  let replyToCurrent = false;
  if (reply) {
    for (const [, id] of text.matchAll(replyTag)) {
      if (id === undefined) replyToCurrent = true;
      else replyToId = id.trim() === '' ? replyToId : id.trim();
    }
    text = withoutReplyTags(text).trim();
  }
  return {
    text: text.trim() === silentReply ? '' : text,
    mediaUrls,
    audioAsVoice: audio,
    ...definedFields({ replyToId }),
    replyToCurrent,
    replyToTag: reply,
  };
}

function takeMedia(text: string): { text: string; mediaUrls: readonly string[] } {
  if (!text.includes('MEDIA:')) return { text, mediaUrls: [] };
  const fences = fenceSpans(text);
  const mediaUrls: string[] = [];
  const kept: string[] = [];
  let at = 0;
  for (const line of text.split('\n')) {
    const isCode = fenceAround(fences, at) !== undefined;
    const media = isCode ? undefined : readMediaLine(line);
    at += line.length + 1;
    if (media === undefined) kept.push(line);
    else if (media.rest !== '') kept.push(media.rest);
    mediaUrls.push(...(media?.mediaUrls ?? []));
  }
  return { text: mediaUrls.length > 0 ? kept.join('\n') : text, mediaUrls };
}
