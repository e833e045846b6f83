/** How many programs went how. */
export interface ProgramReport {
  readonly compared: number;
  /** Without any divergence. */
  readonly same: number;
  /** How many had events out of order. */
  readonly disordered: number;
  /** The first that differed in a way that no divergence names. */
  readonly failure?: { readonly program: unknown; readonly why: string };
}

/** What became of a recording's texts. */
export interface TextReport {
  readonly name: string;
  /** What people saw. */
  readonly visible: readonly string[];
  /** Its block replies. */
  readonly handedOver: readonly string[];
  /** Its `assistantTexts`. */
  readonly kept: readonly string[];
  /** A message says something, has a tool run, and says more: with tools of the provider's own servers it does. */
  readonly hasToolInside: boolean;
}

/** What the process that holds the real package found out. */
export interface CampaignReport {
  readonly generated: ProgramReport;
  readonly unruly: ProgramReport;
  readonly recorded: ProgramReport;
  readonly texts: readonly TextReport[];
  /** How often each divergence was needed; counted up to three. */
  readonly uses: Readonly<Record<string, number>>;
  /** How many settings were met: verbose, reasoning, break, chunking and flush, each with each. */
  readonly settings: number;
}
