import { digestOf } from '@sluice/journal/internal';
import {
  type ApprovalScope,
  type Approver,
  type AskingFamily,
  type Author,
  definedFields,
  type Principal,
} from 'sluice-kernel/internal';
import { type AnsweredBy, type ApprovalRow, shortIdOf } from './approval-row.js';
import { isKept, type KeptItem, KeptItems, type KeptItemsParts } from './kept-items.js';

/** Milliseconds that "always" holds: 30 days. */
const grantMs = 30 * 86_400_000;
/** Grants that a journal keeps. */
const grantsAtMost = 1_000;

/** An answer that holds for later questions, too, as the journal keeps it: one row (judgement §4.22). */
export interface GrantRow extends KeptItem {
  readonly scope: ApprovalScope;
  /** The veto whose questions it answers. */
  readonly asker: Author;
  readonly family: AskingFamily;
  readonly about: string;
  readonly of: Approver;
  /** Its session, if the scope is `session`. */
  readonly sessionKey?: string;
  /** Its principal, if the scope is `principal`, or if the principal has answered. */
  readonly principal?: Principal;
  readonly givenBy?: AnsweredBy;
  /** The actions that it let go. */
  readonly uses: number;
  readonly lastUsedAtMs?: number;
  /** It holds no more. The row stays until its time is over, so that the answer does not come back. */
  readonly revokedAtMs?: number;
}

/** The part of a question that a grant is bound to. */
type Granted = Pick<ApprovalRow, 'question' | 'family' | 'about' | 'sessionKey' | 'principal'>;

/** The scopes of a question that "always" may be answered for: a session and a principal have to be known. */
export function offeredScopes(asked: Granted): readonly ApprovalScope[] {
  const { question, sessionKey, principal } = asked;
  const known = {
    tool: true,
    session: sessionKey !== undefined,
    principal: principal !== undefined,
  };
  return question.scopes.filter((scope) => known[scope]);
}

/** The "always" answers that a journal keeps. Each look reads the journal: an operator may revoke one beside a running host. */
export class Grants extends KeptItems<GrantRow> {
  constructor(parts: KeptItemsParts) {
    super(parts, {
      prefix: '/always/',
      quota: { maxKeys: grantsAtMost, maxBytes: 16 * 1024 * 1024 },
      partOf: () => 'granted',
      isOpen: () => true, // a look compares the time
      isItem: isKept<GrantRow>({
        scope: 'string',
        asker: 'object',
        about: 'string',
        uses: 'number',
      }),
    });
  }

  /** Those that hold, the oldest first. @throws as the journal does. */
  async list(): Promise<readonly GrantRow[]> {
    return (await this.load()).filter((row) => this.#holds(row));
  }

  /** Removes those whose time is over. @throws as the journal does. */
  async drop(): Promise<void> {
    for (const row of await this.load())
      if (row.dueAtMs <= this.parts.clock.now()) await this.remove(row);
  }

  /** Finds the grant that answers a question: for a scope that its asker offers today. @throws as the journal does. */
  async for(asked: Granted): Promise<GrantRow | undefined> {
    for (const scope of offeredScopes(asked)) {
      const persisted = await this.read(newGrant(scope, asked, 0));
      if (persisted !== undefined && this.#holds(persisted)) return persisted;
    }
    return undefined;
  }

  /**
   * Keeps the grant of an answer that says so. The same answer may come here again: a grant that was revoked after it stays revoked.
   *
   * @returns whether it is there.
   * @throws as the journal does.
   */
  async keep(row: ApprovalRow): Promise<boolean> {
    const { always, answeredBy, endedAtMs } = row;
    if (always === undefined || endedAtMs === undefined) return false;
    const grant = {
      ...newGrant(always, row, endedAtMs),
      ...definedFields({ givenBy: answeredBy }),
    };
    const isNewer = ({ askedAtMs, revokedAtMs = askedAtMs }: GrantRow): boolean =>
      Math.max(askedAtMs, revokedAtMs) >= endedAtMs;
    for (let isTidied = false; ; isTidied = true) {
      const { status, was = grant } = await this.items.change(this.rowOf(grant), (now) =>
        now !== undefined && isNewer(now) ? undefined : grant,
      );
      if (status !== 'full') return status === 'written' || this.#holds(was);
      if (isTidied) return false;
      await this.drop();
    }
  }

  /** Notes that a grant lets an action go, before the action. @returns whether it holds; never rejects. */
  async use(grant: GrantRow): Promise<boolean> {
    const { logger, clock } = this.parts;
    const { asker, about, scope } = grant;
    const named = { grant: shortIdOf(grant), asker, about, scope };
    try {
      const used = await this.change(grant, (now) =>
        this.#holds(now) ? { ...now, uses: now.uses + 1, lastUsedAtMs: clock.now() } : undefined,
      );
      if (used !== undefined) logger.info('a question was answered by "always"', named);
      return used !== undefined;
    } catch (error) {
      logger.error('the use of an "always" could not be noted', { ...named, error });
      return false;
    }
  }

  /**
   * Revokes a grant.
   *
   * @param isAgain the call before this one has failed, and may have revoked it.
   * @returns whether it held until now.
   * @throws as the journal does.
   */
  async revoke(grant: GrantRow, isAgain = false): Promise<boolean> {
    const revokedAtMs = this.parts.clock.now();
    const revoked = await this.change(grant, (now) =>
      this.#holds(now) || isAgain ? { revokedAtMs, ...now } : undefined,
    );
    return revoked !== undefined;
  }

  #holds({ dueAtMs, revokedAtMs }: GrantRow): boolean {
    return revokedAtMs === undefined && this.parts.clock.now() < dueAtMs;
  }
}

/** Makes the grant of an answer. Its id names all that it is bound to. */
function newGrant(scope: ApprovalScope, asked: Granted, askedAtMs: number): GrantRow {
  const { question, family, about, sessionKey, principal } = asked;
  const { asker, of } = question;
  const bound = {
    ...{ scope, family, about, asker, of },
    ...(scope === 'session' && definedFields({ sessionKey })),
    // a principal answers for himself alone
    ...((scope === 'principal' || of === 'principal') && definedFields({ principal })),
  };
  const { channel, accountId, senderId } = bound.principal ?? {};
  const id = digestOf([
    ...[scope, family, about, asker.extensionId, asker.contributionId, of],
    ...[bound.sessionKey ?? null, channel ?? null, accountId ?? null, senderId ?? null],
  ]);
  return { ...bound, id, askedAtMs, dueAtMs: askedAtMs + grantMs, uses: 0 };
}
