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
  /** The last failure. */
  last?: LostBecause;
  /** The last failure of which nobody knows the text. */
  astray?: LostBecause;
  /** The first member that it was refused. */
  refused?: string;
  /** The texts that have come and that nobody has yet. */
  readonly open: Set<Carried>;
}

/** A text that has come, until somebody has it, it is told as lost, or it was no message. */
export interface Carried {
  readonly account: AccountWay;
  /** A larger piece of the same text. */
  readonly within?: Carried | undefined;
  /** Gives the text; nothing once it is not open any more. */
  raw: () => unknown;
  /** Returns whether a message with a text is made of it, if no code is known to have it. */
  readonly isOf?: (text: string, isExact: boolean) => boolean;
  /** The texts of the messages that were made of it; nothing if somebody has taken all of it over. */
  handed?: readonly string[] | undefined;
  /** The first failure. */
  because?: LostBecause;
  /** The code that had it has ended. */
  isOver: boolean;
  timer?: Timer;
}

/** Opens a text. */
export function openText(
  account: AccountWay,
  raw: () => unknown,
  more: Partial<Pick<Carried, 'within' | 'isOf' | 'isOver'>>,
): Carried {
  const carried: Carried = { account, raw, handed: [], isOver: false, ...more };
  account.open.add(carried);
  return carried;
}

/** Returns whether nobody has a text yet. */
export function isOpen(carried: Carried): boolean {
  return carried.account.open.has(carried);
}

const nothing = (): undefined => undefined;

/** Closes a text, and all that it is a part of: somebody has it, it was told, or it was no message. */
export function close(carried: Carried | undefined, texts?: readonly string[]): void {
  for (let one = carried; one !== undefined; one = one.within) {
    one.timer?.clear();
    one.account.open.delete(one);
    one.raw = nothing; // code that goes on holds it
    one.handed = texts && one.handed && [...one.handed, ...texts];
  }
}

/** The open texts of an account that have one of some texts: as it is, or else as a part. */
export function openWith({ open }: AccountWay, texts: readonly string[]): readonly Carried[] {
  const having = (isExact: boolean): readonly Carried[] =>
    [...open].filter(({ isOf }) => isOf && texts.some((text) => isOf(text, isExact)));
  const exact = having(true);
  return exact.length > 0 ? exact : having(false);
}
