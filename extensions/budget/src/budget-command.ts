import type { Clock } from 'sluice';
import type { ChatCommand, ChatCommandContext } from 'sluice/host';
import { type Account, reservedIn } from './account.js';
import type { Accounts } from './accounts.js';
import type { Cap } from './config.js';
import type { CapName, Place } from './places.js';

/** How many principals an owner is shown. */
const shownPrincipals = 10;
const titles: Readonly<Record<CapName, string>> = {
  perPrincipal: 'You',
  perSession: 'This session',
  perAgent: 'This agent',
  total: 'All together',
};
const ownCaps: readonly CapName[] = ['perPrincipal', 'perSession'];

/** The command `/budget`. */
export function budgetCommand(accounts: Accounts, clock: Clock): ChatCommand {
  return {
    name: 'budget',
    description: 'Shows what is used today, and what is left.',
    runsAtOnce: true,
    forAnyone: true,
    run: (context) => {
      const [verb, ...name] = context.args;
      if (verb === undefined) return report(accounts, clock, context);
      if (verb !== 'reset') return 'Write /budget, or /budget reset [NAME] as an owner.';
      if (context.principal?.isOwner !== true) return 'Only an owner may reset the budget.';
      return reset(accounts, name.join(' '));
    },
  };
}

async function report(
  accounts: Accounts,
  clock: Clock,
  { message, accountId, principal, agentId, sessionKey }: ChatCommandContext,
): Promise<string> {
  const { channel, conversationId = message.from } = message;
  const conversation = [channel, accountId, conversationId];
  const isOwner = principal?.isOwner === true;
  const places = accounts
    .of({ principal, conversation, agentId, sessionKey })
    .filter(({ capName }) => isOwner || ownCaps.includes(capName));
  const lineOf = async (place: Place): Promise<string> =>
    `${titles[place.capName]}: ${usageOf(await accounts.read(place), clock.now(), place.cap)}`;
  const lines = await Promise.all(places.map(lineOf));
  if (lines.length === 0) lines.push('You have no cap of your own.');
  if (isOwner) lines.push(...(await principalsOf(accounts, clock)));
  return [`Budget of ${accounts.today()}`, ...lines].join('\n');
}

/** The principals who have used most, one a line. */
async function principalsOf(accounts: Accounts, clock: Clock): Promise<readonly string[]> {
  const all = (await accounts.list('perPrincipal'))
    .map(({ account }) => account)
    .toSorted(
      (one, other) =>
        other.used.microUsd - one.used.microUsd || other.used.tokens - one.used.tokens,
    );
  const lines = all
    .slice(0, shownPrincipals)
    .map((account) => `${account.name}: ${usageOf(account, clock.now())}`);
  const more = all.length - lines.length;
  return more > 0 ? [...lines, `and ${more} more`] : lines;
}

async function reset(accounts: Accounts, name: string): Promise<string> {
  const used = { tokens: 0, microUsd: 0 };
  const found = (await accounts.list()).filter(
    ({ account }) => name === '' || account.name === name,
  );
  for (const { key, account } of found)
    await accounts.change({ key, name: account.name }, (now) => ({ ...now, used, guessed: 0 }));
  if (found.length === 0 && name !== '') return `Nothing is used under the name "${name}".`;
  return `${found.length} ${found.length === 1 ? 'account is' : 'accounts are'} empty.`;
}

/** `1,200 tokens used, 100 tokens reserved, 3,700 tokens left of 5,000 tokens; $0.02 used`. */
function usageOf(account: Account, nowMs: number, cap: Cap = {}): string {
  const { used, guessed } = account;
  const reserved = reservedIn(account, nowMs);
  const units = [
    unitOf(used.tokens, reserved.tokens, cap.tokens, (count) => `${numbers.format(count)} tokens`),
    unitOf(used.microUsd, reserved.microUsd, cap.microUsd, (amount) =>
      dollars.format(amount / 1_000_000),
    ),
  ];
  const shown = units.filter((text) => text !== undefined).join('; ');
  const runs = guessed === 1 ? '1 run is' : `${guessed} runs are`;
  const guess = guessed === 0 ? '' : ` (${runs} estimated)`;
  return `${shown === '' ? 'nothing' : shown}${guess}`;
}

function unitOf(
  used: number,
  reserved: number,
  cap: number | undefined,
  show: (figure: number) => string,
): string | undefined {
  if (cap === undefined && used === 0 && reserved === 0) return undefined;
  const parts = [`${show(used)} used`];
  if (reserved > 0) parts.push(`${show(reserved)} reserved`);
  if (cap !== undefined)
    parts.push(`${show(Math.max(0, cap - used - reserved))} left of ${show(cap)}`);
  return parts.join(', ');
}

const numbers = new Intl.NumberFormat('en-US');
const dollars = new Intl.NumberFormat('en-US', {
  style: 'currency',
  currency: 'USD',
  maximumFractionDigits: 4,
});
