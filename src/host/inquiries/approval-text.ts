import {
  type ApprovalScope,
  type Author,
  approvalScopes,
  inertText,
  oneLine,
  principalText,
} from 'sluice-kernel/internal';
import { hostTexts } from '../texts/host-texts.js';
import { type HostSay, inEnglish } from '../texts/texts.js';
import { type AnsweredBy, type ApprovalRow, shortIdOf } from './approval-row.js';
import { type GrantRow, offeredScopes } from './grants.js';
import { fieldLines } from './payload-fields.js';

/** Characters of the data that people are shown in a chat. `sluice approvals show` has all of it. */
const shownAtMost = 1_000;

/** The text of a question to a human. What the action is made with stands field by field, and is cut in its middle. If it is cut, the text says so. */
export function approvalText(
  row: ApprovalRow,
  clean: (text: string) => string,
  say: HostSay,
): string {
  const { question, payload, askedAtMs, dueAtMs, mayHaveRun } = row;
  const { title, text } = question;
  const id = shortIdOf(row);
  const offered = offeredScopes(row);
  const all = fieldLines(payload)
    .map((field) => `\n  ${field}`)
    .join('');
  const data = cut(all, say);
  const asker = nameOf(question.asker);
  const always = say('word-always');
  return [
    say('approval-asked', { title: oneLine(clean(title)) }),
    ...(text === undefined ? [] : [inertText(clean(text))]),
    `${aboutText(say, row)}${data}`,
    ...(data === all ? [] : [say('approval-cut', { id })]),
    ...(mayHaveRun === true ? [say('approval-again')] : []),
    say('approval-due', { asker, span: spanOf(say, dueAtMs - askedAtMs) }),
    say('approval-how', { id }),
    ...(offered.length === 0
      ? []
      : [say('approval-how-always', { id, always, scopes: scopeWords(say, offered, '|') })]),
  ].join('\n');
}

/** A line about a question, for a list. */
export function approvalLine(row: ApprovalRow, nowMs: number, say = inEnglish): string {
  const { question, payload, dueAtMs, state } = row;
  const about = `${aboutText(say, row)}: ${cut(fieldLines(payload).join('; '), say, 120)}`;
  const told = { id: shortIdOf(row), title: oneLine(question.title), about };
  return state === 'pending'
    ? say('approval-line', { ...told, span: spanOf(say, dueAtMs - nowMs) })
    : say('approval-line-ended', { ...told, state });
}

/** Says who has allowed what a question asks about, and when. */
export function answerText(row: ApprovalRow): string {
  const { answeredBy, endedAtMs = row.askedAtMs, always, family } = row;
  const span = always === undefined ? 'once' : `always ${scopeText(inEnglish, always, family)}`;
  return `${span}, ${byText(inEnglish, answeredBy, endedAtMs)} (${shortIdOf(row)})`;
}

/** Says who has allowed it with an "always", when and for which scope. */
export function givenText(grant: GrantRow): string {
  const { scope, family, givenBy, askedAtMs, dueAtMs } = grant;
  const until = new Date(dueAtMs).toISOString().slice(0, 10);
  const by = byText(inEnglish, givenBy, askedAtMs);
  return `"always" ${scopeText(inEnglish, scope, family)}, ${by}, until ${until} (${shortIdOf(grant)})`;
}

function byText(say: HostSay, by: AnsweredBy | undefined, atMs: number): string {
  const at = new Date(atMs).toISOString();
  if (by === undefined) return say('given-at', { at });
  if (by === 'operator') return say('given-by-operator', { at });
  return say('given-by', { who: principalText(by), at });
}

/** A line about an "always", for a list. */
export function grantLine(grant: GrantRow, nowMs: number, say = inEnglish): string {
  const { scope, family, sessionKey, principal, givenBy, askedAtMs, dueAtMs, uses } = grant;
  const bound = [sessionKey, principal && principalText(principal)].filter(
    (one) => one !== undefined,
  );
  return say('grant-line', {
    ...{ id: shortIdOf(grant), scope: scopeText(say, scope, family), uses },
    where: bound.length === 0 ? '' : ` (${bound.map((one) => oneLine(one)).join(', ')})`,
    ...{ about: aboutText(say, grant), asker: nameOf(grant.asker) },
    ...{ by: byText(say, givenBy, askedAtMs), span: spanOf(say, dueAtMs - nowMs) },
  });
}

/** Shows the head and the tail of a text, and says how much between them is not shown. */
export function cut(text: string, say = inEnglish, atMost = shownAtMost): string {
  if (text.length <= atMost) return text;
  const head = text.slice(0, atMost / 2).replace(/[\uD800-\uDBFF]$/, '');
  const tail = text.slice(-atMost / 2).replace(/^[\uDC00-\uDFFF]/, '');
  const left = text.length - head.length - tail.length;
  return `${head}… ${say('not-shown', { left, all: text.length })} …${tail}`;
}

/** A span of time in the largest unit that fits. */
function spanOf({ locale }: HostSay, ms: number): string {
  const units = [
    ['day', 86_400_000],
    ['hour', 3_600_000],
    ['minute', 60_000],
    ['second', 1_000],
  ] as const;
  const [unit, length] = units.find(([, unitMs]) => ms >= unitMs) ?? ['second', 1_000];
  const format = new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' });
  return format.format(Math.max(0, Math.round(ms / length)));
}

/** An answer as a button gives it. */
type ButtonAnswer = Pick<ApprovalRow, 'always'> & { readonly state: 'allowed' | 'denied' };

/** The answers that a button can give. The place of one here is part of the names of buttons, so it stays as it is. */
export const buttonAnswers: readonly ButtonAnswer[] = [
  { state: 'allowed' },
  { state: 'denied' },
  ...approvalScopes.map((always) => ({ state: 'allowed', always }) as const),
];

/** The sentences of each family: the thing that a question is about, and its name behind what it is. */
const things = {
  'agent.tool.calling': ['thing-tool', 'asked-tool'],
  'subagent.spawning': ['thing-agent', 'asked-subagent'],
  'egress.preparing': ['thing-address', 'asked-message'],
} as const;

/** Names what a question is about. Its row has it in English: grants are found by it. */
function aboutText(say: HostSay, { family, about }: Pick<ApprovalRow, 'family' | 'about'>): string {
  const key = things[family][1];
  return say(key, { name: oneLine(about.slice(hostTexts[key].indexOf('{'))) });
}

function nameOf({ extensionId, contributionId }: Author): string {
  return `${extensionId}/${contributionId}`;
}

/** The scopes as people write them. */
export function scopeWords(say: HostSay, scopes: readonly ApprovalScope[], by = ', '): string {
  return scopes.map((scope) => say(`word-${scope}`)).join(by);
}

/** A scope in words, as a question of a family means it. */
export function scopeText(
  say: HostSay,
  scope: ApprovalScope,
  family: ApprovalRow['family'],
): string {
  return say(`scope-${scope}`, { thing: say(things[family][0]) });
}

/** The buttons of a question: Allow, Deny, and "always" for each scope that is offered. */
export function approvalButtons(
  row: ApprovalRow,
  say: HostSay,
): readonly { readonly at: number; readonly label: string }[] {
  const offered = offeredScopes(row);
  return buttonAnswers.flatMap(({ state, always }, at) => {
    if (always === undefined) return { at, label: say(state === 'allowed' ? 'allow' : 'deny') };
    return offered.includes(always)
      ? { at, label: say('always', { scope: scopeText(say, always, row.family) }) }
      : [];
  });
}
