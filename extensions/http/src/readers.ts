import type { ServerResponse } from 'node:http';
import type { Clock } from 'sluice';
import type { Answer, Part } from './answers.js';
import { refusal, refusalOf } from './refusal.js';

/** The facts about a completion that each of its objects repeats. */
interface About {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

/** Milliseconds between signs of life. */
const heartbeatMs = 15_000;
/** Characters that are written at once. */
const pieceAtMost = 262_144;
const fields = ['reasoning_content', 'content'] as const;

/** Waits for an answer until its end or the end of its reader. @param reader is called when it has changed. */
export function follow(
  answer: Answer,
  response: ServerResponse,
  reader: (done: (response: Response) => void) => unknown,
): Promise<Response> {
  return new Promise((resolve) => {
    const read = (): unknown => reader(resolve);
    const left = (): void => {
      answer.readers.delete(read);
      answer.stopIfUnwanted();
      resolve(new Response());
    };
    answer.readers.add(read);
    response.once('close', left).on('drain', read);
    if (response.closed) left();
    else read();
  });
}

/** Answers with all of it, when it has ended. */
export function whole(answer: Answer, about?: About) {
  return (done: (response: Response) => void): void => {
    if (answer.kept.end === undefined) return;
    const reasoning_content = answer.text('reasoning_content') || undefined;
    const message = { role: 'assistant', content: answer.text('content'), reasoning_content };
    const choices = [{ index: 0, message, logprobs: null, finish_reason: 'stop' }];
    const questions = answer.questions();
    const sluice = questions.length === 0 ? {} : { sluice: { questions } };
    const completion = { ...about, object: 'chat.completion', choices, ...sluice };
    done(refusalOf(answer) ?? Response.json(completion));
  };
}

/**
 * Writes it while it grows, as server-sent events, as fast as its reader takes it: a slow one blocks nobody. One that takes
 * nothing between two signs of life is cut off. Nothing that was written can be taken back: if the answer is another in the end,
 * the end is an error (http §3.3).
 */
export function streamed(answer: Answer, about: About, response: ServerResponse, clock: Clock) {
  /** The text of each field that goes on with what was written of it, and how far it was written. */
  const shown = { reasoning_content: { of: '', to: 0 }, content: { of: '', to: 0 } };
  let questions = 0;
  let written = 0;
  let before = -1;
  const write = (text: string): void => {
    const headers = { 'content-type': 'text/event-stream; charset=utf-8', connection: 'close' };
    if (!response.headersSent) response.writeHead(200, { 'cache-control': 'no-store', ...headers });
    response.write(text);
    written++;
  };
  const chunk = (delta: object, more: { finish_reason?: string; sluice?: object } = {}): void => {
    const { finish_reason = null, ...rest } = more;
    const choices = [{ index: 0, delta, logprobs: null, finish_reason }];
    const object = 'chat.completion.chunk';
    write(`data: ${JSON.stringify({ ...about, object, choices, ...rest })}\n\n`);
  };
  const beat = (): void => {
    if (!response.writableNeedDrain && !response.writableEnded) write(': it is being made\n\n');
    else if (written === before) response.destroy();
    before = written;
    timer = clock.setTimeout(beat, heartbeatMs);
  };
  let timer = clock.setTimeout(beat, heartbeatMs);
  response.once('close', () => clock.clearTimeout(timer));
  const takenBack = (): Response | undefined => {
    const isShown = (field: Part['field']): boolean =>
      answer.text(field).trimEnd() === shown[field].of.slice(0, shown[field].to).trimEnd();
    if (fields.every(isShown)) return undefined;
    const eventId = answer.kept.end?.correlationId;
    return refusal(500, 'taken-back', 'what was shown is not the answer: ask again', { eventId });
  };

  return async (done: (response: Response) => void): Promise<void> => {
    if (response.writableEnded) return;
    for (const field of fields) {
      const at = shown[field];
      const text = answer.text(field);
      if (text !== at.of && text.startsWith(at.of.slice(0, at.to))) at.of = text;
      while (at.to < at.of.length && !response.writableNeedDrain) {
        const role = shown.content.to + shown.reasoning_content.to === 0 ? 'assistant' : undefined;
        const from = at.to;
        at.to = Math.min(from + pieceAtMost, at.of.length);
        if (at.to < at.of.length && /[\ud800-\udbff]/.test(at.of.charAt(at.to - 1))) at.to--; // a pair stays one
        chunk({ role, [field]: at.of.slice(from, at.to) });
      }
    }
    if (response.writableNeedDrain) return;
    for (const buttons of answer.questions().slice(questions)) {
      chunk({}, { sluice: { questions: [buttons] } });
      questions++;
    }
    if (answer.kept.end === undefined || response.writableNeedDrain) return;
    const refused = refusalOf(answer) ?? takenBack();
    if (refused === undefined) {
      chunk({}, { finish_reason: 'stop' });
      response.end('data: [DONE]\n\n');
    } else if (response.headersSent) response.end(`data: ${await refused.text()}\n\n`);
    done(refused ?? new Response());
  };
}
