import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { coderStream } from '../../src/claude/coder/coder-stream.js';
import type { CsdkFrame } from '../../src/claude/frames/frame.js';
import { scriptFrames } from '../support/csdk-script.js';
import { recordings } from '../support/recordings.js';
import {
  answer,
  assistant,
  call,
  eventsOf,
  failed,
  init,
  result,
  session,
  system,
  text,
  textsOf,
  told,
  user,
} from './coder-frames.js';

type Case = readonly [name: string, frames: string | readonly CsdkFrame[], told: string];

const bash = assistant('m1', [call('t1', 'Bash', { command: 'ls' })]);

function check(cases: readonly Case[]): void {
  it.each(cases)('%s', async (_name, frames, expected) => {
    expect(told(await eventsOf(frames))).toBe(expected);
  });
}

describe('sessions (C4)', () => {
  check([
    ['each system/init is one', 'init init R(ok)', 'init | init | done'],
    [
      'another session on any frame is one, the same again is none',
      'init A(m1)[text"a"]{"session_id":"other"} A(m2)[text"b"]{"session_id":"other"} R(ok){"session_id":"other"}',
      'init | init | +a | =a | +b | =b | done',
    ],
    ['a frame with a session and no type is one', [{ session_id: 'x' } as never], 'init | done'],
    [
      'after a reset the next frame brings the new one',
      'init «conversation_reset»{"trigger":"clear"} «system/status»{"session_id":"s2"}',
      'init | … conversation_reset: clear | init | … system/status | done',
    ],
  ]);

  it('carry the session and the model of the frame', async () => {
    const [first] = await eventsOf([init]);
    expect(first).toEqual({
      type: 'init',
      threadId: session,
      model: 'claude-x',
      provider: 'claude',
      ts: 7,
      originalItem: init,
    });
  });

  it('are no news where the thread was given, but for system/init', async () => {
    const status = system('status', { status: 'requesting' });
    expect(told(await eventsOf([status, init], { threadId: session }))).toBe(
      '… system/status: requesting | init | done',
    );
  });
});

describe('texts (C6, C7)', () => {
  check([
    [
      'each frame completes the block of its text, not the first one: an empty one before it takes nothing',
      'init ms(m1) bs0:text bx0 bs1:text d1"bye" A(m1)[text"bye"] bx1 mx A(m1)[text""] A(m1)[text"bye"] R(ok)',
      'init | +bye | =bye | done',
    ],
    [
      'streamed, the frame before the block stops',
      'init ms(m1) bs0:text d0"Hel" d0"lo" A(m1)[text"Hello"] bx0 mx R(ok)',
      'init | +Hel | +lo | =Hello | done',
    ],
    [
      'streamed, the frame after the message stopped',
      'ms(m1) bs0:text d0" Hello\\n" bx0 mx A(m1)[text" Hello\\n"]',
      'init | + Hello\n | = Hello\n | done',
    ],
    [
      'streamed, without any frame',
      'ms(m1) bs0:text d0"Hello" bx0 mx R(ok)',
      'init | +Hello | =Hello | done',
    ],
    [
      'complete frames only: the whole is also the one piece',
      'init A(m1)[text"a"] A(m2)[text"a"] R(ok)',
      'init | +a | =a | +a | =a | done',
    ],
    [
      'a suffix that was not streamed',
      'ms(m1) bs0:text d0"Good mor" A(m1)[text"Good morning"] bx0 mx',
      'init | +Good mor | +ning | =Good morning | done',
    ],
    [
      'a suffix that comes after the text was told as whole',
      'ms(m1) bs0:text d0"Good mor" bx0 bs1:tu t1 Bash A(m1)[text"Good morning"]',
      'init | +Good mor | =Good mor | +ning | =ning | done',
    ],
    [
      'a frame that says something else than the pieces stands',
      'ms(m1) bs0:text d0"Foo" A(m1)[text"Bar"] bx0 mx',
      'init | +Foo | =Bar | done',
    ],
    [
      'several blocks, each whole before the next one',
      'ms(m1) bs0:text d0"a" bx0 bs1:tu t1 Bash j1"{\\"command\\":\\"ls\\"}" bx1 bs2:text d2"b" bx2 mx A(m1)[text"a",tu t1 Bash,text"b"]',
      'init | +a | =a | call Bash(t1) | +b | =b | done',
    ],
    [
      'the blocks of one frame, in their order',
      'A(m1)[thk"h",text"a",tu t1 Bash,text"b"] R(ok)',
      'init | … thinking: h | +a | =a | call Bash(t1) | +b | =b | done',
    ],
    [
      'a piece after its block has stopped is too late',
      'ms(m1) bs0:text d0"A" bx0 d0"Z" mx d0"Z"',
      'init | +A | =A | done',
    ],
    [
      'a piece whose block and message never started',
      'd0"A" A(m1)[text"AB"] R(ok)',
      'init | +A | +B | =AB | done',
    ],
    [
      'a frame of a message that is over says nothing new',
      'A(m1)[text"a"] A(m2)[text"b"] A(m1)[text"a"]',
      'init | +a | =a | +b | =b | done',
    ],
    [
      'a message that starts again after it was over stays over',
      'A(m1)[text"a"] A(m2)[text"b"] ms(m1) bs0:text d0"a"',
      'init | +a | =a | +b | =b | done',
    ],
    [
      'a message that is one text',
      '«assistant»{"message":{"id":"m1","content":"plain","stop_reason":null,"usage":{"input_tokens":9}}}',
      'init | +plain | =plain | done',
    ],
    ['nothing but empty blocks', 'A(m1)[text""] R(ok)', 'init | done'],
    ['cut off in the middle', 'ms(m1) bs0:text d0"par"', 'init | +par | =par | done'],
  ]);

  it('carry no `delta` when whole', async () => {
    const events = await eventsOf('A(m1)[text"a"]');
    const [piece, whole] = events.filter(({ type }) => type === 'message');
    expect(piece).toHaveProperty('delta', true);
    expect(whole).not.toHaveProperty('delta');
  });

  it('are told once when the same frame comes twice (C18)', async () => {
    const frames = scriptFrames('ms(m1)#a bs0:text#b d0"x"#c A(m1)[text"x"]#d R(ok){"usage":{}}#e');
    const once = told(await eventsOf(frames));
    expect(told(await eventsOf(frames.flatMap((one) => [one, one])))).toBe(once);
    expect(once).toBe('init | +x | =x | usage | done');
  });
});

describe('retries (C8)', () => {
  check([
    [
      'after content: what was shown is given up, and only the answer is whole',
      'ms(m1) bs0:text d0"par" A(m2)[text"full"] R(ok)',
      'init | +par | … retry: what was streamed since the last whole message was given up | +full | =full | done',
    ],
    [
      'after content, streamed again',
      'ms(m1) bs0:text d0"par" ms(m2) bs0:text d0"full" bx0 mx R(ok)',
      'init | +par | … retry: what was streamed since the last whole message was given up | +full | =full | done',
    ],
    [
      'before content: no trace',
      'ms(m1) ms(m2) bs0:text d0"full" bx0 mx R(ok)',
      'init | +full | =full | done',
    ],
    [
      'announced',
      '«system/api_retry»{"attempt":1,"max_retries":10,"error":"overloaded"} A(m1)[text"a"]',
      'init | … system/api_retry: attempt 1 of 10: overloaded | +a | =a | done',
    ],
    [
      'a frame that replaces others says so',
      'A(m1)[text"a"]{"supersedes":["u1","u2"]}',
      'init | … supersedes: u1, u2 | +a | =a | done',
    ],
    [
      'a refusal on another model',
      '«system/model_refusal_fallback»{"content":"on another model"}',
      'init | … system/model_refusal_fallback: on another model | done',
    ],
  ]);
});

describe('thinking (C15)', () => {
  check([
    [
      'is progress, never a message',
      'ms(m1) bs0:thk h0"hm" h0"" A(m1)[thk"hm, yes"] bx0 mx',
      'init | … thinking: hm | … thinking: , yes | done',
    ],
    ['that is hidden is nothing', 'A(m1)[thk""]', 'init | done'],
    ['that was encrypted is nothing', 'A(m1)[redacted]', 'init | done'],
  ]);
});

describe('tools (C10)', () => {
  check([
    [
      'are called once, with whole arguments, by their frame',
      'ms(m1) bs0:tu t1 Bash j0"" j0"{\\"command\\":" j0"\\"ls\\"}" A(m1)[tu t1 Bash {"command":"ls"}] bx0 mx U[tr t1 ok "x"] R(ok)',
      'init | call Bash(t1) | answer Bash(t1) | done',
    ],
    [
      'or by their stream, where no frame comes',
      'ms(m1) bs0:tu t1 Bash j0"{\\"command\\":\\"ls\\"}" bx0 mx U[tr t1 ok "x"]',
      'init | call Bash(t1) | answer Bash(t1) | done',
    ],
    [
      'are answered in the order of the answers',
      'A(m1)[tu t1 Read,tu t2 Grep] U[tr t2 ok "b"] U[tr t1 ok "a"]',
      'init | call Read(t1) | call Grep(t2) | answer Grep(t2) | answer Read(t1) | done',
    ],
    [
      'several answers in one frame',
      'A(m1)[tu t1 Read,tu t2 Grep] «user»{"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a"},{"type":"tool_result","tool_use_id":"t2","content":"b","is_error":true}]}}',
      'init | call Read(t1) | call Grep(t2) | answer Read(t1) | failure Grep(t2) | done',
    ],
    [
      'the same answer twice',
      'A(m1)[tu t1 Bash {"command":"ls"}] U[tr t1 ok "x"] U[tr t1 ok "x"]',
      'init | call Bash(t1) | answer Bash(t1) | done',
    ],
    [
      'an answer before the frame of its call',
      'ms(m1) bs0:tu t1 Bash j0"{\\"a\\":1}" U[tr t1 ok "x"] A(m1)[tu t1 Bash {"command":"ls"}] bx0 mx',
      'init | call Bash(t1) | answer Bash(t1) | done',
    ],
    [
      'an answer to a call that was never seen has a name all the same',
      'U[tr t9 ok "x"]',
      'init | answer unknown(t9) | done',
    ],
    [
      'a call that goes on after its answer',
      'A(m1)[tu t1 Bash {"command":"ls"}] U[tr t1 ok ""]{"tool_use_result":{"detachedToolCall":true}} A(m2)[text"meanwhile"] U[tr t1 ok "page"]',
      'init | call Bash(t1) | … Bash: detached: it goes on | +meanwhile | =meanwhile | answer Bash(t1) | done',
    ],
    [
      "of a server, in the model's own message",
      'A(m1)[stu s1 web_search {"query":"q"}] «assistant»{"message":{"id":"m1","content":[{"type":"web_search_tool_result","tool_use_id":"s1","content":[{"title":"hit"}]}]}} A(m1)[text"found"]',
      'init | call web_search(s1) | answer web_search(s1) | +found | =found | done',
    ],
    [
      'of a server, failing',
      'A(m1)[stu s1 web_fetch] «assistant»{"message":{"id":"m1","content":[{"type":"web_fetch_tool_result","tool_use_id":"s1","content":{"type":"web_fetch_tool_result_error","error_code":"unavailable"}}]}}',
      'init | call web_fetch(s1) | failure web_fetch(s1) | done',
    ],
    [
      'of MCP servers',
      '«assistant»{"message":{"id":"m1","content":[{"type":"mcp_tool_use","id":"c1","name":"find","input":{}}]}} «assistant»{"message":{"id":"m1","content":[{"type":"mcp_tool_result","tool_use_id":"c1","is_error":true}]}}',
      'init | call find(c1) | failure find(c1) | done',
    ],
    [
      'a late frame of a message that is over still calls',
      'A(m1)[text"a"] A(m2)[text"b"] A(m1)[tu t1 Bash {"command":"ls"}]',
      'init | +a | =a | +b | =b | call Bash(t1) | done',
    ],
    [
      'progress of a tool, and what becomes of a batch',
      '«tool_progress»{"tool_use_id":"t1","tool_name":"Bash","elapsed_time_seconds":2} «tool_use_summary»{"summary":"looked around","preceding_tool_use_ids":[]}',
      'init | … Bash: 2 s | … tool_use_summary: looked around | done',
    ],
  ]);

  it('carry their arguments, and what the answer holds in its best shape', async () => {
    const structured = { stdout: 'x', stderr: '' };
    const events = await eventsOf([
      bash,
      user([answer('t1', 'x')], { tool_use_result: structured }),
      assistant('m2', [call('t2', 'Read', {})]),
      user([answer('t2', [{ type: 'text', text: 'no such file' }], { is_error: true })]),
    ]);
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'tool_use', args: { command: 'ls' } }),
    );
    const [first, second] = events.filter(({ type }) => type === 'tool_result');
    expect(first).toHaveProperty('result', structured);
    expect(first).not.toHaveProperty('exitCode');
    expect(second).toMatchObject({ error: 'no such file', result: [{ text: 'no such file' }] });
  });

  it('come with the arguments that were streamed', async () => {
    const events = await eventsOf('ms(m1) bs0:tu t1 Bash j0"{\\"command\\":" j0"\\"ls\\"}" bx0');
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'tool_use', args: { command: 'ls' } }),
    );
  });
});

describe('changed files and plans (C16)', () => {
  const use = (name: string, input: unknown, structured?: unknown) => [
    assistant('m1', [call('t1', name, input)]),
    user([answer('t1', 'ok')], structured === undefined ? {} : { tool_use_result: structured }),
  ];
  const hunk = { oldStart: 1, oldLines: 1, newStart: 1, newLines: 2, lines: ['-a', '+b', '+c'] };
  const patch = '@@ -1,1 +1,2 @@\n-a\n+b\n+c';

  it.each([
    [
      'Write of a new file',
      use('Write', {}, { type: 'create', filePath: '/a', structuredPatch: [] }),
      { type: 'file_change', path: '/a', op: 'create' },
    ],
    [
      'Write over a file',
      use('Write', {}, { type: 'update', filePath: '/a', structuredPatch: [hunk] }),
      { type: 'file_change', path: '/a', op: 'modify', patch },
    ],
    [
      'Edit',
      use('Edit', { file_path: '/b' }, { filePath: '/a', structuredPatch: [hunk] }),
      { type: 'file_change', path: '/a', op: 'modify', patch },
    ],
    [
      'Edit without a structured answer',
      use('Edit', { file_path: '/b' }),
      { type: 'file_change', path: '/b', op: 'modify' },
    ],
    [
      'Write without one: new or not, nobody says',
      use('Write', { file_path: '/b' }),
      { type: 'file_change', path: '/b' },
    ],
    [
      'TodoWrite',
      use(
        'TodoWrite',
        {},
        {
          newTodos: [
            { content: 'a', status: 'completed' },
            { content: 'b', status: 'in_progress' },
            { content: 'c', status: 'pending' },
          ],
        },
      ),
      { type: 'plan_update', text: '- [x] a\n- [~] b\n- [ ] c' },
    ],
    [
      'TodoWrite without one',
      use('TodoWrite', { todos: [{ content: 'a', status: 'pending' }] }),
      { type: 'plan_update', text: '- [ ] a' },
    ],
  ])('%s', async (_name, frames, change) => {
    const events = await eventsOf(frames);
    const at = events.findIndex(({ type }) => type === 'tool_result');
    const { provider, ts, originalItem, ...body } = events[at + 1] ?? {};
    expect(body).toEqual(change);
    expect(originalItem).toBe(frames[1]);
  });

  const step = (id: string, name: string, input: unknown, structured?: unknown, text = 'ok') => [
    assistant(`m-${id}`, [call(id, name, input)]),
    user([answer(id, text)], structured === undefined ? {} : { tool_use_result: structured }),
  ];
  const plans = async (given: Parameters<typeof eventsOf>[0]) =>
    (await eventsOf(given)).flatMap((event) => (event.type === 'plan_update' ? [event.text] : []));

  it('are kept over TaskCreate, TaskUpdate and TaskList, the whole list each time (field trial IV.10)', async () => {
    const updated = { success: true };
    const list = [
      { id: '1', subject: 'Look twice', status: 'completed' },
      { id: '7', subject: 'Rest', status: 'pending' },
    ];
    const given = [
      ...step('a', 'TaskCreate', { subject: 'Look' }, { task: { id: '1', subject: 'Look' } }),
      ...step(
        'b',
        'TaskCreate',
        { subject: 'Mend' },
        undefined,
        'Task #2 created successfully: Mend',
      ),
      ...step('c', 'TaskUpdate', { taskId: '1', status: 'in_progress' }, updated),
      ...step('d', 'TaskUpdate', { taskId: '1', owner: 'me' }, updated), // the list says the same
      ...step('e', 'TaskUpdate', { taskId: '2', status: 'completed' }, { success: false }),
      ...step(
        'f',
        'TaskUpdate',
        { taskId: '1', subject: 'Look twice', status: 'completed' },
        updated,
      ),
      ...step('g', 'TaskUpdate', { taskId: '2', status: 'deleted' }, updated),
      ...step('h', 'TaskGet', { taskId: '1' }, { task: list[0] }),
      ...step('i', 'TaskList', {}, { tasks: list }),
    ];
    expect(await plans(given)).toEqual([
      '- [ ] Look',
      '- [ ] Look\n- [ ] Mend',
      '- [~] Look\n- [ ] Mend',
      '- [x] Look twice\n- [ ] Mend',
      '- [x] Look twice',
      '- [x] Look twice\n- [ ] Rest',
    ]);
  });

  it('of the SDK’s own recording are told', async () => {
    const recording = recordings().find(({ name }) => name === 'edits-and-todo.jsonl');
    const given = recording?.lines.map((line) => JSON.parse(line) as CsdkFrame) ?? [];
    expect(await plans(given)).toEqual(['- [ ] x']);
  });

  it('are none where the tool failed', async () => {
    const frames = scriptFrames('A(m1)[tu t1 Edit {"file_path":"/a"}] U[tr t1 err "no"]');
    expect(told(await eventsOf(frames))).toContain('failure Edit(t1) | done');
  });

  it('of a subagent are told, for the files are the same', async () => {
    const frames = use('Edit', { file_path: '/a' }).map((one) => ({
      ...one,
      parent_tool_use_id: 'p',
    }));
    expect((await eventsOf(frames)).map(({ type }) => type)).toEqual([
      'init',
      'progress',
      'file_change',
      'progress',
      'done',
    ]);
  });
});

describe('subagents (C5)', () => {
  check([
    [
      'never speak in the main thread',
      'A(m0)[tu p Agent] ms(m1) bs0:text d0"ma" ms(x)^p d0"XX"^p A(x)[text"XX",tu s1 Read]^p U[tr s1 err "file"]^p d0"in" A(m1)[text"main"] bx0 mx U[tr p ok "r"] R(ok)',
      'init | call Agent(p) | +ma | … subagent: XX\ncalls Read | … subagent: a tool failed | +in | =main | answer Agent(p) | done',
    ],
  ]);
});

describe('every other frame (C15)', () => {
  check([
    [
      'is progress, with what it says',
      'init ST(compacting) «system/status»{"status":null,"compact_result":"failed","compact_error":"too long"} «system/compact_boundary»{"compact_metadata":{"trigger":"auto","pre_tokens":9,"post_tokens":3}} «system/hook_started»{"hook_name":"PreToolUse:Bash"} «system/task_updated»{"patch":{"status":"killed"}} «system/thinking_tokens»{"estimated_tokens":5} «rate_limit_event»{"rate_limit_info":{"status":"allowed_warning"}} «prompt_suggestion»{"suggestion":"go on"} «a_final_permission_result_of_tomorrow»',
      'init | … compaction: compacting | … compaction: failed: too long | … compaction: auto: 9 -> 3 tokens | … system/hook_started: PreToolUse:Bash | … system/task_updated: killed | … system/thinking_tokens: 5 tokens | … rate_limit_event: allowed_warning | … prompt_suggestion: go on | … a_final_permission_result_of_tomorrow | done',
    ],
    [
      'is nothing where it only says how pieces belong together',
      'ping «stream_event»{"event":{"type":"message_delta","delta":{},"usage":{"output_tokens":3}}} sig0 «stream_event»{"event":{"type":"yet_to_come"}} U["a prompt"] U[tr t1 ok "history"]{"isReplay":true}',
      'init | done',
    ],
    [
      'is named by its type, also where every object has something by that name',
      '«__proto__» «constructor» «toString»',
      'init | … __proto__ | … constructor | … toString | done',
    ],
    [
      'may be no message at all',
      [null, 'x', 3] as never,
      '… claude.event | … claude.event | … claude.event | done',
    ],
  ]);
});

describe('flat messages of older SDKs (C14)', () => {
  const flat = (type: string, fields: object = {}): CsdkFrame => ({ type, ...fields });
  check([
    [
      'make the same run',
      [
        flat('SDKInit', { model: 'm' }),
        flat('partial_assistant', { text: 'Hel' }),
        flat('PartialAssistant', { text: 'lo' }),
        flat('assistant', { text: 'Hello' }),
        flat('tool_use', { name: 'Bash', id: 't1', input: {} }),
        flat('permission_request', { request: { toolName: 'Bash' }, decision: 'auto' }),
        flat('tool_result', { tool_use_id: 't1', output: 'x' }),
        flat('Completed', { usage: { input_tokens: 1 } }),
      ],
      'init | +Hel | +lo | =Hello | call Bash(t1) | auto Bash | answer Bash(t1) | usage | done',
    ],
  ]);
});

describe('usage (C11)', () => {
  const usage = { input_tokens: 3, output_tokens: 4, cache_read_input_tokens: 5 };

  it('has two counts under common names, beside all raw ones', async () => {
    const events = await eventsOf([result({ usage })]);
    expect(events.find(({ type }) => type === 'usage')).toHaveProperty('stats', {
      ...usage,
      inputTokens: 3,
      outputTokens: 4,
    });
  });

  it('is counted by results alone, and kept with a failure', async () => {
    const frames = [
      ...scriptFrames('ms(m1)'),
      assistant('m1', [text('a')]),
      assistant('m1', [call('t1', 'Bash')]),
      ...scriptFrames('md(end_turn)'),
      failed({ usage }),
    ];
    expect(told(await eventsOf(frames)).split('usage')).toEqual([
      expect.any(String),
      ' | error error_during_execution',
    ]);
  });
});

describe('the end of a run (C12)', () => {
  check([
    ['a stream that just ends', 'A(m1)[text"a"]', 'init | +a | =a | done'],
    ['nothing at all', '', 'done'],
    [
      'several results: the last one decides, each counts',
      'R(ok,queued=1){"usage":{}} init A(m2)[text"b"] R(err){"usage":{},"errors":["no"]}',
      'init | usage | init | +b | =b | … result/success | usage | error error_during_execution',
    ],
    [
      'a failure that a later turn made up for',
      'R(err){"errors":["no"]} A(m2)[text"b"] R(ok)',
      'init | +b | =b | … result/error_during_execution: The Claude run failed: no | done',
    ],
    [
      'the turn of a background task decides nothing',
      'R(ok) «system/task_notification»{"summary":"over"} R(err,origin=task-notification) «system/idle»',
      'init | … system/task_notification: over | … system/idle | … result/error_during_execution: The Claude run failed: error_during_execution | done',
    ],
    [
      'unless there is no other',
      'R(err,origin=task-notification)',
      'init | error error_during_execution',
    ],
    [
      'frames after the last result are told before the end',
      'R(ok) «prompt_suggestion»{"suggestion":"go on"}',
      'init | … prompt_suggestion: go on | done',
    ],
  ]);

  it('says what the stream ended with, or that it just ended', async () => {
    const last = result();
    expect((await eventsOf([init, last])).at(-1)?.originalItem).toBe(last);
    expect((await eventsOf('init')).at(-1)).toMatchObject({
      type: 'done',
      originalItem: { reason: 'completed' },
    });
  });

  it.each([
    ['its text', { subtype: 'success', result: 'API Error: 529' }, 'error', ': API Error: 529'],
    ['its errors', { errors: ['a', 'b'] }, 'error_during_execution', ': a, b'],
    [
      "not the SDK's own diagnostics",
      { errors: ['[ede_diagnostic] x'], terminal_reason: 'model_error' },
      'error_during_execution',
      ': error_during_execution',
    ],
    [
      'why it stopped, where that is all',
      { subtype: 'success', errors: [], terminal_reason: 'prompt_too_long' },
      'prompt_too_long',
      ': prompt_too_long',
    ],
  ])('says of a failure %s', async (_name, fields, code, words) => {
    expect((await eventsOf([failed(fields)])).at(-1)).toMatchObject({
      type: 'error',
      code,
      message: `The Claude run failed${words}`,
    });
  });

  it('comes at the first result that no queued turn follows, where asked for', async () => {
    const frames = scriptFrames('init R(ok,queued=1) init R(ok) init R(ok)');
    expect(told(await eventsOf(frames, { end: 'result' }))).toBe(
      'init | init | … result/success | done',
    );
  });

  it('is the last thing a reader gets', async () => {
    const events = coderStream(scriptFrames('R(ok)'));
    for await (const _ of events);
    expect(await events.next()).toEqual({ done: true, value: undefined });
  });
});

describe('a long message (C18)', () => {
  it('takes time for each of its pieces, not for what came before', async () => {
    function* frames(count: number): Generator<CsdkFrame> {
      const [piece] = scriptFrames('d0"x"');
      yield* scriptFrames('ms(m1) bs0:text');
      for (let at = 0; at < count; at++) if (piece !== undefined) yield piece;
      yield assistant('m1', [text('x'.repeat(count))]);
    }
    const cpuMsOf = async (count: number): Promise<number> => {
      const before = process.cpuUsage(); // not the time on the wall: the machine may be busy
      let pieces = 0;
      for await (const event of coderStream(frames(count))) if (event.type === 'message') pieces++;
      expect(pieces).toBe(count + 1);
      return process.cpuUsage(before).user / 1_000;
    };
    const few = await cpuMsOf(30_000);
    expect(await cpuMsOf(300_000)).toBeLessThan(40 * few); // ten times is linear, a hundred times is quadratic
  });

  it('is told in full by its pieces, and in full by its wholes', async () => {
    const events = await eventsOf(
      'ms(m1) bs0:text d0"a\\n " d0"" d0"ü" A(m1)[text"a\\n ü "] bx0 bs1:text d1"b" bx1 mx R(ok)',
    );
    expect(textsOf(events)).toEqual({ pieces: 'a\n ü b', wholes: 'a\n ü b' });
  });
});
