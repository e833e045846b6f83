// The data that the server sends: its own types, and the lines of commands as far as the page shows them.
import type { extensionsView } from '../src/extensions-view.js';
import type { Message } from '../src/message.js';
import type { nowView } from '../src/now-view.js';
import type { InspectorSource } from '../src/source.js';
import type { timelineView } from '../src/timeline-view.js';

export type { BudgetLine } from '../src/budget-view.js';
export type { Figure } from '../src/figures.js';
export type { Row } from '../src/row.js';
export type { ReplayReport as Replayed } from '../src/source.js';
export type { Message };

export type Timeline = ReturnType<typeof timelineView>;
export type Stage = Timeline['stages'][number];
export type Step = Stage['steps'][number];
export type Change = Stage['changes'][number];
export type Now = Awaited<ReturnType<typeof nowView>>;
export type RunningHandler = Now['others'][number];
export type DeadLetter = Awaited<ReturnType<InspectorSource['reader']['updates']>>[number] & {
  readonly message?: Message;
};
export type ExtensionInfo = ReturnType<typeof extensionsView>[number];

export interface About {
  readonly name: string;
  readonly write: boolean;
  readonly text: boolean;
  /** A host runs here. */
  readonly live: boolean;
  readonly replays: boolean;
  readonly dead: number;
}

export interface Author {
  readonly extensionId?: string;
  readonly contributionId?: string;
}

export interface Approval {
  readonly id: string;
  readonly state: string;
  readonly correlationId: string;
  readonly family: string;
  readonly about: string;
  /** The path of each field of its data, and the value as a text. */
  readonly fields: readonly {
    readonly path: string;
    readonly text: string;
    /** An id or a mark of the host. */
    readonly isInner: boolean;
  }[];
  readonly askedAtMs: number;
  readonly dueAtMs: number;
  readonly reason?: string;
  /** The message that it belongs to, as far as the journal tells. */
  readonly message?: Message;
  readonly question: {
    readonly title: string;
    readonly text?: string;
    readonly of: string | { readonly role: string };
    readonly scopes: readonly string[];
    readonly asker: Author;
  };
}

export interface Finding {
  readonly severity: string;
  readonly check: string;
  readonly what: string;
  readonly whose?: string;
  readonly hint?: string;
}

export interface Handler extends Author {
  readonly class: string;
  readonly priority: number;
  readonly timeoutMs: number;
  readonly policy: string;
  readonly mode: string;
  readonly disabled: boolean;
  readonly quarantined: boolean;
  readonly match?: Readonly<Record<string, readonly unknown[]>>;
  readonly operatorMatch?: Readonly<Record<string, readonly unknown[]>>;
}

export interface StageInfo {
  readonly family: string;
  readonly mode: string;
  readonly classes: readonly string[];
  readonly purpose: string;
  readonly emittedBy: string;
  readonly timeoutMs: number;
  readonly handlers: readonly Handler[];
}
