import type { ExtensionUser } from '@sluice/sdk/extension';
import { attempt } from '../parts/attempt.js';
import type { HostParts } from '../parts/parts.js';
import { resumeWaiting } from '../queue/resume-all.js';
import {
  accountsToStart,
  type OpenAccounts,
  startAccount,
  stopAccount,
} from '../receive/account.js';

/** Milliseconds that messages under way have before an extension is replaced all the same. */
const defaultReloadTimeoutMs = 10_000;

/** A running host, as its extensions are replaced under it (spec §13.9). */
export function extensionUser(parts: HostParts, openAccounts: OpenAccounts): ExtensionUser {
  const { gate, claimed, accounts, logger, options } = parts;
  return {
    pause: async () => {
      const { reloadTimeoutMs = defaultReloadTimeoutMs } = options.budgets;
      const paused = parts.running.pause(); // what has begun finds a place, and what has not takes none
      const closed = gate.close();
      parts.backlog.turns.giveUpCome();
      const left = await gate.quiet(reloadTimeoutMs);
      if (left > 0)
        logger.warn(
          `${left} messages were under way for ${reloadTimeoutMs} ms; extensions are replaced while they go on`,
        );
      return {
        [Symbol.dispose]: () => {
          closed[Symbol.dispose]();
          paused[Symbol.dispose]();
        },
      };
    },
    release: async (extension) => {
      const channels = claimed.channelsOf(extension);
      parts.pendingStarts.drop((id) => channels.some((channel) => channel.id === id));
      const own = accounts.all().filter(({ channel }) => channels.includes(channel));
      for (const account of own) {
        const { channel, accountId } = account;
        openAccounts.leave(account);
        await attempt(parts, `stopIntake of ${channel.id}`, () => channel.stopIntake(accountId));
        await stopAccount(parts, account, 'its extension was unloaded');
      }
      claimed.drop(extension);
    },
    adopt: async (extension) => {
      claimed.take(parts, extension);
      for (const one of accountsToStart(parts, claimed.channelsOf(extension)))
        await startAccount(parts, one.channel, one.accountId, openAccounts);
      // what has waited for them (durability §7.1)
      await attempt(parts, 'claiming', () => resumeWaiting(parts));
    },
  };
}
