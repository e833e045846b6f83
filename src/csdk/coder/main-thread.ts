import { type CsdkStreamEvent, isTyped, type KnownFrame, textField } from '../frames/frame.js';
import { type ToolAnswer, toolAnswers } from '../frames/tool-answer.js';
import { MessageReader } from '../messages/message-reader.js';
import { assistantText } from './blocks/assistant-text.js';
import type { CoderBody } from './blocks/coder-event.js';
import { changesOf } from './blocks/file-change.js';
import { type OpenCall, openCalls } from './blocks/open-calls.js';
import { taskPlan } from './blocks/task-plan.js';
import { CoderMessageWriter } from './message-writer.js';

type AssistantFrame = Extract<KnownFrame, { kind: 'assistant' }>;
type UserFrame = Extract<KnownFrame, { kind: 'user' }>;

/** So many messages that are over are remembered. */
const closedMessages = 256;

/** The main thread: the texts and calls of the model, and the answers of its tools. */
export class MainThread {
  readonly #emit: (body: CoderBody) => void;
  readonly #calls = openCalls();
  readonly #plan = taskPlan();
  readonly #writer: CoderMessageWriter;
  readonly #reader: MessageReader;

  constructor(emit: (body: CoderBody) => void) {
    this.#emit = emit;
    this.#writer = new CoderMessageWriter({
      emit,
      call: (id, name, args) => this.call(id, name, args),
      answer: (answer) => this.#answer(answer),
    });
    this.#reader = new MessageReader(this.#writer, closedMessages);
  }

  streamEvent(event: CsdkStreamEvent): void {
    this.#reader.event(event);
  }

  /** A complete frame: mostly one block of a message, older ones all of them. */
  assistant({ message }: Pick<AssistantFrame, 'message'>): void {
    this.#reader.complete(message);
  }

  /** Frames of the user: the answers of tools. */
  user(frame: UserFrame): void {
    this.settle();
    for (const answer of toolAnswers(frame.content, frame.toolUseResult)) this.#answer(answer);
  }

  /** Notes a subagent's calls, and tells the files that their answers change. The rest of it is told as progress elsewhere. */
  subagent(frame: AssistantFrame | UserFrame): void {
    if (frame.kind === 'assistant') {
      for (const block of frame.message.content)
        if (block.type === 'tool_use')
          this.#calls.begin(
            textField(block, 'id') ?? '',
            textField(block, 'name') ?? 'unknown',
            block.input,
          );
      return;
    }
    for (const answer of toolAnswers(frame.content, frame.toolUseResult)) {
      const call = this.#calls.end(answer.callId);
      if (call !== undefined && !answer.isError) this.#changes(call, answer);
    }
  }

  /** Tells a call, once. */
  call(id: string, name: string, args: unknown): void {
    if (!this.#calls.begin(id, name, args)) return;
    this.#emit({
      type: 'tool_use',
      name,
      ...(id !== '' && { callId: id }),
      ...(args !== undefined && { args }),
    });
  }

  /** Tells an answer that came as a message of its own, under the name of its call where it says none. */
  flatAnswer(answer: Extract<CoderBody, { type: 'tool_result' }>): void {
    this.settle();
    const id = answer.callId ?? '';
    const known = this.#calls.get(id)?.name;
    if (this.#calls.end(id, answer.name) === undefined) return;
    this.#emit(known === undefined ? answer : { ...answer, name: known });
  }

  /** Tells as whole what was only streamed: nothing more comes for it. */
  settle(): void {
    this.#writer.settle();
  }

  /** Another conversation takes the place of this one. */
  reset(): void {
    this.#reader.displace();
    this.#calls.clear();
    this.#plan.clear();
  }

  #answer(answer: ToolAnswer): void {
    const { callId: id, structured, content } = answer;
    this.#writer.callNow(id);
    const name = this.#calls.get(id)?.name ?? 'unknown';
    if (answer.isDetached) {
      this.#emit({ type: 'progress', label: name, detail: 'detached: it goes on' });
      return;
    }
    const call = this.#calls.end(id, name);
    if (call === undefined) return; // the same again
    const result = structured ?? content;
    this.#emit({
      type: 'tool_result',
      name,
      ...(id !== '' && { callId: id }),
      ...(result !== undefined && { result }),
      ...(answer.isError && { error: errorText(content) }),
    });
    if (!answer.isError) this.#changes(call, answer);
  }

  #changes(call: OpenCall, { structured, content }: ToolAnswer): void {
    for (const change of changesOf(call, structured)) this.#emit(change);
    for (const change of this.#plan.after(call, structured, content)) this.#emit(change);
  }
}

/** The words for a failed call: the text of its answer, else the error code of a provider's tool. */
function errorText(content: unknown): string {
  const code = isTyped(content) ? textField(content, 'error_code') : undefined;
  return assistantText({ content }) || code || 'The tool failed.';
}
