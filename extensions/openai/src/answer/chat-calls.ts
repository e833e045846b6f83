import type { ToolCall } from 'sluice/stream';
import { isJson } from './chat-body.js';
import type { GoodEnd } from './chat-end.js';
import { ChatError } from './chat-error.js';

/** A tool call that the model wishes. */
export interface WishedCall extends Pick<ToolCall, 'toolCallId' | 'toolName' | 'args'> {
  /** The reason why it cannot run, for the model. */
  readonly problem?: string;
}

/** A call that grows. Its arguments are read sign by sign, once: they may be long. */
class Growing {
  id: string;
  name: string;
  /** The arguments so far, without blanks at their beginning. */
  text = '';
  /** The arguments are an object of JSON, whole. */
  isWhole = false;
  /** The objects that are open; absent before the first. */
  #depth: number | undefined;
  #isQuoted = false;
  #isEscaped = false;

  constructor(id: string, name: string, text: string) {
    this.id = id;
    this.name = name;
    this.grow(text);
  }

  grow(text: string): void {
    this.text = this.text === '' ? text.trimStart() : this.text + text;
    for (const sign of text) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (sign === '\\') this.#isEscaped = this.#isQuoted;
      else if (sign === '"') this.#isQuoted = !this.#isQuoted;
      else if (!this.#isQuoted && sign === '{') this.#depth = (this.#depth ?? 0) + 1;
      else if (!this.#isQuoted && sign === '}') this.#depth = (this.#depth ?? 0) - 1;
    }
    this.isWhole = this.#depth === 0 && isJson(this.text);
  }

  restart(text: string): void {
    this.text = '';
    this.#depth = undefined;
    this.#isQuoted = false;
    this.#isEscaped = false;
    this.grow(text);
  }
}

/** The tool calls of one answer, which come in pieces. One rule puts the pieces of all servers together: see `add`. */
export class CallPieces {
  readonly #calls: Growing[] = [];
  readonly #places = new Map<unknown, Growing>();

  /**
   * Adds pieces of calls. A piece belongs to the call of its index; without an index to that of its id, or else to the last one. It
   * begins another call if it has another name, if it has a name and neither an index nor an id, or if the arguments of the call
   * are whole JSON and it brings more. An id alone begins none: some servers change it with each piece.
   *
   * @param isWhole they are the calls of a whole message, in the place of those before.
   */
  add(pieces: readonly unknown[], isWhole: boolean): void {
    if (isWhole && pieces.length > 0) this.#calls.length = 0;
    if (isWhole) this.#places.clear();
    for (const piece of pieces) this.#add(Object(piece));
  }

  /** The calls. @param idOf makes an id of the server's, which may be missing or come again. @throws ChatError `too-long`. */
  wished(idOf: (given: string) => string, end: GoodEnd): readonly WishedCall[] {
    return this.#calls.map((call) => wishOf(call, idOf, end));
  }

  #add({ index, id: givenId, function: called, ...flat }: Record<string, unknown>): void {
    const { name: givenName, arguments: args } = Object(called ?? flat);
    const text = typeof args === 'object' && args !== null ? JSON.stringify(args) : textOf(args);
    const piece = { id: textOf(givenId), name: textOf(givenName), text };
    const { id, name } = piece;
    const hasPlace = index !== undefined && index !== null;
    const last = this.#calls.at(-1);
    const byId = id === '' ? undefined : this.#calls.findLast((one) => one.id === id);
    const isLasts = name === '' ? id === '' || text !== '' : !hasPlace && isOpen(last, name);
    const placed = hasPlace ? this.#places.get(index) : undefined;
    const isById = !hasPlace || (name === '' && placed?.id !== id); // calls side by side may share an index
    const known = (isById ? byId : placed) ?? placed ?? (isLasts ? last : undefined);
    const isOfKnown = known !== undefined && continues(known, piece);
    const call = isOfKnown ? known : new Growing(id, name || (known?.name ?? ''), text);
    if (hasPlace) this.#places.set(index, call);
    if (!isOfKnown) this.#calls.push(call);
    else if (!call.isWhole) call.grow(text);
    else if (text.trimStart().startsWith('{')) call.restart(text); // it comes again, or "{}" stood in its place
    call.id ||= id;
    call.name ||= name;
  }
}

/** Returns whether a piece belongs to the call that has its place. */
function continues(
  known: Growing,
  { id, name, text }: Pick<Growing, 'id' | 'name' | 'text'>,
): boolean {
  if (name !== '' && known.name !== '' && name !== known.name) return false;
  const isOther = id !== '' && known.id !== '' && id !== known.id;
  const isBlank = text.trim() === '';
  if (!known.isWhole) return name === '' || !isOther || !isBlank || known.text !== '';
  if (isBlank) return name === '' || !isOther;
  const isSame = id !== '' && id === known.id;
  if (text === known.text) return name === '' || isSame;
  return name === '' && (isSame || known.text.trim() === '{}' || !text.trimStart().startsWith('{'));
}

/** Returns whether a call of this name waits for the rest of its arguments. */
function isOpen(call: Growing | undefined, name: string): boolean {
  return call?.name === name && call.text !== '' && !call.isWhole;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function wishOf(
  { id, name, text }: Growing,
  idOf: (given: string) => string,
  end: GoodEnd,
): WishedCall {
  const call = { toolCallId: idOf(id), toolName: name };
  if (text.trim() === '') return { ...call, args: {} };
  let args: unknown;
  try {
    args = JSON.parse(text) ?? {};
    if (typeof args === 'string') args = JSON.parse(args); // some servers write it twice
  } catch {
    if (end === 'length')
      throw new ChatError('too-long', 'the answer met its limit of tokens within a tool call');
  }
  if (typeof args === 'object' && args !== null && !Array.isArray(args))
    return { ...call, args: args as WishedCall['args'] };
  // without a word of them: nobody has judged these
  return { ...call, args: {}, problem: 'the tool did not run: its arguments are no JSON object' };
}
