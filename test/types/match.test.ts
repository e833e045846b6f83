import { describe, expect, it } from 'vitest';
import { allow, type ExtensionApi, type MatchOf } from '../../src/index.js';

/** Never called: the compiler reads it, and `tsc --noEmit` fails where a line below stops being an error. */
const gates = (api: ExtensionApi): void => {
  const no = (): undefined => undefined;
  api.veto('agent.tool.calling', 'ok', { match: { toolName: ['Bash', 'exec_*'] } }, () => allow());
  api.observe(
    'agent.tool.called',
    'ok',
    { match: { isError: true, 'accountRef.channel': 'x' } },
    no,
  );
  api.augment(
    'routing.resolving',
    'ok',
    { match: { 'message.sender.id': '42', 'message.isGroup': false } },
    no,
  );
  api.resolve('routing.resolving', 'ok', { match: { 'message.threadId': [5, '5'] } }, no);
  api.mutate(
    'egress.preparing',
    'ok',
    { match: { kind: ['reply', 'stream-*'], streaming: true } },
    no,
  );
  api.veto(
    'agent.tool.calling',
    'ok',
    { match: { 'principal.roles': ['admin'], 'principal.isOwner': false } },
    () => allow(),
  );
  // @ts-expect-error judgement §2.1: the family has no principal
  api.observe('egress.sent', 'gate', { match: { 'principal.channel': 'x' } }, no);
  // @ts-expect-error judgement §2.1: nobody proves a name
  api.veto('agent.tool.calling', 'gate', { match: { 'principal.senderName': 'Ann' } }, () =>
    allow(),
  );
  // @ts-expect-error judgement §2.1: there is no such field
  api.veto('agent.tool.calling', 'gate', { match: { toolNam: 'Bash' } }, () => allow());
  // @ts-expect-error judgement §2.1: a patch can write it
  api.mutate('egress.preparing', 'gate', { match: { content: 'x' } }, no);
  // @ts-expect-error judgement §2.1: an open record has no fields to name
  api.veto('agent.tool.calling', 'gate', { match: { 'params.command': 'ls' } }, () => allow());
  // @ts-expect-error judgement §2.1: no object can be compared
  api.veto('routing.resolving', 'gate', { match: { message: 'x' } }, () => allow());
  // @ts-expect-error judgement §2.1: no list can be compared
  api.veto('routing.resolving', 'gate', { match: { agents: 'main' } }, () => allow());
  // @ts-expect-error judgement §2.1: a kind is one of a few words
  api.mutate('egress.preparing', 'gate', { match: { kind: 'repply' } }, no);
  // @ts-expect-error judgement §2.1: it is a flag
  api.mutate('egress.preparing', 'gate', { match: { streaming: 'true' } }, no);
  // @ts-expect-error judgement §2.1: no two events have one message ref
  api.veto('agent.tool.calling', 'gate', { match: { 'messageRef.id': '1' } }, () => allow());
};

describe('the type of a match', () => {
  it('takes what the stage knows before its first handler, and nothing else (judgement §2.1)', () => {
    expect(gates).toBeTypeOf('function');
    const match: MatchOf<'agent.tool.calling'> = { toolName: 'Bash', agentId: ['main', 'sub_*'] };
    expect(Object.keys(match)).toEqual(['toolName', 'agentId']);
  });
});
