import { definedFields } from 'sluice-kernel/internal';
import {
  type CsdkStreamEvent,
  type Fields,
  isFields,
  isTyped,
  type KnownFrame,
  textField,
} from '../frames/frame.js';
import { type ToolAnswer, toolAnswers } from '../frames/tool-answer.js';
import { MessageReader } from '../messages/message-reader.js';
import { assistantText } from './blocks/assistant-text.js';
import type { CoderBody } from './blocks/coder-body.js';
import { type OpenCall, openCalls } from './blocks/open-calls.js';
import { planLine, taskPlan } from './blocks/task-plan.js';
import type { CoderSink } from './coder-sink.js';
import { CoderMessageWriter } from './message-writer.js';

type AssistantFrame = Extract<KnownFrame, { kind: 'assistant' }>;
type UserFrame = Extract<KnownFrame, { kind: 'user' }>;

/** So many messages that are over are remembered. */
const closedMessages = 256;

/** The main thread: the texts and calls of the model, and the answers of its tools. */
export function mainThread(sink: CoderSink) {
  const { emit } = sink;
  const calls = openCalls();
  const plan = taskPlan();
  const writer = new CoderMessageWriter(sink, { call, answered });
  const reader = new MessageReader(writer, closedMessages);

  /** Tells a call, once. */
  function call(id: string, name: string, args: unknown): void {
    if (!calls.begin(id, name, args)) return;
    writer.reportWhole();
    emit({
      type: 'tool_use',
      name,
      ...(id !== '' && { callId: id }),
      ...(args !== undefined && { args }),
    });
  }

  function answered(answer: ToolAnswer): void {
    const { callId: id, structured, content } = answer;
    writer.callNow(id);
    const name = calls.get(id)?.name ?? 'unknown';
    if (answer.isDetached) {
      emit({ type: 'progress', label: name, detail: 'detached: it goes on' });
      return;
    }
    const call = calls.end(id, name);
    if (call === undefined) return; // the same again
    const result = structured ?? content;
    emit({
      type: 'tool_result',
      name,
      ...(id !== '' && { callId: id }),
      ...(result !== undefined && { result }),
      ...(answer.isError && { error: errorText(content) }),
    });
    if (!answer.isError) changes(call, answer);
  }

  function changes(call: OpenCall, { structured, content }: ToolAnswer): void {
    for (const change of changesOf(call, structured)) emit(change);
    for (const change of plan.after(call, structured, content)) emit(change);
  }

  return {
    streamEvent: (event: CsdkStreamEvent): void => reader.event(event),
    /** A complete frame: mostly one block of a message, older ones all of them. */
    assistant({ message }: Pick<AssistantFrame, 'message'>): void {
      reader.complete(message);
    },
    /** Frames of the user: the answers of tools. */
    user(frame: UserFrame): void {
      writer.settle();
      for (const answer of toolAnswers(frame.content, frame.toolUseResult)) answered(answer);
    },
    /** Notes a subagent's calls, and tells the files that their answers change. The rest of it is told as progress elsewhere. */
    subagent(frame: AssistantFrame | UserFrame): void {
      if (frame.kind === 'assistant') {
        for (const block of frame.message.content)
          if (block.type === 'tool_use') {
            const name = textField(block, 'name') ?? 'unknown';
            calls.begin(textField(block, 'id') ?? '', name, block.input);
          }
        return;
      }
      for (const answer of toolAnswers(frame.content, frame.toolUseResult)) {
        const call = calls.end(answer.callId);
        if (call !== undefined && !answer.isError) changes(call, answer);
      }
    },
    call,
    /** Tells an answer that came as a message of its own, under the name of its call where it says none. */
    flatAnswer(answer: Extract<CoderBody, { type: 'tool_result' }>): void {
      writer.settle();
      const id = answer.callId ?? '';
      const known = calls.get(id)?.name;
      if (calls.end(id, answer.name) === undefined) return;
      emit(known === undefined ? answer : { ...answer, name: known });
    },
    /** Tells as whole what was only streamed: nothing more comes for it. */
    settle: (): void => writer.settle(),
    /** Another conversation takes the place of this one. */
    reset(): void {
      reader.displace();
      calls.clear();
      plan.clear();
    },
  };
}

/** The words for a failed call: the text of its answer, else the error code of a provider's tool. */
function errorText(content: unknown): string {
  const code = isTyped(content) ? textField(content, 'error_code') : undefined;
  return assistantText({ content }) || code || 'The tool failed.';
}

/**
 * The change that a tool's answer tells: a file, or the list of things to do. The structured result tells; an older SDK
 * gives none, and then the call's arguments do.
 */
function changesOf(call: OpenCall, result: unknown): CoderBody[] {
  const told = isFields(result) ? result : {};
  const args = isFields(call.args) ? call.args : {};
  switch (call.name) {
    case 'Edit':
    case 'MultiEdit':
    case 'Write':
    case 'NotebookEdit':
      return [fileChange(call.name, told, args)];
    case 'TodoWrite': {
      const todos = told.newTodos ?? args.todos;
      if (!Array.isArray(todos)) return [];
      return [{ type: 'plan_update', text: todos.map(todo).join('\n') }];
    }
    default:
      return [];
  }
}

function fileChange(tool: string, told: Fields, args: Fields): CoderBody {
  const toldPath = textField(told, 'filePath') ?? textField(told, 'notebook_path');
  const path = toldPath ?? textField(args, 'file_path') ?? textField(args, 'notebook_path');
  const op: 'create' | 'modify' | undefined =
    told.type === 'create' ? 'create' : tool === 'Write' && !told.type ? undefined : 'modify';
  const patch = patchOf(told.structuredPatch);
  return { type: 'file_change', ...definedFields({ path, op, patch }) };
}

/** The hunks of a structured patch, as a unified diff writes them. */
function patchOf(hunks: unknown): string | undefined {
  if (!Array.isArray(hunks) || hunks.length === 0) return undefined;
  return hunks.filter(isFields).map(hunk).join('\n');
}

function hunk({ oldStart, oldLines, newStart, newLines, lines }: Fields): string {
  const head = `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`;
  return [head, ...(Array.isArray(lines) ? lines.map(String) : [])].join('\n');
}

function todo(one: unknown): string {
  const { status, content } = isFields(one) ? one : { status: '', content: one };
  return planLine(status, content);
}
