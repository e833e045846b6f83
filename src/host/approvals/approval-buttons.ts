import { type ApprovalScope, approvalScopes } from 'sluice-kernel/internal';
import type { ApprovalRow } from './approval-row.js';
import { offeredScopes } from './grants.js';

/** An answer as a button gives it. */
type ButtonAnswer = Pick<ApprovalRow, 'always'> & { readonly state: 'allowed' | 'denied' };

/** The answers that a button can give. The place of one here is part of the names of buttons, so it stays as it is. */
const answers: readonly ButtonAnswer[] = [
  { state: 'allowed' },
  { state: 'denied' },
  ...approvalScopes.map((always) => ({ state: 'allowed', always }) as const),
];

/** The thing that a question of each family is about, in a word. */
const things = {
  'agent.tool.calling': 'tool',
  'subagent.spawning': 'agent',
  'egress.preparing': 'address',
} as const;

/** A scope in words, as a question of a family means it. */
export function scopeText(scope: ApprovalScope, family: ApprovalRow['family']): string {
  const thing = `this ${things[family]}`;
  if (scope === 'tool') return `for ${thing}`;
  return scope === 'session' ? `for ${thing} in this session` : `for ${thing} and this person`;
}

/** The buttons of a question: Allow, Deny, and "always" for each scope that is offered. */
export function approvalButtons(
  row: ApprovalRow,
): readonly { readonly at: number; readonly label: string }[] {
  const offered = offeredScopes(row);
  return answers.flatMap(({ state, always }, at) => {
    if (always === undefined) return { at, label: state === 'allowed' ? 'Allow' : 'Deny' };
    return offered.includes(always) ? { at, label: `Always ${scopeText(always, row.family)}` } : [];
  });
}

/** @param at the place of a button, as its name says; nothing if there is no such button. */
export function answerOfButton(at: number): ButtonAnswer | undefined {
  return answers[at];
}
