import {
  type ApprovalScope,
  approvalScopes,
  inertJson,
  inertText,
  oneLine,
  principalText,
} from 'sluice-kernel/internal';
import { type AnsweredBy, type ApprovalRow, shortIdOf } from './approval-row.js';
import { type GrantRow, offeredScopes } from './grants.js';

/** Characters of the data that people are shown in a chat. `sluice approvals show` has all of it. */
const shownAtMost = 1_000;

/** The text of a question to a human. What the action is made with stands escaped, in one line, and cut in its middle. If it is cut, the text says so. */
export function approvalText(row: ApprovalRow, clean: (text: string) => string): string {
  const { question, about, payload, askedAtMs, dueAtMs, mayHaveRun } = row;
  const { title, text, asker } = question;
  const id = shortIdOf(row);
  const offered = offeredScopes(row);
  const data = cut(inertJson(payload));
  return [
    `Approval needed: ${oneLine(clean(title))}`,
    ...(text === undefined ? [] : [inertText(clean(text))]),
    `${oneLine(about)}: ${data}`,
    ...(data === inertJson(payload)
      ? []
      : [`Part of this is not shown. See all of it first: sluice approvals show ${id}`]),
    ...(mayHaveRun === true ? ['It was allowed before, and may have happened already.'] : []),
    `Asked by ${asker.extensionId}/${asker.contributionId}. Without an answer within ${spanOf(dueAtMs - askedAtMs)} it is denied.`,
    `Answer with a button, or with /approve ${id} or /deny ${id} REASON.`,
    ...(offered.length === 0
      ? []
      : [`For the next 30 days, too: /approve ${id} always ${offered.join('|')}.`]),
  ].join('\n');
}

/** A line about a question, for a list. */
export function approvalLine(row: ApprovalRow, nowMs: number): string {
  const { question, about, payload, dueAtMs, state } = row;
  const left = state === 'pending' ? `${spanOf(dueAtMs - nowMs)} left` : state;
  return `${shortIdOf(row)}  ${left}  ${oneLine(question.title)}  ${oneLine(about)}: ${cut(inertJson(payload), 120)}`;
}

/** Says who has allowed what a question asks about, and when. */
export function answerText(row: ApprovalRow): string {
  const { answeredBy, endedAtMs = row.askedAtMs, always, family } = row;
  const span = always === undefined ? 'once' : `always ${scopeText(always, family)}`;
  return `${span}, ${byText(answeredBy, endedAtMs)} (${shortIdOf(row)})`;
}

/** Says who has allowed it with an "always", when and for which scope. */
export function givenText(grant: GrantRow): string {
  const { scope, family, givenBy, askedAtMs, dueAtMs } = grant;
  const until = new Date(dueAtMs).toISOString().slice(0, 10);
  const by = byText(givenBy, askedAtMs);
  return `"always" ${scopeText(scope, family)}, ${by}, until ${until} (${shortIdOf(grant)})`;
}

function byText(by: AnsweredBy | undefined, atMs: number): string {
  const at = new Date(atMs).toISOString();
  if (by === undefined) return `at ${at}`;
  return `by ${by === 'operator' ? 'an operator' : principalText(by)} at ${at}`;
}

/** A line about an "always", for a list. */
export function grantLine(grant: GrantRow, nowMs: number): string {
  const { scope, family, about, asker, sessionKey, principal, givenBy, askedAtMs } = grant;
  const { dueAtMs, uses } = grant;
  const bound = [sessionKey, principal && principalText(principal)].filter(
    (one) => one !== undefined,
  );
  const by = `asked by ${asker.extensionId}/${asker.contributionId}  given ${byText(givenBy, askedAtMs)}`;
  const where = bound.length === 0 ? '' : ` (${bound.map((one) => oneLine(one)).join(', ')})`;
  const left = `${spanOf(dueAtMs - nowMs)} left`;
  return `${shortIdOf(grant)}  always ${scopeText(scope, family)}${where}  ${oneLine(about)}  ${by}  ${left}, used ${uses} times`;
}

/** Shows the head and the tail of a text, and says how much between them is not shown. */
export function cut(text: string, atMost = shownAtMost): string {
  if (text.length <= atMost) return text;
  const head = text.slice(0, atMost / 2).replace(/[\uD800-\uDBFF]$/, '');
  const tail = text.slice(-atMost / 2).replace(/^[\uDC00-\uDFFF]/, '');
  const left = text.length - head.length - tail.length;
  return `${head}… (NOT SHOWN: ${left} of ${text.length} characters) …${tail}`;
}

/** A span of time in the largest unit that fits. */
function spanOf(ms: number): string {
  const units = [
    ['day', 86_400_000],
    ['hour', 3_600_000],
    ['minute', 60_000],
    ['second', 1_000],
  ] as const;
  const [name, length] = units.find(([, unitMs]) => ms >= unitMs) ?? ['second', 1_000];
  const count = Math.max(0, Math.round(ms / length));
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}

/** An answer as a button gives it. */
type ButtonAnswer = Pick<ApprovalRow, 'always'> & { readonly state: 'allowed' | 'denied' };

/** The answers that a button can give. The place of one here is part of the names of buttons, so it stays as it is. */
export const buttonAnswers: readonly ButtonAnswer[] = [
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
  return buttonAnswers.flatMap(({ state, always }, at) => {
    if (always === undefined) return { at, label: state === 'allowed' ? 'Allow' : 'Deny' };
    return offered.includes(always) ? { at, label: `Always ${scopeText(always, row.family)}` } : [];
  });
}
