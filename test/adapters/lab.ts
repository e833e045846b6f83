import type { JudgeOptions } from 'sluice-judge';
import type { Kernel } from 'sluice-kernel';
import { z } from 'zod';

/** A tool in the hands of a test, which every framework is given in its own shape. */
export interface LabTool {
  readonly name: string;
  readonly parameters: z.ZodObject;
  readonly execute: (params: Readonly<Record<string, unknown>>) => unknown;
}

/** A call as the fake model makes it. */
export interface LabCall {
  readonly id: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** One run of an agent. */
export interface LabRun {
  readonly kernel: Kernel;
  readonly options: JudgeOptions;
  readonly tools: readonly LabTool[];
  /** The answers of the model before its last one: each makes its calls side by side. */
  readonly answers: readonly (readonly LabCall[])[];
  /** The words of those answers. */
  readonly says?: readonly string[];
  /** The thoughts of those answers; not every fake model has some. */
  readonly thinks?: readonly string[];
  /** The program's question; `go` by default. */
  readonly prompt?: string;
  /** Is told of the end of the run. */
  readonly end?: (end: LabEnd) => void;
  /** The model streams. */
  readonly isStreamed?: boolean;
  /** The agent runs without a judge. */
  readonly isUnjudged?: boolean;
  /** The program's own context of the run. */
  readonly context?: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal;
}

/** What has come of a run, in words. */
export interface LabEnd {
  /** The answers of the model as the program has them at the end, in order. */
  readonly said: readonly string[];
  /** All that was shown while the run went on. */
  readonly shown: string;
  /** All that the model was asked. */
  readonly asked: string;
}

/** The results of the calls, as the model has read them, by the ids of the calls. */
export type LabResults = Readonly<Record<string, string>>;

/** Runs an agent of one framework with its fake model. */
export type LabAgent = (run: LabRun) => Promise<LabResults>;

/** Says what ran, with which arguments. */
export interface Ran {
  readonly name: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** The tools that every agent of the tests has, and what of them has run. */
export function labTools(more: readonly LabTool[] = []) {
  const ran: Ran[] = [];
  const tool = (
    name: string,
    shape: z.ZodRawShape,
    execute: (params: Readonly<Record<string, unknown>>) => unknown,
  ): LabTool => ({ name, parameters: z.strictObject(shape), execute });
  const all = [
    tool('shell', { command: z.string() }, ({ command }) => `ran ${command}`),
    tool('list', { limit: z.number(), path: z.string() }, ({ limit, path }) => ({ path, limit })),
    tool('read', { path: z.string() }, ({ path }) => `${path} has sk-SECRET in it`),
    tool('env', { name: z.string() }, ({ name }) => ({ name, value: { token: 'sk-SECRET' } })),
    tool('broken', { path: z.string() }, ({ path }) => {
      throw new Error(`no ${path}, sk-SECRET`);
    }),
    ...more,
  ];
  const tools = all.map((one) => ({
    ...one,
    execute: (params: Readonly<Record<string, unknown>>) => {
      ran.push({ name: one.name, params: JSON.parse(JSON.stringify(params)) });
      return one.execute(params);
    },
  }));
  return { tools, ran };
}
