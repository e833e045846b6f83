import { z } from 'zod';

const positive = z.int('must be a whole number').min(1);

/** The settings of one program; the README has the table. */
const program = {
  cwd: z.string().min(1).default('.'),
  env: z.record(z.string().min(1), z.string()).default({}),
  passEnv: z.array(z.string().min(1)).default([]),
  authMethod: z.string().min(1).exactOptional(),
  mode: z.string().min(1).exactOptional(),
  questions: z.enum(['none', 'all']).default('none'),
  unasked: z.enum(['report', 'stop']).default('report'),
  lateMs: z.int('must be a whole number').min(0).max(10_000).default(250),
  startTimeoutMs: positive.max(3_600_000).default(60_000),
  maxFrameBytes: positive.max(256 * 1_048_576).default(16 * 1_048_576),
};

/** The settings of the programs that a host starts. */
export const programSettings = z.strictObject(program);

/** The settings of a program, each with its value. */
export type ProgramSettings = z.infer<typeof programSettings>;

/** The settings of the extension: the commands that `acp:COMMAND` asks for, and the settings of their programs. */
export const config = z.strictObject({ asked: z.array(z.string().min(1)).default([]), ...program });
