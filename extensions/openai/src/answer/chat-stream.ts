import type { Clock } from 'sluice';
import { bodyPieces, isJson } from './chat-body.js';
import { AnswerEnd, type ChatPart } from './chat-end.js';
import { ChatError, failureIn, failureOf, toldIn } from './chat-error.js';

/** The address of a model, and the bounds of one answer. */
interface ChatTarget {
  readonly url: string;
  readonly headers: Headers;
  readonly idleTimeoutMs: number;
  readonly maxAnswerBytes: number;
  readonly clock: Clock;
}

/** Characters of an answer that is an error. */
const maxErrorChars = 65_536;
/** Milliseconds that a server has for the usage and `[DONE]`, when it has said how its answer ends. */
const afterEndMs = 1_000;

/**
 * Asks for an answer, and yields its parts as they come; the last one says how it has ended. A server that does not stream gives its
 * answer as one part.
 *
 * @throws ChatError without the key; the reason of the signal if that aborts.
 */
export async function* chatParts(
  body: object,
  { url, headers, idleTimeoutMs, maxAnswerBytes, clock }: ChatTarget,
  signal: AbortSignal,
): AsyncGenerator<ChatPart, void> {
  const at = new URL(url);
  at.pathname = `${at.pathname}/chat/completions`.replace('//', '/');
  const silence = new AbortController();
  const listen = (ms: number) => clock.setTimeout(() => silence.abort(), ms);
  let timer = listen(idleTimeoutMs);
  const end = new AnswerEnd();
  let response: Response | undefined;
  const failed = (thrown: unknown): ChatError => {
    if (thrown instanceof ChatError) return thrown;
    if (end.told !== undefined) return failureIn(end.told);
    if (silence.signal.aborted)
      return new ChatError(
        'timed-out',
        `the server said nothing for ${idleTimeoutMs} ms (idleTimeoutMs)`,
      );
    const { cause = thrown } = Object(thrown);
    const { code, message = String(cause) } = Object(cause);
    const words = String(code ?? message);
    if (response === undefined) return new ChatError('unreachable', `${at.origin}: ${words}`);
    return new ChatError('cut-stream', words);
  };
  try {
    response = await fetch(at, {
      method: 'POST',
      headers,
      body: JSON.stringify(body, (_, one: unknown) =>
        typeof one === 'string' ? one.replace(/\p{Cs}/gu, '\ufffd') : one,
      ), // half a letter, such as a cut may leave, is refused by many servers
      signal: AbortSignal.any([signal, silence.signal]),
      redirect: 'error', // the key and the prompt go where the settings say, and nowhere else
    });
    const { ok } = response;
    const pieces = piecesOf(response, maxAnswerBytes, () => !ok || end.word !== undefined);
    if (!ok) {
      clock.clearTimeout(timer);
      timer = listen(afterEndMs); // the status is the end: the rest is its words
      let text = '';
      for await (const piece of pieces) {
        text += piece;
        if (text.length > maxErrorChars) break;
      }
      throw failureOf(response, text, clock.now());
    }
    let untilMs: number | undefined;
    for await (const found of bodyPieces(pieces)) {
      clock.clearTimeout(timer); // the time of the reader is not the server's
      let hasGrown = false;
      for (const { text, isFailure } of found) {
        if (!isFailure && text.trim() === '[DONE]') return yield { end: end.close() };
        const isPart = !isFailure && (end.word === undefined || isJson(text)); // after the end, the rest may be anything
        const part = isPart ? partOf(text) : {};
        hasGrown = end.read(part, text, isFailure) || hasGrown;
        yield part;
      }
      // after the end a ping is no sign of work, and more of the answer is
      if (end.word !== undefined && (hasGrown || untilMs === undefined))
        untilMs = clock.now() + afterEndMs;
      timer = listen(untilMs === undefined ? idleTimeoutMs : Math.max(0, untilMs - clock.now()));
    }
    yield { end: end.close() };
  } catch (thrown) {
    if (signal.aborted) throw signal.reason;
    throw failed(thrown).with(redactor(headers));
  } finally {
    clock.clearTimeout(timer);
    silence.abort(); // lets go of the connection, if the reader has left
  }
}

/**
 * The texts of a body, as they come.
 *
 * @param isEnough tells whether a connection that breaks now has lost nothing.
 * @throws ChatError `too-long`; what the platform says of the connection.
 */
async function* piecesOf(
  { body }: Response,
  maxBytes: number,
  isEnough: () => boolean,
): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let bytes = 0;
  try {
    for await (const piece of body ?? []) {
      bytes += piece.byteLength;
      if (bytes > maxBytes)
        throw new ChatError('too-long', `the answer has more than ${maxBytes} bytes`);
      yield decoder.decode(piece, { stream: true });
    }
  } catch (thrown) {
    if (thrown instanceof ChatError || !isEnough()) throw thrown;
  }
}

/** The beginning of a page of a proxy, which has no words of a model. */
const isPage = /^\s*<(!doctype|html)\b/i;

/** Reads a part. @throws ChatError without words of the part: they may be a model's, which nobody has judged (§16.32). */
function partOf(text: string): ChatPart {
  let part: unknown;
  try {
    part = JSON.parse(text);
  } catch {
    const page = isPage.test(text) ? `: ${toldIn(text).message.slice(0, 80)}` : '';
    throw new ChatError('broken-stream', `a part is no JSON (${text.length} characters)${page}`);
  }
  if (typeof part !== 'object' || part === null)
    throw new ChatError('broken-stream', `a part is no object (${text.length} characters)`);
  return part;
}

/** A word is a secret if it shares so many characters beside each other with one. */
const pieceChars = 8;
const secretHeader = /auth|key|token|secret|cookie/i;

/** Makes a function that takes the secrets of a request, and pieces of them, out of a text: servers repeat a key that they do not know. */
function redactor(headers: Headers): (text: string) => string {
  const secrets = [...headers].flatMap(([name, value]) => (secretHeader.test(name) ? value : []));
  const isSecret = (word: string): boolean => {
    const pieces = Array.from({ length: word.length - pieceChars + 1 }, (_, at) =>
      word.slice(at, at + pieceChars),
    );
    return pieces.some((piece) => secrets.some((one) => one.includes(piece)));
  };
  return (text) => text.replace(/\S{8,}/g, (word) => (isSecret(word) ? '<key>' : word));
}
