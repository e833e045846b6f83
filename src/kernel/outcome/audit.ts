import type { HandlerClass } from '../stage/vocabulary.js';
import type { Author, Candidate, FailureKind } from './outcome.js';

/** The decision of an audited handler, which had no effect (judgement §3). */
export type AuditVerdict =
  | 'nothing'
  | 'allow'
  | 'cancel'
  | 'ask'
  | 'patch'
  | 'annotate'
  | 'propose'
  | 'failed';

/** One call of an audited handler, as the tap and the journal get it. */
export interface AuditRecord extends Author {
  readonly eventId: string;
  readonly family: string;
  readonly class: HandlerClass;
  /** The pass that it was called in. */
  readonly pass: string;
  readonly verdict: AuditVerdict;
  /** The code of its cancel. */
  readonly code?: string;
  /** The text of its cancel, or the title of its question. */
  readonly text?: string;
  /** The fields that it would have written, each with a digest of the value that would stand there. */
  readonly paths?: readonly { readonly path: string; readonly digest: string }[];
  readonly candidates?: readonly Candidate[];
  readonly failure?: { readonly kind: FailureKind; readonly message: string };
}
