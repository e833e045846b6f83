import type { Timer } from 'sluice-kernel/internal';
import type { LegacyIntake } from '../shape/intake.js';

/** Why a text is lost. */
export type LostBecause = Parameters<Parameters<LegacyIntake['open']>[2]>[2];

/** An account of a channel whose code runs. */
export interface AccountWay {
  readonly channelId: string;
  readonly accountId: string;
  /** The members that have failed, until a message is answered without a failure. */
  readonly failures: Set<string>;
  /** Failures since its start. */
  failed: number;
  /** The last failure. */
  last?: LostBecause;
  /** The first member that it was refused. */
  refused?: string;
  /** The texts that no code is known to have, and nobody has taken over yet. */
  readonly open: Set<Carried>;
}

/** A text that has come and that code of the plugin has. */
export interface Carried {
  readonly account: AccountWay;
  /** A larger piece of the same text. */
  readonly within?: Carried | undefined;
  readonly raw: () => unknown;
  /** Returns whether a message with a text is made of it, if no code is known to have it. */
  readonly isOf?: (text: string) => boolean;
  /** The first failure. */
  because?: LostBecause;
  /** Somebody has it, or it was told as lost. */
  isKept: boolean;
  /** The code that had it has ended. */
  isOver: boolean;
  timer?: Timer;
}

/** Marks a text, and all that it is a part of, as taken over. */
export function keptUp(carried: Carried | undefined): void {
  for (let one = carried; one !== undefined; one = one.within) {
    one.isKept = true;
    one.timer?.clear();
    one.account.open.delete(one);
  }
}
