import { createHash } from 'node:crypto';
import type { ApprovalQuestion, Principal } from 'sluice';
import type { SayTo } from 'sluice/extension';
import type { JsonObject } from '../agents/codec.js';
import type { Approver } from '../config.js';
import type { CallContext } from '../judging/judge.js';
import type { guardTexts } from './texts.js';

/** Characters of the data of a call that a question shows. */
const shownAtMost = 3_000;

/** Says the sentences of the guard. */
export type SayGuard = ReturnType<SayTo<typeof guardTexts>>;

/** The buttons of a question. A person may write each id, too: it is clear then, and no word of a reason. */
export const optionIds = ['allow-once', 'allow-session', 'allow-repository', 'deny'] as const;

/** Says what is asked: who asks, and the whole call, with each character that people do not see as its number. */
export function questionText(
  say: SayGuard,
  { title, text, asker }: ApprovalQuestion,
  call: { readonly toolName: string; readonly params: JsonObject },
  { codec, heard }: CallContext,
  of: Approver,
): string {
  const data = Object.entries(call.params).map(
    ([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const lines = [call.toolName, ...data].map((one) => one.replaceAll('\n', '\n  ')); // none looks like another one
  const shown = visible(lines.join('\n'));
  const count = shown.length - shownAtMost;
  return [
    say('question', { title: visible(title), rule: asker.contributionId }),
    ...(text === undefined ? [] : [visible(text)]),
    say('place', { agent: codec.title, folder: visible(heard.workspaceDir) }),
    count > 0 ? `${shown.slice(0, shownAtMost)}\n${say('not-shown', { count })}` : shown,
    say('how-to', { who: approverText(say, of) }),
  ].join('\n\n');
}

/** Says who may answer. */
export function approverText(say: SayGuard, of: Approver): string {
  if (of === 'owner') return say('owner');
  return 'role' in of ? say('role', of) : say('sender', of);
}

/** Returns whether somebody may answer, whom his channel has proven. */
export function mayAnswer(principal: Principal | undefined, of: Approver): boolean {
  if (principal === undefined) return false;
  if (of === 'owner') return principal.isOwner;
  return 'role' in of ? principal.roles.includes(of.role) : principal.senderId === of.sender;
}

/** The digest of plain data, whatever the order of its keys (RFC 8785 for what JSON can say). */
export function digestOf(data: unknown): string {
  const sorted = (_: string, value: unknown): unknown => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
    return Object.assign(Object.create(null), Object.fromEntries(entries));
  };
  return createHash('sha256').update(JSON.stringify(data, sorted)).digest('hex');
}

/** A text in which nothing is hidden: control characters, and those of no width or of another direction, are numbers. */
function visible(text: string): string {
  return text.replace(
    /(?![\n\t])[\p{C}\p{Zl}\p{Zp}]/gu,
    (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`,
  );
}
