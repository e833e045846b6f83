import { grownBy } from '@sluice/sdk/stream/internal';
import { closesFence, type FenceLine, fenceLine } from './directives/fence-line.js';
import { longestMediaLine, mayBeMediaLine, readMediaLine } from './directives/media-line.js';
import { OpenDirective } from './directives/open-directive.js';
import {
  closeGaps,
  directivesIn,
  silentReply,
  withoutAudioTag,
  withoutReplyTags,
} from './directives/read-directives.js';
import { GrowingStage, type StageRead } from './growing-stage.js';
import { finalOnlyRule, finalRule, tagStage, thinkRule } from './tag-stage.js';

/** How a reply's text changed. */
export interface ReplyChange {
  /** All of it: without thoughts, tags, directives and the space around it. */
  readonly text: string;
  /** So much of it at least is as it was before, and `end` is what follows that. */
  readonly kept: number;
  readonly end: string;
  /** The text begins with the one before. */
  readonly isGrown: boolean;
}

/** A text that was shown: with `tail`, it is the sure text and what may follow. */
interface Shown {
  readonly text: string;
  readonly tail: string | undefined;
}

/**
 * The text of a message as people see it while it grows. A piece costs what it is long, not what came before it;
 * only the first directive of each kind reads the text again, since it changes the space in all of it.
 */
export class GrowingReply {
  readonly #think = tagStage(thinkRule);
  readonly #final: ReturnType<typeof tagStage>;
  readonly #media = mediaStage();
  #rules: SpaceRules = plainRules;
  #collapsed = new CollapsedText(plainRules);
  readonly #directive = new OpenDirective();
  /** All that went into `#collapsed`. */
  #source = '';
  #isVisible = false;
  #shown: Shown = { text: '', tail: '' };
  /** The growth of the sure text since it was shown; `undefined` if the text was read again. */
  #grown: string | undefined = '';

  constructor(finalOnly: boolean) {
    this.#final = tagStage(finalOnly ? finalOnlyRule : finalRule);
  }

  /** Adds a piece. Nothing if nothing is visible yet. */
  append(piece: string): ReplyChange | undefined {
    const visible = this.#fromStart(this.#final.push(this.#think.push(piece)));
    this.#isVisible ||= visible !== '';
    this.#take(this.#media.push(this.#directive.push(visible)), this.#media.place.hasMedia);
    const shown = this.#read();
    if (shown === undefined) return undefined;
    const change = this.#changeTo(shown);
    this.#shown = shown;
    this.#grown = '';
    return change;
  }

  #changeTo({ text, tail }: Shown): ReplyChange {
    const before = this.#shown;
    if (this.#grown === undefined || tail === undefined || before.tail === undefined)
      return { text, kept: 0, end: text, isGrown: text.startsWith(before.text) };
    const end = this.#grown + tail;
    const kept = before.text.length - before.tail.length;
    return { text, kept, end, isGrown: end.startsWith(before.tail) };
  }

  /** The space that a text begins with is no part of its first line. */
  #fromStart(text: string): string {
    return this.#isVisible ? text : text.trimStart();
  }

  #take(piece: string, media: boolean): void {
    this.#source = grownBy(this.#source, piece);
    const rules = rulesWith(this.#rules, piece, media);
    if (rules === this.#rules) {
      const grown = this.#collapsed.push(piece);
      if (this.#grown !== undefined) this.#grown += grown;
      return;
    }
    this.#rules = rules;
    this.#collapsed = new CollapsedText(rules);
    this.#collapsed.push(this.#source);
    this.#grown = undefined;
  }

  /** Reads the part that is not sure yet as if nothing followed. */
  #read(): Shown | undefined {
    const visible = this.#fromStart(this.#final.peek(this.#think.peek('').kept).kept);
    if (!this.#isVisible && visible === '') return undefined;
    const { kept, place } = this.#media.peek(this.#directive.peek(visible));
    const rules = rulesWith(this.#rules, kept, place.hasMedia);
    let shown: Shown;
    if (rules === this.#rules) {
      const tail = this.#collapsed.peek(kept);
      shown = { text: this.#collapsed.text + tail, tail };
    } else {
      const alone = new CollapsedText(rules);
      alone.push(this.#source + kept);
      shown = { text: alone.text, tail: undefined };
    }
    return shown.text === silentReply ? { text: '', tail: undefined } : shown;
  }
}

/** Which rules for the space between words hold for a text, by what was found in it. */
interface SpaceRules {
  readonly media: boolean;
  readonly audio: boolean;
  readonly reply: boolean;
}

/** The rules of a text without directives: it stays as it is. */
const plainRules: SpaceRules = { media: false, audio: false, reply: false };

const directiveEnd = /\[\[\s*(?:audio_as_voice|reply_to_current|reply_to\s*:\s*[^\][\n]+)\s*\]\]$/i;

/**
 * A growing text without its directives, and without the space around it. The space that a text ends with, and
 * directives in it, wait for the word that follows.
 */
class CollapsedText {
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
function rulesWith(rules: SpaceRules, piece: string, media: boolean): SpaceRules {
  const found = directivesIn(piece);
  const audio = rules.audio || found.audio;
  const reply = rules.reply || found.reply;
  if (media === rules.media && audio === rules.audio && reply === rules.reply) return rules;
  return { media, audio, reply };
}

/** The place of a text that is read line by line. */
interface MediaPlace {
  fence: FenceLine | undefined;
  /** The line is known to be an ordinary one. */
  isOrdinary: boolean;
  hasMedia: boolean;
}

const fenceBegin = /^ {0,3}(?:`{1,2}|~{1,2}|`{3}.*|~{3}.*)?$/;

/** Takes `MEDIA:` lines out of a growing text, outside of code blocks. A line that may be one is held until it ends. */
function mediaStage(): GrowingStage<MediaPlace> {
  return new GrowingStage<MediaPlace>(
    { fence: undefined, isOrdinary: false, hasMedia: false },
    read,
  );
}

function read(text: string, place: MediaPlace, isEnd: boolean): StageRead {
  let kept = '';
  let at = 0;
  while (at < text.length) {
    const newline = text.indexOf('\n', at);
    const isWhole = newline >= 0 || isEnd;
    const line = newline < 0 ? text.slice(at) : text.slice(at, newline);
    const next = newline < 0 ? text.length : newline + 1;
    if (line.length > longestMediaLine) place.isOrdinary = true;
    if (!place.isOrdinary && !isWhole && (mayBeMediaLine(line) || fenceBegin.test(line))) break;
    kept += place.isOrdinary ? text.slice(at, next) : readLine(line, text.slice(at, next), place);
    place.isOrdinary = newline < 0;
    at = next;
  }
  return { kept, end: at };
}

/** Gives the part of a whole line that stays. */
function readLine(line: string, withEnd: string, place: MediaPlace): string {
  const fence = fenceLine(line);
  if (fence !== undefined) {
    if (place.fence === undefined) place.fence = fence;
    else if (closesFence(place.fence, fence)) place.fence = undefined;
    return withEnd;
  }
  const media = place.fence === undefined ? readMediaLine(line) : undefined;
  if (media === undefined) return withEnd;
  place.hasMedia = true;
  return media.rest === '' ? '' : media.rest + withEnd.slice(line.length);
}
