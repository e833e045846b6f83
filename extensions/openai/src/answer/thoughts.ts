/**
 * A part of a text, as it turned out. `rethink`: all text of the message so far was a thought. `end`: the message ends before the next
 * words, since people may have seen it grow.
 */
export type Said = readonly ['text' | 'thinking', string] | readonly ['rethink' | 'end'];

/**
 * The names of tags that models think between: of DeepSeek, Qwen and many others (`think`), Gemini (`thought`), Claude in text
 * (`thinking`, `antthinking`), Seed-OSS, LongCat, and prompts that ask for `reasoning`.
 */
const names = 'think|thinking|thoughts?|antthinking|seed:think|longcat_think|reasoning';
/**
 * The signs of thoughts, and the ends of lines. `<think>` with blanks and attributes, Kimi's `◁think▷`, Mistral's `[THINK]`, Cohere's
 * `<|START_THINKING|>` and the `<|begin_of_thought|>` of Sky-T1, each with signs around its answer; and of the harmony format of gpt-oss the head of a message, which names its channel, and the end of one.
 */
const signs = new RegExp(
  [
    '\\n',
    `[<◁][ \\t]{0,4}(?<slash>/?)[ \\t]{0,4}(?:${names})(?:[ \\t][^<>◁▷\\n]{0,99})?[>▷]`,
    '\\[(?<mark>/?)THINK\\]',
    '<\\|(?:START|begin_of|(?<over>END|end_of))_(?:THINKING|thought)\\|>',
    '(?<head><\\|(?:start|channel)\\|>[^<\\n]{0,64}(?:<\\|(?:channel|constrain)\\|>[^<\\n]{0,64}){0,2}<\\|message\\|>)',
    '(?<tail><\\|(?:end|return|call|(?:START|END|begin_of|end_of)_(?:RESPONSE|solution))\\|>)',
  ].join('|'),
  'gi',
);
/** The end of a text that may become a sign. */
const begun =
  /(?:<\|(?![^\n]*(?:message|end|return|call|THINKING|thought|RESPONSE|solution)\|>)[^\n]{0,250}|[<◁][ \t]{0,4}\/?[ \t]{0,4}[a-z:_]{0,13}(?:[ \t][^<>◁▷\n]{0,99})?|\[\/?[a-z]{0,5})$/i;
/** A back-tick is looked for so many characters behind a tag. */
const ahead = 256;

/**
 * Tells the thoughts in the text of one message from its answer, piece by piece; however the text is cut, the two are the same. A tag
 * in code is text: in a block of the answer, or between back-ticks of one line. A closing tag alone says that all before it was a
 * thought. Blanks at the beginning, and behind a sign, are left out.
 */
export class TaggedThoughts {
  /** The message had a closing tag alone. */
  isClosedAlone = false;
  /** A thought is known, by tags or beside the text: a closing tag at the very end tells nothing then. */
  hasThought = false;
  #isInside: boolean;
  /** The words that are a thought by habit alone: without a tag they turn out to be the answer. */
  #guessed: string | undefined;
  #held = '';
  /** The line so far, since the last sign. */
  #line = '';
  /** The block of code that the answer is in: its fence. */
  #fence = '';
  /** No words have come since the beginning or the last sign. */
  #isFresh = true;
  #hasText = false;
  /** A closing tag alone has come, and no words after it. */
  #mayRethink = false;

  /** @param beginsInThought the words are taken for a thought until a closing tag comes. */
  constructor(beginsInThought: boolean) {
    this.#isInside = beginsInThought;
    if (beginsInThought) this.#guessed = '';
  }

  push(piece: string): Said[] {
    return this.#read(piece, false);
  }

  /** The text ends. @param isWhole it was not cut: without a tag, words that were taken for a thought are the answer. */
  finish(isWhole: boolean): Said[] {
    const said = this.#read('', true);
    if (isWhole && this.#guessed) said.push(['text', this.#guessed]);
    if (this.#mayRethink && !this.hasThought) said.push(['rethink']);
    return said;
  }

  #read(piece: string, isEnd: boolean): Said[] {
    const said: Said[] = [];
    const text = this.#held + piece;
    let from = 0;
    let end = isEnd ? text.length : (begun.exec(text)?.index ?? text.length);
    const sayTo = (to: number): void => {
      this.#line += text.slice(from, to);
      this.#say(text.slice(from, to), said);
      from = to;
    };
    for (const sign of text.matchAll(signs)) {
      if (sign.index >= end) break;
      sayTo(sign.index);
      if (sign[0] === '\n') {
        this.#endLine();
        continue; // it is said with what follows
      }
      const after = sign.index + sign[0].length;
      const next = /[`\n]/.exec(text.slice(after, after + ahead))?.[0];
      const isInCode = (this.#line.match(/`+/g)?.length ?? 0) % 2 === 1;
      if (isInCode && next === undefined && !isEnd && text.length - after < ahead) {
        end = sign.index;
        break;
      }
      const isInBlock = this.#fence !== '' && !this.#isInside;
      if ((isInCode && next === '`') || isInBlock || /^\[.*[a-z]/.test(sign[0])) continue;
      from = after;
      this.#turn(sign.groups ?? {});
    }
    sayTo(end);
    this.#held = text.slice(end);
    return said;
  }

  #endLine(): void {
    const [, fence = '', more = ''] = /^\n? {0,3}(`{3,}|~{3,})([^\n]*)$/.exec(this.#line) ?? [];
    this.#line = '';
    if (this.#fence === '' && !more.includes('`')) this.#fence = fence;
    else if (fence.startsWith(this.#fence) && more.trim() === '') this.#fence = '';
  }

  #turn({ slash, mark, over, head, tail }: Record<string, string | undefined>): void {
    const isAnswer = head !== undefined && !/<\|channel\|>(?!\s*final)/i.test(head);
    const isClosing = Boolean(slash || mark || over || (tail && this.#isInside));
    const isOpening = !isClosing && !isAnswer && tail === undefined;
    if (isOpening) this.#isInside = true;
    else if (this.#isInside) {
      this.#isInside = false;
      this.isClosedAlone ||= this.#guessed !== undefined;
      this.hasThought = true;
    } else if (isClosing || (isAnswer && !this.hasThought)) this.#mayRethink ||= this.#hasText;
    if (!isOpening || this.#guessed === '') this.#guessed = undefined;
    this.#line = '';
    this.#fence = '';
    this.#isFresh = true;
  }

  #say(words: string, said: Said[]): void {
    const all = this.#isFresh ? words.trimStart() : words;
    if (all === '') return;
    this.#isFresh = false;
    if (this.#guessed !== undefined) this.#guessed += all;
    if (!this.#isInside && this.#mayRethink) {
      said.push(['rethink'], ['end']);
      this.#mayRethink = false;
      this.isClosedAlone = true;
      this.hasThought = true;
    }
    this.#hasText ||= !this.#isInside;
    said.push([this.#isInside ? 'thinking' : 'text', all]);
  }
}
