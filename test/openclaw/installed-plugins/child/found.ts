import type { Fields } from '../corpus.js';

/** The things that a trial found out about a plugin: plain data, the same on every machine. */
export interface Found {
  /** `yes`, or the error's code and words. */
  readonly loads: string;
  /** The code that stood for its imports of OpenClaw: `own`, or `openclaw@VERSION`. */
  readonly sdk?: string;
  /** What became of each thing that it registered, when it was called once: `hook agent_end` -> `works`. */
  readonly calls: Readonly<Record<string, string>>;
  /** The members that it asked for in vain, by name. */
  readonly refused: readonly string[];
}

/** The job that a trial's process is given, as a JSON file. */
export interface TrialJob {
  /** The config file of the host, as `sluice run` reads it. */
  readonly config: string;
  /** The inputs of calls, by their names. */
  readonly inputs: Readonly<Record<string, Fields>>;
  /** The routes that it has once its accounts have started. */
  readonly routes: number;
  /** Another suite talks by its channel. */
  readonly talks: boolean;
  /** The hosts that the service stands in for. */
  readonly outside: readonly string[];
  /** The answers of the service that it asks. */
  readonly answers: Fields;
  /** Why a call cannot work here, by its name. */
  readonly needs: Readonly<Record<string, string>>;
  /** The temporary folder that is its working folder and its home. */
  readonly folder: string;
  /** The file that it writes its `Found` to. */
  readonly out: string;
  /** An event and a context for each hook. */
  readonly hooks: Readonly<Record<string, { readonly event: Fields; readonly ctx: Fields }>>;
}
