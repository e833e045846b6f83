// The data that the server sends, as far as the page shows it.

export interface About {
  readonly name: string;
  readonly write: boolean;
  readonly text: boolean;
  /** A host runs here. */
  readonly live: boolean;
  readonly replays: boolean;
  readonly dead: number;
}

export interface Row {
  readonly seq: number;
  readonly atMs: number;
  readonly kind: string;
  readonly id: string;
  readonly correlationId: string;
  readonly name: string;
  readonly status?: string;
  readonly who?: string;
  readonly code?: string;
  readonly sessionId?: string;
}

/** The facts of a message, of a part of the journal. */
export interface MessagePart {
  readonly id: string;
  readonly fromMs?: number;
  readonly toMs?: number;
  readonly state?: string;
  readonly channel?: string;
  readonly cancels: number;
  readonly failures: number;
}

export interface Author {
  readonly extensionId?: string;
  readonly contributionId?: string;
}

export interface Step extends Author {
  readonly class: string;
  readonly result: string;
  readonly durationMs?: number;
  readonly why?: string;
  readonly budget?: { readonly timeoutMs: number; readonly from: string };
  readonly recheck?: true;
}

export interface Change {
  readonly path: string;
  readonly writes: readonly (Author & { readonly overruled?: true })[];
  readonly isConflict: boolean;
  readonly before: string;
  readonly after: string;
}

export interface Stage {
  readonly id: string;
  readonly atMs: number;
  readonly family: string;
  readonly status: 'passed' | 'cancelled' | 'failed';
  readonly verdict: string;
  readonly lines: readonly string[];
  readonly mode?: string;
  readonly budgetMs?: number;
  readonly handlerBudgetMs?: number;
  readonly tookMs: number;
  readonly omitted?: string;
  readonly cancel?: Author & { readonly code: string; readonly text?: string };
  readonly selection?: Author & { readonly target: unknown };
  readonly steps: readonly Step[];
  readonly changes: readonly Change[];
  readonly staleApprovals: readonly (Author & { readonly changedBy: readonly Author[] })[];
  readonly skipped: readonly (Author & { readonly why: string })[];
  readonly failures: readonly (Author & {
    readonly kind: string;
    readonly message: string;
    readonly policy: string;
  })[];
  readonly audits: readonly string[];
}

export interface Fact {
  readonly id: string;
  readonly atMs: number;
  readonly state: string;
  readonly outcome?: string;
  readonly reason?: string;
  readonly cause?: string;
  readonly title?: string;
  readonly sendKind?: string;
  readonly channel?: string;
}

export interface Way {
  readonly correlationId: string;
  readonly update: readonly Fact[];
  readonly begun: number;
  readonly end?: Fact;
  readonly waitedMs: number;
  readonly missing: number;
  readonly lanes: readonly {
    readonly atMs: number;
    readonly of: string;
    readonly lane: string;
    readonly waitedMs: number;
  }[];
  readonly questions: readonly Fact[];
  readonly sends: readonly {
    readonly id: string;
    readonly last: Fact;
    readonly attempts: readonly {
      readonly atMs: number;
      readonly attempt: number;
      readonly status: string;
      readonly durationMs: number;
      readonly reason?: string;
    }[];
  }[];
  readonly stages: readonly Stage[];
}

export interface RunningHandler extends Author {
  readonly family: string;
  readonly runningMs: number;
  readonly isGivenUp: boolean;
}

export interface Minute {
  readonly atMs: number;
  readonly ended: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly totalMs: number;
}

export interface Now {
  readonly state?: string;
  readonly stats?: Readonly<Record<string, unknown>>;
  readonly lanes: readonly {
    readonly lane: string;
    readonly jobs: readonly {
      readonly eventId: string;
      readonly state: string;
      readonly forMs: number;
      readonly sessionKey?: string;
      readonly handlers: readonly RunningHandler[];
    }[];
  }[];
  readonly others: readonly RunningHandler[];
  readonly minutes: readonly Minute[];
}

export interface DeadLetter {
  readonly eventId: string;
  readonly channel: string;
  readonly accountId: string;
  readonly attempts: number;
  readonly outcome?: string;
  readonly reason?: string;
  readonly acceptedAtMs: number;
  readonly endedAtMs?: number;
}

export interface Approval {
  readonly id: string;
  readonly state: string;
  readonly correlationId: string;
  readonly family: string;
  readonly about: string;
  readonly payload: string;
  readonly askedAtMs: number;
  readonly dueAtMs: number;
  readonly reason?: string;
  readonly question: {
    readonly title: string;
    readonly text?: string;
    readonly of: string | { readonly role: string };
    readonly scopes: readonly string[];
    readonly asker: Author;
  };
}

export interface ExtensionInfo {
  readonly extensionId: string;
  readonly source: string;
  readonly status: string;
  readonly version?: string;
  readonly reloads: number;
  readonly lastReload?: string;
  readonly isAudited: boolean;
  readonly error?: { readonly code: string; readonly message: string; readonly hint: string };
  readonly grants: readonly { readonly grant: string; readonly isGiven: boolean }[];
  readonly quarantined: readonly (Author & {
    readonly family: string;
    readonly state: string;
    readonly lastFailure: string;
  })[];
  readonly handlers: readonly string[];
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

export interface Replayed {
  readonly rows: readonly {
    readonly eventId: string;
    readonly family: string;
    readonly was: string;
    readonly is?: string;
    readonly notReplayed?: string;
    readonly differences: readonly { readonly about: string; readonly what: string }[];
  }[];
  readonly notes: readonly string[];
}
