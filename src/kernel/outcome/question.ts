import type { Author } from './author.js';

/**
 * The one who may answer a question: an owner of the host (the default), the principal on whose behalf the action happens, or anybody
 * who has a role.
 */
export type Approver = 'owner' | 'principal' | { readonly role: string };

/**
 * The things that an answer may hold for from then on. Each is bound to the asker and to the tool that was asked about: `tool` has no
 * other bound, `session` is also bound to the session, and `principal` to the principal.
 */
export type ApprovalScope = (typeof approvalScopes)[number];

/** The three scopes. */
export const approvalScopes = ['tool', 'session', 'principal'] as const;

/** The end of a question, as its asker hears it. `withdrawn`: nobody could be asked, or nobody waits for the answer any more. */
export type AskAnswer = 'allowed' | 'denied' | 'expired' | 'withdrawn';

/** A veto's question to a human, checked and frozen (judgement §4.1). */
export interface ApprovalQuestion {
  /** The veto that asks. */
  readonly asker: Author;
  /** In a few words, for people. */
  readonly title: string;
  /** More about it, for people. */
  readonly text?: string;
  readonly of: Approver;
  /** Milliseconds until no answer is a denial; the host's own if absent. */
  readonly timeoutMs?: number;
  /** The scopes that the approver may choose "always" for; often none. */
  readonly scopes: readonly ApprovalScope[];
  /** Tells the asker how the question ended (judgement §4.26). Not enumerable: a question is data wherever it is copied. */
  readonly onAnswer?: (answer: AskAnswer) => void;
}
