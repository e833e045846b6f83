import { type CsdkBlock, textField } from '../frames/frame.js';
import { type ToolAnswer, toolAnswer } from '../frames/tool-answer.js';
import { argumentsOf, blockKind, type OpenBlock, type SpeechBlock } from '../messages/block.js';
import type { OpenMessage } from '../messages/open-message.js';
import type { CoderSink } from './coder-sink.js';

/**
 * Writes the coder events of the main thread's messages: of each text the pieces once, and the whole once (C6, C7).
 * The whole is the text of the complete frame. If none has come, it is the streamed text as soon as something follows.
 *
 * @param call hears a tool call whose arguments are complete.
 * @param answer hears a tool of the model's provider.
 */
export function coderMessageWriter(
  { emit, emitOf, current }: CoderSink,
  call: (id: string, name: string, args: unknown) => void,
  answer: (answer: ToolAnswer) => void,
) {
  let open: OpenMessage | undefined;
  /** The text that was told as whole, of each block of the message. */
  let told = new Map<OpenBlock, string>();
  /** Whole blocks of one text: blocks that nothing stands between are told together. */
  let whole: string[] = [];
  let item: unknown;

  /** Tells as whole what was streamed, also what has had no complete frame. */
  function settle(): void {
    completeAll();
    reportWhole();
  }

  function completeAll(): void {
    for (const block of open?.blocks ?? [])
      if (isPending(block)) complete(block, block.grown.read());
  }

  function reportWhole(): void {
    const text = whole.join('');
    whole = [];
    if (text !== '') emitOf(item, { type: 'message', role: 'assistant', text });
  }

  function grew(_message: OpenMessage, { kind }: SpeechBlock, piece: string): void {
    if (kind === 'text') emit({ type: 'message', role: 'assistant', delta: true, text: piece });
    else emit({ type: 'progress', label: 'thinking', detail: piece });
  }

  function blockIsWhole(message: OpenMessage, block: OpenBlock, raw: CsdkBlock): void {
    if (block.kind === 'text' || block.kind === 'thinking') wholeSpeech(message, block);
    else late(message.id, raw);
    block.closed = true;
  }

  function late(_messageId: string, raw: CsdkBlock): void {
    const kind = blockKind(raw);
    if (kind !== 'call' && kind !== 'serverResult') return;
    settle();
    if (kind === 'serverResult') answer(toolAnswer(raw));
    else call(textField(raw, 'id') ?? '', textField(raw, 'name') ?? 'unknown', raw.input);
  }

  function wholeSpeech(message: OpenMessage, block: SpeechBlock): void {
    const { grown, whole: text = '' } = block;
    const streamed = grown.read();
    const rest = text.startsWith(streamed) ? text.slice(streamed.length) : '';
    if (rest !== '') {
      grown.append(rest);
      grew(message, block, rest);
    }
    // If it was told as whole before this frame came, what is missing is a whole of its own.
    complete(block, text, told.has(block) ? rest : text);
    stopped(message);
  }

  function complete(block: SpeechBlock, text: string, untold = text): void {
    told.set(block, text);
    block.closed = true;
    if (block.kind !== 'text') return;
    whole.push(untold);
    item = current();
  }

  function stopped(message: OpenMessage): void {
    if (message.isStopped && !message.blocks.some((block) => isPending(block))) reportWhole();
  }

  /** People saw pieces of a text that nothing has completed. */
  function isPending(block: OpenBlock): block is Extract<OpenBlock, { kind: 'text' }> {
    return block.kind === 'text' && !told.has(block) && block.grown.length > 0;
  }

  return {
    takesUnnamed: true,
    settle,
    /** Tells the text whose blocks are whole: something else comes. */
    reportWhole,
    /** A call that streams here has its answer already: it is told with its arguments as far as they are known. */
    callNow(callId: string): void {
      const block = open?.call(callId);
      if (block === undefined) return;
      block.closed = true;
      const args = block.json.length === 0 ? undefined : argumentsOf(block);
      call(callId, block.name, args);
    },
    opened(message: OpenMessage): void {
      open = message;
      told = new Map();
    },
    blockOpened(_message: OpenMessage, block: OpenBlock): void {
      if (block.isStreamed) completeAll();
      if (block.kind !== 'text') reportWhole();
    },
    grew,
    blockEnded(_message: OpenMessage, block: OpenBlock): void {
      const args = block.kind === 'call' ? argumentsOf(block) : undefined;
      if (block.kind === 'call' && args !== undefined) call(block.id, block.name, args);
    },
    /** Text of a message that streams is a repetition if the same was told. */
    isNew(message: OpenMessage, raw: CsdkBlock): boolean {
      const kind = blockKind(raw);
      const text = textField(raw, kind) ?? '';
      return !message.blocks.some(
        (block) => message.isStreamed && block.kind === kind && told.get(block) === text,
      );
    },
    whole: blockIsWhole,
    /** Its texts are told, but for those whose complete frames may still come. */
    stopped,
    /** The pieces of a broken attempt are given up. */
    displaced(message: OpenMessage): void {
      const isHalfTold = message.blocks.some((block) => isPending(block));
      if (isHalfTold) reportWhole();
      const detail = 'what was streamed since the last whole message was given up';
      if (message.isStreamed && !message.isStopped && isHalfTold)
        emit({ type: 'progress', label: 'retry', detail });
      else settle();
      open = undefined;
    },
    /** Nothing: late text was told, or given up. */
    latePiece(): void {},
    late,
  };
}
