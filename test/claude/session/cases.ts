import type { NormalizeOptions } from '../../../src/claude/index.js';

/** One row: what arrives, what is emitted, what is left out and told. */
export interface SessionCase {
  readonly name: string;
  readonly input: string;
  readonly output: string;
  /** The diagnostics, by kind. */
  readonly told?: string;
  readonly options?: NormalizeOptions;
}

const one = (
  name: string,
  input: string,
  output: string,
  told = '',
  options: NormalizeOptions = {},
): SessionCase => ({ name, input, output, told, options });

/** The worked cases, by their numbers. */
export const workedCases: readonly SessionCase[] = [
  one(
    '1 streamed text, real order',
    'init ms(m1) bs0:text d0"Hel" d0"lo" A(m1)[text"Hello"] bx0 md(end_turn) mx R(ok) END',
    'AS MS(m1) TS0 TD0"Hel" TD0"lo" TE0"Hello" ME(m1,stop) AE(ok)',
  ),
  one(
    '3 a frame after its message’s stop',
    'init ms(m1) bs0:text d0"Hello" bx0 md(end_turn) mx A(m1)[text"Hello"] R(ok) END',
    'AS MS(m1) TS0 TD0"Hello" TE0"Hello" ME(m1,stop) AE(ok)',
    'late_text',
  ),
  one(
    '5 a complete frame has a missing suffix',
    'init ms(m1) bs0:text d0"Good mor" A(m1)[text"Good morning"] bx0 mx R(ok) END',
    'AS MS(m1) TS0 TD0"Good mor" TD0"ning" TE0"Good morning" ME(m1,stop) AE(ok)',
  ),
  one(
    '7 a complete frame diverges',
    'init ms(m1) bs0:text d0"Foo" A(m1)[text"Bar"] bx0 mx R(ok) END',
    'AS MS(m1) TS0 TD0"Foo" TE0"Foo" ME(m1,stop) AE(ok)',
    'diverging_text',
  ),
  one(
    '9 a late delta',
    'init ms(m1) bs0:text d0"A" bx0 mx d0"Z" R(ok) END',
    'AS MS(m1) TS0 TD0"A" TE0"A" ME(m1,stop) AE(ok)',
    'late_text',
  ),
  one(
    '11 a delta without its block’s start',
    'init ms(m1) d0"A" bx0 mx R(ok) END',
    'AS MS(m1) TS0 TD0"A" TE0"A" ME(m1,stop) AE(ok)',
  ),
  one(
    '13 a repeated init',
    'init A(m1)[text"a"] init A(m2)[text"b"] R(ok) END',
    'AS MS(m1) TS0 TD0"a" TE0"a" ME(m1,stop) MS(m2) TS0 TD0"b" TE0"b" ME(m2,stop) AE(ok)',
  ),
  one(
    '15 thinking that is a signature only',
    'init ms(m1) bs0:thk h0"" sig0 A(m1)[thk""] bx0 bs1:text d1"Hi" A(m1)[text"Hi"] bx1 mx R(ok) END',
    'AS MS(m1) TS1 TD1"Hi" TE1"Hi" ME(m1,stop) AE(ok)',
  ),
  one(
    '17 redacted thinking',
    'init ms(m1) bs0:redacted A(m1)[redacted] bx0 bs1:text d1"x" A(m1)[text"x"] bx1 mx R(ok) END',
    'AS MS(m1) TS1 TD1"x" TE1"x" ME(m1,stop) AE(ok)',
  ),
  one(
    '19 identical texts of two turns',
    'init A(m1)[text"same"] A(m2)[text"same"] R(ok) END',
    'AS MS(m1) TS0 TD0"same" TE0"same" ME(m1,stop) MS(m2) TS0 TD0"same" TE0"same" ME(m2,stop) AE(ok)',
  ),
  one(
    '21 a tool only, without partial messages',
    'init A(m1)[tu t1 Read {"p":1}] U[tr t1 ok "x"] A(m2)[text"ok"] R(ok) END',
    'AS MS(m1) XS(t1,Read,{"p":1}) XE(t1,Read,ok,"x") ME(m1,toolUse) MS(m2) TS0 TD0"ok" TE0"ok" ME(m2,stop) AE(ok)',
  ),
  one(
    '23 a tool’s result before its complete frame',
    'init ms(m1) bs0:tu t1 Bash j0"{\\"a\\":1}" U[tr t1 ok "x"] A(m1)[tu t1 Bash {"a":1}] bx0 mx R(ok) END',
    'AS MS(m1) XS(t1,Bash,{"a":1}) XE(t1,Bash,ok,"x") ME(m1,toolUse) AE(ok)',
  ),
  one(
    '25 a permission callback before the frame',
    'init ms(m1) bs0:tu t1 Bash perm(t1 Bash {"a":1}) A(m1)[tu t1 Bash {"a":1}] bx0 mx U[tr t1 err "denied"] A(m2)[text"ok"] R(ok) END',
    'AS MS(m1) XS(t1,Bash,{"a":1}) ME(m1,toolUse) XE(t1,Bash,err,"denied") MS(m2) TS0 TD0"ok" TE0"ok" ME(m2,stop) AE(ok)',
  ),
  one(
    '27 progress before its tool is known',
    'init TP(t9,2s) A(m1)[tu t9 Bash {}] U[tr t9 ok "x"] R(ok) END',
    'AS XS(t9,Bash,{}) XU(t9,2s) MS(m1) XE(t9,Bash,ok,"x") ME(m1,toolUse) AE(ok)',
  ),
  one(
    '29 a tool’s second result',
    'init A(m1)[tu t1 Bash {}] U[tr t1 ok "x"] U[tr t1 ok "x"] R(ok) END',
    'AS MS(m1) XS(t1,Bash,{}) XE(t1,Bash,ok,"x") ME(m1,toolUse) AE(ok)',
    'repeated_tool_result',
  ),
  one(
    '31 a tool that never answers',
    'init A(m1)[tu t1 Bash {}] R(ok) END',
    'AS MS(m1) XS(t1,Bash,{}) ME(m1,toolUse) XE(t1,Bash,err,"no result") AE(ok)',
  ),
  one(
    '33 a server tool within its message',
    'init ms(m1) bs0:stu s1 web_search A(m1)[stu s1 web_search {"q":1}] bx0 A(m1)[sres s1 "hits"] bs2:text d2"found" A(m1)[text"found"] bx2 mx R(ok) END',
    'AS MS(m1) XS(s1,web_search,{"q":1}) XE(s1,web_search,ok,"hits") TS2 TD2"found" TE2"found" ME(m1,stop) AE(ok)',
  ),
  one(
    '35 a subagent within the main stream',
    'init A(m0)[tu p Agent {}] ms(m1) bs0:text d0"ma" bs0:text^p d0"XX"^p d0"in" A(m1)[text"main"] bx0 mx U[tr p ok "r"] R(ok) END',
    'AS MS(m0) XS(p,Agent,{}) ME(m0,toolUse) MS(m1) TS0 TD0"ma" TD0"in" TE0"main" ME(m1,stop) XE(p,Agent,ok,"r") AE(ok)',
    'subagent_left_out subagent_left_out',
  ),
  one(
    '37 a compaction’s status, then its boundary',
    'init ST(compacting) ST(null,success) init CB A(m1)[text"b"] R(ok) END',
    'AS CS CE(retry=false) MS(m1) TS0 TD0"b" TE0"b" ME(m1,stop) AE(ok)',
    'repeated_compaction',
  ),
  one(
    '39 a PreCompact hook, and no status',
    'init hook(PreCompact) CB A(m1)[text"b"] R(ok) END',
    'AS CS CE(retry=false) MS(m1) TS0 TD0"b" TE0"b" ME(m1,stop) AE(ok)',
  ),
  one(
    '41 a compaction in mid stream',
    'init ms(m1) bs0:text d0"par" ST(compacting) CB d0"tial" ms(m2) bs0:text d0"ok" bx0 mx R(ok) END',
    'AS MS(m1) TS0 TD0"par" TE0"par" ME(m1,aborted) CS CE(retry=false) MS(m2) TS0 TD0"ok" TE0"ok" ME(m2,stop) AE(ok)',
    'late_text',
  ),
  one(
    '43 two compactions',
    'init CB A(m1)[text"a"] CB A(m2)[text"b"] R(ok) END',
    'AS CS CE(retry=false) MS(m1) TS0 TD0"a" TE0"a" ME(m1,stop) CS CE(retry=false) MS(m2) TS0 TD0"b" TE0"b" ME(m2,stop) AE(ok)',
  ),
  one(
    '45 a retry before there is content',
    'init ms(m1) «api_retry» ms(m2) bs0:text d0"full" bx0 mx R(ok) END',
    'AS MS(m2) TS0 TD0"full" TE0"full" ME(m2,stop) AE(ok)',
  ),
  one(
    '47 the text of an API error',
    'init A(m1)[text"API Error: 529"]!error R(err) END',
    'AS MS(m1) TS0 TD0"API Error: 529" TE0"API Error: 529" ME(m1,error) AE(err:API Error: 529)',
  ),
  one(
    '49 an abort in mid text',
    'init ms(m1) bs0:text d0"par" abort() A(m1)[text"par"]!aborted R(err,aborted_streaming) END',
    'AS MS(m1) TS0 TD0"par" TE0"par" ME(m1,aborted) AE(abort)',
    'after_end after_end',
  ),
  one(
    '49 the same, without the host’s signal',
    'init ms(m1) bs0:text d0"par" A(m1)[text"par"]!aborted R(err,aborted_streaming) END',
    'AS MS(m1) TS0 TD0"par" TE0"par" ME(m1,aborted) AE(abort)',
  ),
  one(
    '51 an abort, and the SDK throws',
    'init ms(m1) bs0:text d0"par" abort() THROW(AbortError)',
    'AS MS(m1) TS0 TD0"par" TE0"par" ME(m1,aborted) AE(abort)',
  ),
  one(
    '53 the stream ends without a result',
    'init A(m1)[text"a"] END',
    'AS MS(m1) TS0 TD0"a" TE0"a" ME(m1,stop) AE(err:stream_closed)',
  ),
  one(
    '55 a message without content',
    'init ms(m1) md(end_turn) mx R(ok) END',
    'AS MS(m1) ME(m1,stop) AE(ok)',
  ),
  one(
    '57 replayed and unknown frames',
    'init «user replay» «rate_limit_event» «future_type» A(m1)[text"a"] R(ok) END',
    'AS MS(m1) TS0 TD0"a" TE0"a" ME(m1,stop) AE(ok)',
    'unknown_frame',
  ),
  one(
    '59 a second result',
    'init A(m1)[text"a"] R(ok) R(ok) END',
    'AS MS(m1) TS0 TD0"a" TE0"a" ME(m1,stop) AE(ok)',
    'after_end',
  ),
  one(
    '61 too many tokens',
    'init ms(m1) bs0:text d0"cut" A(m1)[text"cut"] bx0 md(max_tokens) mx R(ok) END',
    'AS MS(m1) TS0 TD0"cut" TE0"cut" ME(m1,length) AE(ok)',
  ),
  one(
    '63 a detached tool',
    'init A(m1)[tu t1 WebFetch {}] U[tr t1 detached] A(m2)[text"meanwhile"] U[tr t1 ok "page"] R(ok) END',
    'AS MS(m1) XS(t1,WebFetch,{}) XU(t1,detached) ME(m1,toolUse) MS(m2) TS0 TD0"meanwhile" TE0"meanwhile" XE(t1,WebFetch,ok,"page") ME(m2,stop) AE(ok)',
  ),
];

const pi: NormalizeOptions = { toolStart: 'messageEnd' };
const idle: NormalizeOptions = { end: 'idle' };

/** What the notes say, what consumers rely on, and what the rules decide beyond the table. */
export const furtherCases: readonly SessionCase[] = [
  one(
    'note (a): Pi’s order, with partial messages',
    'ms(m1) bs0:text d0"hm" bx0 bs1:tu t1 Bash j1"{\\"a\\":1}" A(m1)[tu t1 Bash {"a":1}] bx1 mx U[tr t1 ok "x"] R(ok)',
    'AS MS TS0 TD0"hm" TE0"hm" ME(toolUse) XS(t1,Bash,{"a":1}) XE(t1,Bash,ok,"x") AE(ok)',
    '',
    pi,
  ),
  one(
    'note (a): Pi’s order of two tools is that of their blocks',
    'ms(m1) bs0:tu t1 A j0"{}" bx0 bs1:tu t2 B j1"{}" bx1 mx U[tr t2 ok "2"] U[tr t1 ok "1"] R(ok)',
    'AS MS ME(toolUse) XS(t1,A,{}) XS(t2,B,{}) XE(t2,B,ok,"2") XE(t1,A,ok,"1") AE(ok)',
    '',
    pi,
  ),
  one(
    'note (a): without partial messages, a result shows that its tool runs',
    'A(m1)[tu t1 Bash {"a":1}] U[tr t1 ok "x"] A(m2)[text"b"] R(ok)',
    'AS MS XS(t1,Bash,{"a":1}) XE(t1,Bash,ok,"x") ME(toolUse) MS TS0 TD0"b" TE0"b" ME(stop) AE(ok)',
    '',
    pi,
  ),
  one(
    'note (a): a permission callback waits for the message’s end, and its arguments win',
    'ms(m1) bs0:tu t1 Bash j0"{}" perm(t1 Bash {"a":1}) granted(t1 Bash {"a":2}) bx0 mx U[tr t1 ok "x"] R(ok)',
    'AS MS ME(toolUse) XS(t1,Bash,{"a":2}) XE(t1,Bash,ok,"x") AE(ok)',
    '',
    pi,
  ),
  one(
    'note (c): a queued turn goes on after its result',
    'A(m1)[text"a"] R(ok,completed,queued=1) A(m2)[text"b"] R(ok,completed,queued=0) END',
    'AS MS TS0 TD0"a" TE0"a" ME(stop) MS TS0 TD0"b" TE0"b" ME(stop) AE(ok)',
    'result_passed_over',
    idle,
  ),
  one(
    'note (c): a background task’s turn goes on after the result',
    'bg(b1) A(m1)[text"a"] R(ok) bg() A(m2)[text"b"] R(ok,completed,origin=task-notification) END',
    'AS MS TS0 TD0"a" TE0"a" ME(stop) MS TS0 TD0"b" TE0"b" ME(stop) AE(ok)',
    'result_passed_over',
    idle,
  ),
  one(
    'note (c): a background turn that fails does not fail the answer',
    'bg(b1) A(m1)[text"a"] R(ok) bg() A(m2)[text"b"] R(err,completed,origin=task-notification)',
    'AS MS TS0 TD0"a" TE0"a" ME(stop) MS TS0 TD0"b" TE0"b" ME(stop) AE(ok)',
    'result_passed_over',
    idle,
  ),
  one(
    'blocks of text that nothing stands between are one text, streamed (csdk §3.13)',
    'ms(m1) bs0:text d0"The tower is " A(m1)[text"The tower is "] bx0 bs1:text d1"330 " A(m1)[text"330 metres"] bx1 bs2:text d2", all." bx2 md(end_turn) mx R(ok)',
    'AS MS TS0 TD0"The tower is " TD0"330 " TD0"metres" TD0", all." TE0"The tower is 330 metres, all." ME(stop) AE(ok)',
  ),
  one(
    'blocks of text in one frame are one text (csdk §3.13)',
    'A(m1)[text"The tower is ", text"330 metres", text", all."] R(ok)',
    'AS MS TS0 TD0"The tower is " TD0"330 metres" TD0", all." TE0"The tower is 330 metres, all." ME(stop) AE(ok)',
  ),
  one(
    'a text before and one after a call are two (csdk §3.13)',
    'ms(m1) bs0:text d0"a" bx0 bs1:tu t1 Bash j1"{}" bx1 bs2:text d2"b" bx2 bs3:text d3"c" bx3 mx U[tr t1 ok "x"] R(ok)',
    'AS MS TS0 TD0"a" TE0"a" XS(t1,Bash,{}) TS2 TD2"b" TD2"c" TE2"bc" ME(toolUse) XE(t1,Bash,ok,"x") AE(ok)',
  ),
  one(
    'a text ends when a tool starts, though another block may join it otherwise (csdk §3.13)',
    'A(m1)[text"a"] perm(t1 Bash {"a":1}) A(m1)[text"b"] R(ok)',
    'AS MS TS0 TD0"a" TE0"a" XS(t1,Bash,{"a":1}) TS1 TD1"b" TE1"b" ME(stop) XE(t1,Bash,err,"no result") AE(ok)',
  ),
  one(
    'a block of a text whose frame says otherwise changes the message alone (csdk §3.6, csdk §3.13)',
    'ms(m1) bs0:text d0"a" bx0 bs1:text d1"b" bx1 A(m1)[text"other"] A(m1)[text"b"] mx R(ok)',
    'AS MS TS0 TD0"a" TD0"b" TE0"ab" ME(stop) AE(ok)',
    'diverging_text',
  ),
  one(
    'note (c): with nothing left to do, a result ends it',
    'A(m1)[text"a"] R(ok) A(m2)[text"b"] R(ok)',
    'AS MS TS0 TD0"a" TE0"a" ME(stop) AE(ok)',
    'after_end after_end',
    idle,
  ),
  one(
    'note (c): the session says that it is idle, and no result ends it before',
    'state(running) A(m1)[text"a"] R(ok) «thinking_tokens» A(m2)[text"b"] R(ok) state(idle) A(m3)[text"c"]',
    'AS MS TS0 TD0"a" TE0"a" ME(stop) MS TS0 TD0"b" TE0"b" ME(stop) AE(ok)',
    'unknown_frame result_passed_over after_end',
  ),
  one(
    'note (c): idle with a command in the background waits for what becomes of it',
    'state(running) bg(b1) A(m1)[text"a"] R(ok) state(idle) bg() state(running) init A(m2)[text"b"] R(ok,completed,origin=task-notification) state(idle)',
    'AS MS TS0 TD0"a" TE0"a" ME(stop) MS TS0 TD0"b" TE0"b" ME(stop) AE(ok)',
    'result_passed_over',
  ),
  one(
    'note (c): a report that came while the model spoke is told in a turn of its own, and so is the next one',
    'bg(b1,b2) A(m1)[text"a"] bg(b2) R(ok) init A(m2)[text"b"] bg() R(ok,completed,origin=task-notification) init A(m3)[text"c"] R(ok,completed,origin=task-notification)',
    'AS MS TS0 TD0"a" TE0"a" ME(stop) MS TS0 TD0"b" TE0"b" ME(stop) MS TS0 TD0"c" TE0"c" ME(stop) AE(ok)',
    'result_passed_over result_passed_over',
  ),
  one(
    'note (c): results of no turn, and of others’ turns, end nothing before the own one',
    'R(ok,completed,turns=0) init A(m1)[text"b"] R(ok,completed,origin=task-notification) init A(m2)[text"a"] R(ok) A(m3)[text"c"]',
    'AS MS TS0 TD0"b" TE0"b" ME(stop) MS TS0 TD0"a" TE0"a" ME(stop) AE(ok)',
    'result_passed_over result_passed_over after_end',
  ),
  one(
    'note (c): a failure without a turn is an end',
    'R(err,max_turns,turns=0) A(m1)[text"a"]',
    'AS AE(err:error_during_execution)',
    'after_end',
  ),
  one(
    'note (c): the result of a command of the SDK’s own is an end',
    'R(ok,completed,turns=0,local=clear) A(m1)[text"a"]',
    'AS AE(ok)',
    'after_end',
  ),
  one(
    'note (c): a result that counts no turns is one if the model has spoken',
    'A(m1)[text"a"] R(ok,completed,turns=0) A(m2)[text"b"]',
    'AS MS TS0 TD0"a" TE0"a" ME(stop) AE(ok)',
    'after_end',
  ),
  one(
    'note (c): a result of no turn that nothing follows decides',
    'R(ok,completed,turns=0) END',
    'AS AE(ok)',
  ),
  one(
    'note (c): idle before there is a result says nothing',
    'bg(b1) state(idle) A(m1)[text"a"] R(ok) END',
    'AS MS TS0 TD0"a" TE0"a" ME(stop) AE(ok)',
    '',
    idle,
  ),
  one(
    'note (c): the stream ends while a task goes on',
    'bg(b1) A(m1)[text"a"] R(ok) END',
    'AS MS TS0 TD0"a" TE0"a" ME(stop) AE(ok)',
    '',
    idle,
  ),
  one(
    'note (c): the stream ends in mid turn after a result',
    'bg(b1) A(m1)[text"a"] R(ok) A(m2)[text"b"] END',
    'AS MS TS0 TD0"a" TE0"a" ME(stop) MS TS0 TD0"b" TE0"b" ME(stop) AE(err:stream_closed)',
    '',
    idle,
  ),
  one(
    'note (c): a detached tool answers in a later turn',
    'bg(b1) A(m1)[tu t1 WebFetch {}] U[tr t1 detached] R(ok) U[tr t1 ok "page"] A(m2)[text"b"] bg() R(ok) END',
    'AS MS XS(t1,WebFetch,{}) XU(t1,detached) ME(toolUse) XE(t1,WebFetch,ok,"page") MS TS0 TD0"b" TE0"b" ME(stop) AE(ok)',
    'result_passed_over',
    idle,
  ),
  one(
    'note (c): an error after the last result is swallowed',
    'bg(b1) A(m1)[text"a"] R(err,max_turns) THROW(exit)',
    'AS MS TS0 TD0"a" TE0"a" ME(stop) AE(err:error_during_execution)',
    'source_failed',
    idle,
  ),
  one(
    'note (d): a deferred tool did not fail',
    'A(m1)[tu t1 Bash {}] R(ok,tool_deferred,deferred=t1)',
    'AS MS XS(t1,Bash,{}) ME(toolUse) XE(t1,Bash,ok,{"deferred":true}) AE(ok)',
  ),
  one(
    'two thinking blocks, the first empty and signed',
    'ms(m1) bs0:thk sig0 A(m1)[thk""] bx0 bs1:thk h1"why" sig1 A(m1)[thk"why"] bx1 bs2:text d2"Hi" A(m1)[text"Hi"] bx2 mx R(ok)',
    'AS MS HS1 HD1"why" HE1"why" TS2 TD2"Hi" TE2"Hi" ME(stop) AE(ok)',
  ),
  one(
    'the same, and the first one’s frame is lost',
    'ms(m1) bs0:thk sig0 bx0 bs1:thk h1"why" A(m1)[thk"why"] bx1 mx R(ok)',
    'AS MS HS1 HD1"why" HE1"why" ME(stop) AE(ok)',
  ),
  one(
    'a stream given up after content, and the answer again without partial messages',
    'ms(m1) bs0:text d0"par" A(m2)[text"partial"] R(ok)',
    'AS MS TS0 TD0"par" TE0"par" ME(aborted) MS TS0 TD0"partial" TE0"partial" ME(stop) AE(ok)',
  ),
  one(
    'a tool whose arguments were cut off is not announced',
    'ms(m1) bs0:tu t1 Bash j0"{\\"a" ms(m2) bs0:text d0"x" bx0 mx R(ok)',
    'AS MS ME(aborted) MS TS0 TD0"x" TE0"x" ME(stop) AE(ok)',
  ),
  one(
    'results in the order of completion',
    'A(m1)[tu t1 A {}, tu t2 B {}] U[tr t2 ok "2"] U[tr t1 ok "1"] R(ok)',
    'AS MS XS(t1,A,{}) XS(t2,B,{}) XE(t2,B,ok,"2") XE(t1,A,ok,"1") ME(toolUse) AE(ok)',
  ),
  one(
    'a result of a tool that nothing told of',
    'U[tr t1 err "x"] R(ok)',
    'AS XS(t1,unknown,{}) XE(t1,unknown,err,"x") AE(ok)',
  ),
  one(
    'a tool in a frame after its message’s end still starts',
    'ms(m1) bs0:text d0"a" bx0 mx A(m1)[text"a", tu t1 Bash {"a":1}] U[tr t1 ok "x"] R(ok)',
    'AS MS TS0 TD0"a" TE0"a" ME(stop) XS(t1,Bash,{"a":1}) XE(t1,Bash,ok,"x") AE(ok)',
    'late_text',
  ),
  one(
    'a summary goes to the tools that still run',
    'A(m1)[tu t1 A {}, tu t2 B {}] U[tr t1 ok "1"] TSUM(t1,t2) R(ok)',
    'AS MS XS(t1,A,{}) XS(t2,B,{}) XE(t1,A,ok,"1") XU(t2,summary) ME(toolUse) XE(t2,B,err,"no result") AE(ok)',
  ),
  one(
    'a task’s news go to its call while that runs',
    'A(m1)[tu p Task {}] task_started(k,p) task_progress(k,p) task_updated(k,completed) U[tr p ok "r"] task_notification(k,p) R(ok) END',
    'AS MS XS(p,Task,{}) XU(p,task started) XU(p,task progress) XU(p,task updated) XE(p,Task,ok,"r") ME(toolUse) AE(ok)',
  ),
  one(
    'a subagent’s blocks become updates, and those of its subagents',
    'A(m1)[tu p Task {}] A(s1)[tu q Task {}]^p A(s2)[text"deep"]^q U[tr q ok "r"]^p TP(q,3s)^p U[tr p ok "r"] R(ok)',
    'AS MS XS(p,Task,{}) XU(p,p tool_use) XU(p,q text) XU(p,p tool_result) XU(p,3s) XE(p,Task,ok,"r") ME(toolUse) AE(ok)',
  ),
  one(
    'a subagent’s blocks are left out on request',
    'A(m1)[tu p Task {}] A(s1)[text"sub"]^p TP(q,3s)^p U[tr p ok "r"] R(ok)',
    'AS MS XS(p,Task,{}) XE(p,Task,ok,"r") ME(toolUse) AE(ok)',
    'subagent_left_out subagent_left_out',
    { subagents: 'drop' },
  ),
  one(
    'a subagent that outlives its call is left out',
    'A(m1)[tu p Task {}] U[tr p ok "launched"] A(s1)[text"sub"]^p R(ok)',
    'AS MS XS(p,Task,{}) XE(p,Task,ok,"launched") ME(toolUse) AE(ok)',
    'subagent_left_out',
  ),
  one(
    'a server tool that fails',
    'A(m1)[stu s1 web_search {}, sres s1!error, text"x"] R(ok)',
    'AS MS XS(s1,web_search,{}) XE(s1,web_search,err,{"type":"web_search_tool_result_error"}) TS2 TD2"x" TE2"x" ME(stop) AE(ok)',
  ),
  one(
    'permission asked twice starts a tool once',
    'perm(t1 Bash {"a":1}) perm(t1 Bash {"a":1}) A(m1)[tu t1 Bash {"a":1}] U[tr t1 ok "x"] perm(t1 Bash {"a":1}) R(ok)',
    'AS XS(t1,Bash,{"a":1}) MS XE(t1,Bash,ok,"x") ME(toolUse) AE(ok)',
  ),
  one(
    'a PreCompact callback waits for the frames of the open message',
    'ms(m1) bs0:text d0"a" cb(PreCompact) d0"b" bx0 mx ST(compacting) ST(null,success) CB A(m2)[text"c"] R(ok)',
    'AS MS TS0 TD0"a" TD0"b" TE0"ab" ME(stop) CS CE(retry=false) MS TS0 TD0"c" TE0"c" ME(stop) AE(ok)',
    'repeated_compaction',
  ),
  one(
    'a PreCompact callback that overtook a whole message is told once',
    'cb(PreCompact) ms(m1) bs0:text d0"a" bx0 mx hook(PreCompact) ST(compacting) ST(null,success) init CB A(m2)[text"c"] R(ok)',
    'AS CS CE(retry=false) MS TS0 TD0"a" TE0"a" ME(stop) MS TS0 TD0"c" TE0"c" ME(stop) AE(ok)',
    'repeated_compaction repeated_compaction repeated_compaction',
  ),
  one(
    'PostCompact ends it, and its boundary is swallowed',
    'cb(PreCompact) cb(PostCompact) CB A(m1)[text"a"] R(ok)',
    'AS CS CE(retry=false) MS TS0 TD0"a" TE0"a" ME(stop) AE(ok)',
    'repeated_compaction',
  ),
  one(
    'a compaction that failed',
    'ST(compacting) ST(null,failed) A(m1)[text"a"] CB R(ok)',
    'AS CS CE(err) MS TS0 TD0"a" TE0"a" ME(stop) CS CE(retry=false) AE(ok)',
  ),
  one(
    'a compaction that is to be tried again',
    'CB(retry) A(m1)[text"a"] R(ok)',
    'AS CS CE(retry=true) MS TS0 TD0"a" TE0"a" ME(stop) AE(ok)',
  ),
  one(
    'unknown frames do not end a compaction, the model’s next words do',
    'ST(compacting) «future_type» «system/future» A(m1)[text"a"] R(ok)',
    'AS CS CE(retry=false) MS TS0 TD0"a" TE0"a" ME(stop) AE(ok)',
    'unknown_frame unknown_frame',
  ),
  one(
    'a compaction block of a message',
    'ms(m1) bs0:compaction A(m1)[compaction] bx0 bs1:text d1"x" bx1 mx R(ok)',
    'AS MS CS CE(retry=false) TS1 TD1"x" TE1"x" ME(stop) AE(ok)',
  ),
  one(
    'a compaction is open at the end',
    'ST(compacting) END',
    'AS CS CE(retry=false) AE(err:stream_closed)',
  ),
  one(
    'the same frame twice',
    'A(m1)[text"a"]#u1 A(m1)[text"a"]#u1 R(ok)',
    'AS MS TS0 TD0"a" TE0"a" ME(stop) AE(ok)',
    'duplicate_frame',
  ),
  one(
    'two frames of equal text',
    'A(m1)[text"a"]#u1 A(m1)[text"a"]#u2 R(ok)',
    'AS MS TS0 TD0"a" TD0"a" TE0"aa" ME(stop) AE(ok)',
  ),
  one(
    'a conversation that is thrown away',
    'A(m1)[tu t1 Bash {}] reset A(m2)[text"b"] R(ok)',
    'AS MS XS(t1,Bash,{}) ME(toolUse) XE(t1,Bash,err,"no result") MS TS0 TD0"b" TE0"b" ME(stop) AE(ok)',
    'reset',
  ),
  one(
    'frames that the SDK takes back stay, and are told',
    'A(m1)[text"a"]#u0 A(m2)[text"b"]!supersedes R(ok)',
    'AS MS TS0 TD0"a" TE0"a" ME(stop) MS TS0 TD0"b" TE0"b" ME(stop) AE(ok)',
    'retracted',
  ),
  one(
    'a frame with its stop reason ends a message that does not stream',
    'A(m1)[text"a"]=end_turn U[tr t1 ok "x"] R(ok)',
    'AS MS TS0 TD0"a" TE0"a" ME(stop) XS(t1,unknown,{}) XE(t1,unknown,ok,"x") AE(ok)',
  ),
  one(
    'a refusal',
    'ms(m1) bs0:text d0"no" bx0 md(refusal) mx R(ok)',
    'AS MS TS0 TD0"no" TE0"no" ME(error) AE(ok)',
  ),
  one('an unknown stop reason', 'ms(m1) md(future_reason) mx R(ok)', 'AS MS ME(stop) AE(ok)'),
  one(
    'message_start twice for the message that is open',
    'ms(m1) bs0:text d0"a" ms(m1) d0"b" bx0 mx R(ok)',
    'AS MS TS0 TD0"a" TD0"b" TE0"ab" ME(stop) AE(ok)',
  ),
  one(
    'message_start after its message’s first frame',
    'A(m1)[text"ab"] ms(m1) bs0:text d0"a" d0"b" bx0 mx A(m1)[text"c"] R(ok)',
    'AS MS TS0 TD0"ab" TD0"c" TE0"abc" ME(stop) AE(ok)',
    'late_text late_text',
  ),
  one(
    'pings and empty deltas',
    'ping ms(m1) ping bs0:text d0"" d0"a" bx0 mx R(ok)',
    'AS MS TS0 TD0"a" TE0"a" ME(stop) AE(ok)',
  ),
  one(
    'an error of the source',
    'A(m1)[text"a"] THROW(broken)',
    'AS MS TS0 TD0"a" TE0"a" ME(stop) AE(err:threw)',
  ),
  one(
    'a message that streams when the result comes was cut off',
    'ms(m1) bs0:text d0"a" R(ok)',
    'AS MS TS0 TD0"a" TE0"a" ME(aborted) AE(ok)',
  ),
  one(
    'a delta for a block that has stopped, in a message that is open',
    'ms(m1) bs0:text d0"A" bx0 d0"Z" bs1:text d1"B" bx1 mx R(ok)',
    'AS MS TS0 TD0"A" TD0"B" TE0"AB" ME(stop) AE(ok)',
    'late_text',
  ),
  one(
    'a complete block again, in a message that streams',
    'ms(m1) bs0:text d0"A" A(m1)[text"A"] A(m1)[text"A"] bx0 mx R(ok)',
    'AS MS TS0 TD0"A" TE0"A" ME(stop) AE(ok)',
    'late_text',
  ),
  one(
    'two thinking blocks have stopped, and the frame of the first is lost',
    'ms(m1) bs0:thk sig0 bx0 bs1:thk h1"why" bx1 A(m1)[thk"why"] mx R(ok)',
    'AS MS HS1 HD1"why" HE1"why" ME(stop) AE(ok)',
  ),
  one(
    'a permission callback of a subagent is not of the main lane',
    'subperm(t9 Bash {}) A(m1)[text"a"] R(ok)',
    'AS MS TS0 TD0"a" TE0"a" ME(stop) AE(ok)',
  ),
  one(
    'a boundary after the model spoke is another compaction’s',
    'ST(compacting) ST(null,success) A(m1)[text"a"] CB A(m2)[text"b"] R(ok)',
    'AS CS CE(retry=false) MS TS0 TD0"a" TE0"a" ME(stop) CS CE(retry=false) MS TS0 TD0"b" TE0"b" ME(stop) AE(ok)',
  ),
  one(
    'init ends a compaction, and its boundary follows',
    'ST(compacting) init CB A(m1)[text"a"] R(ok)',
    'AS CS CE(retry=false) MS TS0 TD0"a" TE0"a" ME(stop) AE(ok)',
    'repeated_compaction',
  ),
  one(
    'a second hook is a second compaction, whatever became of the first',
    'cb(PreCompact) A(m1)[text"a"] A(m2)[text"b"] R(ok,completed,queued=1) cb(PreCompact) ST(compacting) ST(null,success) CB A(m3)[text"c"] R(ok)',
    'AS CS CE(retry=false) MS TS0 TD0"a" TE0"a" ME(stop) MS TS0 TD0"b" TE0"b" ME(stop) CS CE(retry=false) MS TS0 TD0"c" TE0"c" ME(stop) AE(ok)',
    'repeated_compaction result_passed_over',
    idle,
  ),
  one(
    'note (c): a task that went to the background is waited for',
    'bgstart(k) A(m1)[text"a"] R(ok) task_updated(k,completed) A(m2)[text"b"] R(ok)',
    'AS MS TS0 TD0"a" TE0"a" ME(stop) MS TS0 TD0"b" TE0"b" ME(stop) AE(ok)',
    'result_passed_over',
    idle,
  ),
  one(
    'note (c): tasks that are over are not waited for',
    'bg(b1,b2) bg(b2) task_updated(b2,killed) bgstart(k) task_updated(k,failed) bgstart(l) task_notification(l,t) A(m1)[text"a"] R(ok) state(idle) A(m2)[text"b"]',
    'AS MS TS0 TD0"a" TE0"a" ME(stop) AE(ok)',
    'after_end',
    idle,
  ),
  one(
    'note (c): a conversation that is thrown away leaves no task behind',
    'bgstart(k) reset A(m1)[text"a"] R(ok) A(m2)[text"b"]',
    'AS MS TS0 TD0"a" TE0"a" ME(stop) AE(ok)',
    'reset after_end',
    idle,
  ),
  one(
    'progress of a call whose block still streams',
    'ms(m1) bs0:tu t1 Grep j0"{\\"a\\":1}" TP(t1,2s) bx0 mx U[tr t1 ok "x"] R(ok)',
    'AS MS XS(t1,Bash,{"a":1}) XU(t1,2s) ME(toolUse) XE(t1,Bash,ok,"x") AE(ok)',
  ),
  one(
    'subagents that claim to have started each other',
    'A(s1)[tu p Task {}]^q A(s2)[tu q Task {}]^p A(s3)[text"x"]^p A(m1)[text"a"] R(ok)',
    'AS MS TS0 TD0"a" TE0"a" ME(stop) AE(ok)',
    'subagent_left_out subagent_left_out subagent_left_out',
  ),
];
