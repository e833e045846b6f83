import type { CsdkCallback, CsdkFrame } from '../../src/claude/index.js';

/** What happens to a normalizer, one after the other. */
export type ScriptStep =
  | { readonly kind: 'frame'; readonly frame: CsdkFrame }
  | { readonly kind: 'callback'; readonly callback: CsdkCallback }
  | { readonly kind: 'abort' }
  | { readonly kind: 'end' }
  | { readonly kind: 'throw'; readonly error: Error };

type Fields = Readonly<Record<string, unknown>>;
type Build = (match: RegExpExecArray) => ScriptStep;

/** A text in quotes, with its escapes. */
const quoted = '"(?:[^"\\\\]|\\\\.)*"';

const kinds: Readonly<Record<string, Fields>> = {
  text: { type: 'text', text: '' },
  thk: { type: 'thinking', thinking: '', signature: '' },
  redacted: { type: 'redacted_thinking', data: 'opaque' },
  compaction: { type: 'compaction' },
};

/** The words of the notation; each is read at the place where the one before ended. */
const words: readonly (readonly [pattern: string, build: Build])[] = [
  ['init', () => system('init', { model: 'model-1' })],
  ['ms\\((\\w*)\\)', ([, id]) => raw({ type: 'message_start', message: message(id, []) })],
  [
    'bs(\\d):(tu|stu) (\\w+) (\\w+)',
    ([, index, kind, id, name]) => started(index, call(kind, id, name, {})),
  ],
  ['bs(\\d):(\\w+)', ([, index, kind = '']) => started(index, kinds[kind] ?? { type: kind })],
  [
    `d(\\d)(${quoted})`,
    ([, index, text]) => delta(index, { type: 'text_delta', text: textOf(text) }),
  ],
  [
    `h(\\d)(${quoted})`,
    ([, index, text]) => delta(index, { type: 'thinking_delta', thinking: textOf(text) }),
  ],
  [
    `j(\\d)(${quoted})`,
    ([, index, text]) => delta(index, { type: 'input_json_delta', partial_json: textOf(text) }),
  ],
  ['sig(\\d)', ([, index]) => delta(index, { type: 'signature_delta', signature: 'c2lnbmVk' })],
  ['bx(\\d)', ([, index]) => raw({ type: 'content_block_stop', index: Number(index) })],
  [
    'md\\((\\w+)\\)',
    ([, reason]) =>
      raw({ type: 'message_delta', delta: { stop_reason: reason }, usage: { output_tokens: 5 } }),
  ],
  ['mx', () => raw({ type: 'message_stop' })],
  ['ping', () => raw({ type: 'ping' })],
  [
    'A\\((\\w+)\\)\\[(.*?)\\](?:=(\\w+))?(?:!(\\w+))?(?=[ ^#{]|$)',
    ([, id, blocks = '', reason, flag]) => assistant(id, blocks, reason, flag),
  ],
  [
    `U\\[tr (\\w+) (ok|err) (${quoted})\\]`,
    ([, id, how, text]) => toolResult(id, { content: textOf(text), is_error: how === 'err' }),
  ],
  [
    'U\\[tr (\\w+) detached\\]',
    ([, id]) => toolResult(id, { content: 'moved' }, { detachedToolCall: true }),
  ],
  [
    `U\\[(${quoted})\\]`,
    ([, text]) => frame('user', { message: { role: 'user', content: textOf(text) } }),
  ],
  [
    'TP\\((\\w+),(\\d+)s\\)',
    ([, id, seconds]) =>
      frame('tool_progress', {
        tool_use_id: id,
        tool_name: 'Bash',
        elapsed_time_seconds: Number(seconds),
      }),
  ],
  [
    `TSUM\\(([\\w,]+)\\)`,
    ([, ids = '']) =>
      frame('tool_use_summary', { summary: 'sum', preceding_tool_use_ids: ids.split(',') }),
  ],
  ['perm\\((\\w+) (\\w+) (\\{.*?\\})\\)', ([, id, name, input]) => permission(id, name, input)],
  [
    'subperm\\((\\w+) (\\w+) (\\{.*?\\})\\)',
    ([, id = '', name = '', input = '']) =>
      callback({
        kind: 'permission_request',
        toolUseId: id,
        toolName: name,
        input: JSON.parse(input),
        agentId: 'agent-1',
      }),
  ],
  [
    'bgstart\\((\\w+)\\)',
    ([, id]) => system('task_started', { task_id: id, is_backgrounded: true }),
  ],
  [
    'granted\\((\\w+) (\\w+) (\\{.*?\\})\\)',
    ([, id = '', name = '', input = '']) =>
      callback({
        kind: 'permission_decision',
        toolUseId: id,
        toolName: name,
        decision: 'granted',
        updatedInput: JSON.parse(input),
      }),
  ],
  [
    'cb\\((\\w+)\\)',
    ([, event = '']) => callback({ kind: 'hook', event, input: { trigger: 'auto' } }),
  ],
  [
    'ST\\((\\w+)(?:,(\\w+))?\\)',
    ([, status, result]) =>
      system('status', {
        status: status === 'null' ? null : status,
        ...(result !== undefined && { compact_result: result }),
      }),
  ],
  [
    'CB(?:\\((retry)\\))?',
    ([, retry]) =>
      system('compact_boundary', {
        compact_metadata: {
          trigger: 'auto',
          pre_tokens: 9,
          ...(retry !== undefined && { willRetry: true }),
        },
      }),
  ],
  [
    'hook\\((\\w+)\\)',
    ([, event]) => system('hook_started', { hook_event: event, hook_name: event }),
  ],
  [
    'task_(started|progress|notification)\\((\\w+),(\\w+)\\)',
    ([, phase, task, id]) =>
      system(`task_${phase}`, {
        task_id: task,
        tool_use_id: id,
        ...(phase === 'notification' && { status: 'completed' }),
      }),
  ],
  [
    'task_updated\\((\\w+),(\\w+)\\)',
    ([, task, status]) => system('task_updated', { task_id: task, patch: { status } }),
  ],
  [
    'bg\\(([\\w,]*)\\)',
    ([, ids = '']) =>
      system('background_tasks_changed', {
        tasks: ids === '' ? [] : ids.split(',').map((id) => ({ task_id: id })),
      }),
  ],
  ['state\\((\\w+)\\)', ([, state]) => system('session_state_changed', { state })],
  ['reset', () => frame('conversation_reset', { new_conversation_id: 'c2', trigger: 'clear' })],
  [
    'R\\((ok|err)(?:,(\\w+))?(?:,queued=(\\d+))?(?:,deferred=(\\w+))?(?:,origin=([\\w-]+))?(?:,turns=(\\d+))?(?:,local=(\\w+))?\\)',
    ([, ...fields]) => result(...fields),
  ],
  [
    '«user replay»',
    () =>
      frame('user', {
        isReplay: true,
        message: {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'old', content: 'x' }],
        },
      }),
  ],
  ['«system/(\\w+)»', ([, subtype = '']) => system(subtype, {})],
  [
    '«(\\w+)»',
    ([, type = '']) => (type === 'api_retry' ? system(type, { attempt: 1 }) : frame(type, {})),
  ],
  ['abort\\(\\)', () => ({ kind: 'abort' })],
  ['END', () => ({ kind: 'end' })],
  [
    'THROW\\(AbortError\\)',
    () => ({ kind: 'throw', error: new Error('Claude Code process aborted by user') }),
  ], // its name is "Error"
  ['THROW\\((\\w+)\\)', ([, text]) => ({ kind: 'throw', error: new Error(text) })],
];

/** An object in JSON, up to four deep. */
const nested = [1, 2, 3].reduce(
  (inside) => `\\{(?:[^{}"]|${quoted}|${inside})*\\}`,
  `\\{(?:[^{}"]|${quoted})*\\}`,
);
/** The marks after a word: further fields of its frame, its lane, its uuid. */
const suffix = new RegExp(`(${nested})?(?:\\^(\\w+))?(?:#(\\w+))?(?: |$)`, 'y');

const matchers = words.map(([pattern, build]) => [new RegExp(pattern, 'y'), build] as const);

/**
 * Reads a run in the notation of the case table: `ms(id)` message_start, `bsN:kind` content_block_start, `dN"..."`
 * text delta, `hN"..."` thinking delta, `jN"..."` JSON piece, `sigN` signature, `bxN` block stop, `md(reason)`
 * message_delta, `mx` message_stop, `A(id)[blocks]=stop_reason!flag` assistant frame, `U[tr id ok "..."]` tool
 * result, `TP` tool_progress, `TSUM` tool_use_summary, `perm` and `granted` permission callbacks, `cb` hook callback,
 * `ST` status, `CB` compact_boundary, `hook` hook_started, `R` result, `«x»` any other frame, and `END`, `THROW`,
 * `abort()`. An object after a frame has further fields of it, a `^p` is its lane, a `#u` its uuid.
 *
 * @throws where a word is not of the notation.
 */
export function csdkScript(text: string): readonly ScriptStep[] {
  const steps: ScriptStep[] = [];
  let at = 0;
  while (at < text.length) {
    const [step, end] = readWord(text, at);
    suffix.lastIndex = end;
    const marks = suffix.exec(text);
    if (marks === null) throw new Error(`cannot read the script at: ${text.slice(end)}`);
    const [, fields = '{}', lane, uuid] = marks;
    steps.push(marked(step, JSON.parse(fields), lane, uuid));
    at = suffix.lastIndex;
  }
  return steps;
}

/** The frames of a script that has nothing else. */
export function scriptFrames(text: string): readonly CsdkFrame[] {
  return csdkScript(text).flatMap((step) => (step.kind === 'frame' ? [step.frame] : []));
}

function readWord(text: string, at: number): readonly [ScriptStep, number] {
  for (const [matcher, build] of matchers) {
    matcher.lastIndex = at;
    const match = matcher.exec(text);
    if (match !== null) return [build(match), matcher.lastIndex];
  }
  throw new Error(`cannot read the script at: ${text.slice(at)}`);
}

function marked(step: ScriptStep, fields: Fields, lane?: string, uuid?: string): ScriptStep {
  if (step.kind !== 'frame') return step;
  return {
    kind: 'frame',
    frame: {
      ...step.frame,
      ...fields,
      ...(lane !== undefined && { parent_tool_use_id: lane }),
      ...(uuid !== undefined && { uuid }),
    },
  };
}

function frame(type: string, fields: Fields): ScriptStep {
  return { kind: 'frame', frame: { type, session_id: 's1', ...fields } };
}

function callback(one: CsdkCallback): ScriptStep {
  return { kind: 'callback', callback: one };
}

function permission(id = '', name = '', input = '{}'): ScriptStep {
  return callback({
    kind: 'permission_request',
    toolUseId: id,
    toolName: name,
    input: JSON.parse(input),
  });
}

function system(subtype: string, fields: Fields): ScriptStep {
  return frame('system', { subtype, ...fields });
}

function raw(event: Fields): ScriptStep {
  return frame('stream_event', { event, parent_tool_use_id: null });
}

function started(index: string | undefined, content_block: Fields): ScriptStep {
  return raw({ type: 'content_block_start', index: Number(index), content_block });
}

function delta(index: string | undefined, one: Fields): ScriptStep {
  return raw({ type: 'content_block_delta', index: Number(index), delta: one });
}

function call(kind = '', id = '', name = '', input: unknown = {}): Fields {
  return { type: kind === 'stu' ? 'server_tool_use' : 'tool_use', id, name, input };
}

function message(id: string | undefined, content: readonly Fields[], stop_reason?: string): Fields {
  return { id, role: 'assistant', model: 'model-1', content, stop_reason: stop_reason ?? null };
}

function assistant(id?: string, text = '', reason?: string, flag?: string): ScriptStep {
  return frame('assistant', {
    message: message(id, blocksOf(text), reason),
    parent_tool_use_id: null,
    ...(flag === 'aborted' && { aborted: true }),
    ...(flag === 'error' && { error: 'overloaded' }),
    ...(flag === 'supersedes' && { supersedes: ['u0'] }),
  });
}

function toolResult(id: string | undefined, fields: Fields, structured?: Fields): ScriptStep {
  return frame('user', {
    message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, ...fields }] },
    parent_tool_use_id: null,
    ...(structured !== undefined && { tool_use_result: structured }),
  });
}

function result(
  how?: string,
  reason?: string,
  queued?: string,
  deferred?: string,
  origin?: string,
  turns?: string,
  command?: string,
): ScriptStep {
  return frame('result', {
    subtype: how === 'ok' ? 'success' : 'error_during_execution',
    is_error: how === 'err',
    ...(how === 'ok' && { result: 'the answer' }),
    ...(how === 'err' && { errors: ['[ede_diagnostic] internal'] }),
    ...(reason !== undefined && { terminal_reason: reason }),
    ...(queued !== undefined && { queued_turn_count: Number(queued) }),
    ...(deferred !== undefined && { deferred_tool_use: { id: deferred, name: 'Bash', input: {} } }),
    ...(origin !== undefined && { origin: { kind: origin } }),
    ...(turns !== undefined && { num_turns: Number(turns) }),
    ...(command !== undefined && { local_command: command }),
  });
}

/** The blocks of an assistant frame, with commas between. */
function blocksOf(text: string): readonly Fields[] {
  const blocks: Fields[] = [];
  const word = new RegExp(
    `(text|thk)(${quoted})|(tu|stu) (\\w+) (\\w+)(?: (\\{.*?\\}))?|sres (\\w+)(?: (${quoted}))?(!error)?|(redacted|compaction)`,
    'g',
  );
  for (const [
    ,
    speech,
    said,
    kind,
    id,
    name,
    input,
    resultOf,
    answer,
    failed,
    plain,
  ] of text.matchAll(word)) {
    if (speech === 'text') blocks.push({ type: 'text', text: textOf(said) });
    else if (speech === 'thk')
      blocks.push({ type: 'thinking', thinking: textOf(said), signature: 'c2lnbmVk' });
    else if (kind !== undefined) blocks.push(call(kind, id, name, JSON.parse(input ?? '{}')));
    else if (resultOf !== undefined)
      blocks.push({
        type: 'web_search_tool_result',
        tool_use_id: resultOf,
        content: failed === undefined ? textOf(answer) : { type: 'web_search_tool_result_error' },
      });
    else blocks.push(kinds[plain ?? ''] ?? {});
  }
  return blocks;
}

function textOf(literal: string | undefined): string {
  return JSON.parse(literal ?? '""') as string; // the pattern takes nothing but a JSON string
}
