import type { Clock } from 'sluice';
import type { SayTo } from 'sluice/extension';
import type { ChatCommand, ChatCommandContext } from 'sluice/host';
import { type Account, reservedIn } from './account.js';
import type { Accounts } from './accounts.js';
import type { Cap } from './config.js';
import type { CapName, Place } from './places.js';

/** How many principals an owner is shown. */
const shownPrincipals = 10;

/** The sentences that people read; an operator may replace each under `budget/KEY`. */
export const budgetTexts = {
  'used-up': 'The budget of today is used up. /budget shows it.',
  usage: 'Write /budget, or /budget reset [NAME] as an owner.',
  'owner-only': 'Only an owner may reset the budget.',
  title: 'Budget of {day}',
  perPrincipal: 'You',
  perSession: 'This session',
  perAgent: 'This agent',
  total: 'All together',
  'no-cap': 'You have no cap of your own.',
  more: 'and {count} more',
  unknown: 'Nothing is used under the name "{name}".',
  'emptied-one': '{count} account is empty.',
  emptied: '{count} accounts are empty.',
  tokens: '{count} tokens',
  used: '{amount} used',
  reserved: '{amount} reserved',
  left: '{amount} left of {cap}',
  nothing: 'nothing',
  'guessed-one': '{usage} ({count} run is estimated)',
  guessed: '{usage} ({count} runs are estimated)',
} as const;

type SayBudgetTo = SayTo<typeof budgetTexts>;
type Say = ReturnType<SayBudgetTo>;
const ownCaps: readonly CapName[] = ['perPrincipal', 'perSession'];

/** The command `/budget`. */
export function budgetCommand(accounts: Accounts, clock: Clock, sayTo: SayBudgetTo): ChatCommand {
  return {
    name: 'budget',
    description: 'Shows what is used today, and what is left.',
    runsAtOnce: true,
    forAnyone: true,
    run: (context) => {
      const [verb, ...name] = context.args;
      const say = sayTo(context.message);
      if (verb === undefined) return report(accounts, clock, context, say);
      if (verb !== 'reset') return say('usage');
      if (context.principal?.isOwner !== true) return say('owner-only');
      return reset(accounts, name.join(' '), say);
    },
  };
}

async function report(
  accounts: Accounts,
  clock: Clock,
  { message, accountId, principal, agentId, sessionKey }: ChatCommandContext,
  say: Say,
): Promise<string> {
  const { channel, conversationId = message.from } = message;
  const conversation = [channel, accountId, conversationId];
  const isOwner = principal?.isOwner === true;
  const places = accounts
    .of({ principal, conversation, agentId, sessionKey })
    .filter(({ capName }) => isOwner || ownCaps.includes(capName));
  const lineOf = async (place: Place): Promise<string> =>
    `${say(place.capName)}: ${usageOf(say, await accounts.read(place), clock.now(), place.cap)}`;
  const lines = await Promise.all(places.map(lineOf));
  if (lines.length === 0) lines.push(say('no-cap'));
  if (isOwner) lines.push(...(await principalsOf(accounts, clock, say)));
  return [say('title', { day: accounts.today() }), ...lines].join('\n');
}

/** The principals who have used most, one a line. */
async function principalsOf(
  accounts: Accounts,
  clock: Clock,
  say: Say,
): Promise<readonly string[]> {
  const all = (await accounts.list('perPrincipal'))
    .map(({ account }) => account)
    .toSorted(
      (one, other) =>
        other.used.microUsd - one.used.microUsd || other.used.tokens - one.used.tokens,
    );
  const lines = all
    .slice(0, shownPrincipals)
    .map((account) => `${account.name}: ${usageOf(say, account, clock.now())}`);
  const count = all.length - lines.length;
  return count > 0 ? [...lines, say('more', { count })] : lines;
}

async function reset(accounts: Accounts, name: string, say: Say): Promise<string> {
  const used = { tokens: 0, microUsd: 0 };
  const found = (await accounts.list()).filter(
    ({ account }) => name === '' || account.name === name,
  );
  for (const { key, account } of found)
    await accounts.change({ key, name: account.name }, (now) => ({ ...now, used, guessed: 0 }));
  if (found.length === 0 && name !== '') return say('unknown', { name });
  const { length: count } = found;
  return say(count === 1 ? 'emptied-one' : 'emptied', { count });
}

/** `1,200 tokens used, 100 tokens reserved, 3,700 tokens left of 5,000 tokens; $0.02 used`. */
function usageOf(say: Say, account: Account, nowMs: number, cap: Cap = {}): string {
  const { used, guessed: count } = account;
  const reserved = reservedIn(account, nowMs);
  const numbers = new Intl.NumberFormat(say.locale);
  const style = { style: 'currency', currency: 'USD', maximumFractionDigits: 4 } as const;
  const dollars = new Intl.NumberFormat(say.locale, style);
  const tokens = (figure: number) => say('tokens', { count: numbers.format(figure) });
  const units = [
    unitOf(say, used.tokens, reserved.tokens, cap.tokens, tokens),
    unitOf(say, used.microUsd, reserved.microUsd, cap.microUsd, (amount) =>
      dollars.format(amount / 1_000_000),
    ),
  ];
  const usage = units.filter((text) => text !== undefined).join('; ') || say('nothing');
  if (count === 0) return usage;
  return say(count === 1 ? 'guessed-one' : 'guessed', { usage, count });
}

function unitOf(
  say: Say,
  used: number,
  reserved: number,
  cap: number | undefined,
  show: (figure: number) => string,
): string | undefined {
  if (cap === undefined && used === 0 && reserved === 0) return undefined;
  const parts = [say('used', { amount: show(used) })];
  if (reserved > 0) parts.push(say('reserved', { amount: show(reserved) }));
  if (cap !== undefined)
    parts.push(say('left', { amount: show(Math.max(0, cap - used - reserved)), cap: show(cap) }));
  return parts.join(', ');
}
