import {
  closeGaps,
  directivesIn,
  withoutAudioTag,
  withoutReplyTags,
} from './directives/read-directives.js';

/** Which rules for the space between words hold for a text, by what was found in it. */
export interface SpaceRules {
  readonly media: boolean;
  readonly audio: boolean;
  readonly reply: boolean;
}

/** The rules of a text without directives: it stays as it is. */
export const plainRules: SpaceRules = { media: false, audio: false, reply: false };

const directiveEnd = /\[\[\s*(?:audio_as_voice|reply_to_current|reply_to\s*:\s*[^\][\n]+)\s*\]\]$/i;

/**
 * A growing text without its directives, and without the space around it. The space that a text ends with, and
 * directives in it, wait for the word that follows.
 */
export class CollapsedText {
  readonly #rules: SpaceRules;
  #text = '';
  #gap = '';

  constructor(rules: SpaceRules) {
    this.#rules = rules;
  }

  /** The text so far, up to the last word. */
  get text(): string {
    return this.#text;
  }

  /** Adds a piece. Gives the growth of the text. */
  push(piece: string): string {
    const { words, gap } = this.#split(piece);
    this.#gap = gap;
    const added = this.#collapse(words);
    this.#text += added;
    return added;
  }

  /** Gives the growth that `piece` would bring. `piece` is not added. */
  peek(piece: string): string {
    return this.#collapse(this.#split(piece).words);
  }

  #split(piece: string): { words: string; gap: string } {
    if (piece.trim() === '') return { words: '', gap: this.#gap + piece }; // a long gap is read once
    const text = this.#gap + piece;
    let words = text;
    for (let isMoving = true; isMoving; ) {
      const before = words.trimEnd();
      const directive = before.endsWith(']]') ? directiveEnd.exec(before) : null;
      isMoving = directive !== null;
      words = directive === null ? before : before.slice(0, directive.index);
    }
    return { words, gap: text.slice(words.length) };
  }

  #collapse(words: string): string {
    const { media, audio, reply } = this.#rules;
    let text = words;
    if (audio) text = withoutAudioTag(text);
    if (audio || media) text = closeGaps(text);
    if (reply) text = withoutReplyTags(text);
    return this.#text === '' ? text.trimStart() : text;
  }
}

/** The rules that hold once a piece was added. */
export function rulesWith(rules: SpaceRules, piece: string, media: boolean): SpaceRules {
  const found = directivesIn(piece);
  const audio = rules.audio || found.audio;
  const reply = rules.reply || found.reply;
  if (media === rules.media && audio === rules.audio && reply === rules.reply) return rules;
  return { media, audio, reply };
}
